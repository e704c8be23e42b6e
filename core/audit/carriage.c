/* carriage.c - see carriage.h. */
#include "carriage.h"
#include <string.h>

enum { LEAST_NS = 30000000 /* of work of all threads, below which it does not pay to move the samples */ };

int gbees_carriage_try(gbees_carriage *carriage, const gbees_journey *journey, double nanoseconds)
{
    gbees_error ignored; /* threads do what a backend can't */
    int carried = 0;

    if (!carriage || carriage->failed || !carriage->backend || !carriage->backend->carrier_create ||
        nanoseconds < LEAST_NS)
        return 0;
    if (!carriage->carrier)
        carriage->failed =
            carriage->backend->carrier_create(carriage->problem, &carriage->carrier, &ignored) != GBEES_OK;
    if (!carriage->failed)
        carriage->failed =
            carriage->backend->carrier_carry(carriage->carrier, journey, &carried, &ignored) != GBEES_OK;
    return carried && !carriage->failed;
}

void gbees_carriage_close(gbees_carriage *carriage)
{
    if (carriage->carrier)
        carriage->backend->carrier_destroy(carriage->carrier);
    carriage->carrier = NULL;
}
