/* statistics.c - moments of the density for a record: the host's part. */
#include "engine.h"
#include "launch.h"
#include "locate.h"
#include <math.h>
#include <string.h>

/* `high` counts units of 2^-16, `low` of 2^-52. */
static double value_of(gbees_exact_sum sum)
{
    return ldexp((double)sum.high, -16) + ldexp((double)sum.low, -52);
}

/* Sets the largest P, and its cell. */
static int fill_peak(const gbees_engine *e, gbees_statistics *out, gbees_error *error)
{
    double peak; /* found->peak has its bits */

    memcpy(&peak, &e->found->peak, sizeof peak);
    out->peak = peak / out->mass;
    return engine_locate_cell(e, e->state->where, (int)(e->found->peak_brick & 63), out->peak_index, error);
}

/* Computes moments in units of the states from the sums, which are in cells from the origin. */
static void fill_moments(const gbees_engine *e, gbees_statistics *out)
{
    const gbees_setup *m = &e->setup;
    const gbees_exact_sum *moment = e->found->moment;
    double mean[GBEES_MAX_DIM], volume = 1;
    int n = m->shape.n, at = 0;

    out->mass = value_of(moment[at++]);
    for (int j = 0; j < n; j++) {
        mean[j] = value_of(moment[at++]) / out->mass;
        out->mean[j] = m->origin[j] + m->width[j] * mean[j];
        volume *= m->width[j];
    }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double c = (value_of(moment[at++]) / out->mass - mean[j] * mean[k]) * m->width[j] * m->width[k];

            /* Cell averages add the variance inside a cell, h^2/12. */
            if (e->averages && j == k)
                c = fmax(c - m->width[j] * m->width[j] / 12, 0);
            out->covariance[j * n + k] = out->covariance[k * n + j] = c;
        }
    out->entropy = -(value_of(moment[at]) / out->mass - log(out->mass) - log(volume));
}

int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error)
{
    gbees_state *s = e->state;

    (void)clock;
    memset(e->found->moment, 0, sizeof e->found->moment);
    e->found->peak = 0;
    e->found->peak_brick = UINT64_MAX;
    int status = engine_collect(e, error);
    if (!status)
        status = engine_launch(e, KERNEL_STATISTICS, NULL, 0, error);
    *statistics = (gbees_statistics){0};
    if (status)
        return status;
    fill_moments(e, statistics);
    status = fill_peak(e, statistics, error);
    if (!status)
        status = engine_launch(e, KERNEL_COUNT, NULL, 0, error);
    statistics->cells = s->marked_needed;
    statistics->cells_above = s->marked_above;
    statistics->cells_raw = (uint64_t)s->count * 64;
    return status;
}
