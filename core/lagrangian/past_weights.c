/* past_weights.c - the logarithms of the initial density and of likelihoods at points of a lattice, block by block.
 */
#include "base/workers.h"
#include "past_group.h"
#include <gbees/record.h>
#include <math.h>
#include <stdatomic.h>

enum { BLOCK = 1024, LIKELIHOOD_NS = 60, DENSITY_NS = 40 };

/* What the blocks of a group share. */
typedef struct weighing {
    const gbees_group *points;
    const gbees_source *source; /* of the initial density; or NULL: the likelihood of `measurement` */
    const gbees_measurement *measurement;
    double time;
    double *out; /* [lattice->count] */
    atomic_int status;
    gbees_error error;
} weighing;

/* Where a point has left every bound the likelihood is 0; where it is anywhere else and not a number, it is an error.
 */
static int check(int n, size_t count, double *const *x, double *out)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (int j = 0; j < n; j++)
            sum += x[j][i];
        if (!isfinite(sum))
            out[i] = -INFINITY;
        else if (!(out[i] < INFINITY))
            return GBEES_ENUMERIC;
    }
    return GBEES_OK;
}

static void weigh_block(void *context, size_t block)
{
    weighing *all = context;
    gbees_lattice *lattice = all->points->lattice;
    const size_t done = block * BLOCK, left = all->points->count - done, first = all->points->first + done;
    const size_t count = left < BLOCK ? left : BLOCK;
    double *x[GBEES_MAX_DIM] = {NULL}, *out = all->out + first;
    gbees_error error = {0};
    int status;

    for (int j = 0; j < lattice->n; j++)
        x[j] = lattice->x[j] + first;
    if (all->source) {
        gbees_source_log_density(all->source, count, x, out);
        gbees_source_log_share(all->source, count, x, lattice->stretch + first);
        return;
    }
    status = gbees_measurement_log_likelihood(all->points->past->problem, all->measurement, all->time, count,
                                              (const double *const *)x, out, &error);
    if (!status && check(lattice->n, count, x, out))
        status =
            gbees_error_set(&error, GBEES_ENUMERIC,
                            "the likelihood of the measurement at t = %g is not a number at a trajectory", all->time);
    if (status && !atomic_exchange(&all->status, status))
        all->error = error;
}

int gbees_group_weigh(const gbees_group *points, const gbees_source *source, const gbees_measurement *measurement,
                      double time, double *out, gbees_error *error)
{
    weighing all = {.points = points, .source = source, .measurement = measurement, .time = time, .out = out};
    const double each = source ? DENSITY_NS : LIKELIHOOD_NS;

    gbees_workers_run(gbees_workers_worth(points->alone ? 1 : points->past->threads, points->count * each),
                      (points->count + BLOCK - 1) / BLOCK, weigh_block, &all);
    if (atomic_load(&all.status))
        return gbees_error_set(error, (gbees_status)atomic_load(&all.status), "%s", all.error.text);
    return GBEES_OK;
}

int gbees_past_weigh(const gbees_past *past, gbees_lattice *lattice, const gbees_measurement *measurement,
                     gbees_error *error)
{
    const gbees_group all = {past, lattice, 0, lattice->count, 0};

    return gbees_group_weigh(&all, NULL, measurement, past->now, lattice->gain, error);
}
