/* offload.c - has the backend integrate the samples of a step, if that is work enough for it; if not, tells the
 * caller to do it. */
#include "offload.h"
#include <string.h>

int gbees_offload_try(gbees_offload *offload, const gbees_integration *integration, double nanoseconds)
{
    gbees_error ignored; /* threads do what a backend can't */
    int done = 0;

    if (!offload || offload->failed || !offload->backend || !offload->backend->integrator_create ||
        nanoseconds < offload->least_ns)
        return 0;
    if (!offload->integrator)
        offload->failed =
            offload->backend->integrator_create(offload->problem, 0, &offload->integrator, &ignored) != GBEES_OK;
    if (!offload->failed)
        offload->failed =
            offload->backend->integrator_run(offload->integrator, integration, &done, &ignored) != GBEES_OK;
    return done && !offload->failed;
}

void gbees_offload_close(gbees_offload *offload)
{
    if (offload->integrator)
        offload->backend->integrator_destroy(offload->integrator);
    offload->integrator = NULL;
}
