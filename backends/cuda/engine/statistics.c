/* statistics.c - moments and counts of cells for a record: launches the kernels, and computes moments from their
 * sums. */
#include "common/circular.h"
#include "engine.h"
#include "launch.h"
#include "locate.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double engine_sum_value(gbees_exact_sum sum)
{
    return ldexp((double)sum.high, -16) + ldexp((double)sum.low, -52);
}

/* Computes moments in the units of the grid's axes from found->moment, whose sums are in cells from the origin. */
static void fill_moments(const gbees_engine *e, gbees_statistics *out)
{
    const gbees_setup *m = &e->setup;
    const gbees_exact_sum *moment = e->found->moment;
    double mean[GBEES_MAX_DIM], volume = 1;
    int n = m->shape.n, at = 0;

    out->mass = engine_sum_value(moment[at++]);
    for (int j = 0; j < n; j++) {
        mean[j] = engine_sum_value(moment[at++]) / out->mass;
        out->mean[j] = m->origin[j] + m->width[j] * mean[j];
        volume *= m->width[j];
    }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double c = (engine_sum_value(moment[at++]) / out->mass - mean[j] * mean[k]) * m->width[j] * m->width[k];

            /* Cell averages add the variance inside a cell, h^2/12. */
            if (e->averages && j == k)
                c = fmax(c - m->width[j] * m->width[j] / 12, 0);
            out->covariance[j * n + k] = out->covariance[k * n + j] = c;
        }
    out->entropy = -(engine_sum_value(moment[at]) / out->mass - log(out->mass) - log(volume));
}

/* Sets found->moment, *peak to the largest P, and index[n] to the multi-index of its cell. */
static int find_moments(gbees_engine *e, double *peak, int32_t *index, gbees_error *error)
{
    memset(e->found->moment, 0, sizeof e->found->moment);
    e->found->peak = 0;
    e->found->peak_brick = UINT64_MAX;
    if (engine_is_split(e))
        return ranks_find_moments(e, peak, index, error);
    int status = engine_launch(e, KERNEL_STATISTICS, NULL, 0, error);
    memcpy(peak, &e->found->peak, sizeof *peak); /* the bits of a double */
    return status ? status : engine_locate_cell(e, e->state->where, (int)(e->found->peak_brick & 63), index, error);
}

/* Sets the numbers of cells. */
static int count_cells(gbees_engine *e, gbees_statistics *out, gbees_error *error)
{
    const gbees_state *s = e->state;

    if (engine_is_split(e))
        return ranks_count_cells(e, out, error);
    int status = engine_launch(e, KERNEL_COUNT, NULL, 0, error);
    out->cells = s->marked_needed;
    out->cells_above = s->marked_above;
    out->cells_raw = (uint64_t)s->count * 64;
    return status;
}

/* Sets directions and resultants around circles, from the marginals; they are not numbers if there is no memory. */
static int fill_circles(gbees_engine *e, gbees_statistics *out, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    gbees_marginals *marginals = NULL;
    int status = gbees_problem_circles(problem) > 0 ? cuda_engine_marginals(e, 0, &marginals, error) : 0;

    for (int j = 0; j < problem->dimension && !status; j++) {
        const uint64_t count = marginals ? marginals->length[j] : 0;
        double turn[2] = {0}, mass = 0;

        for (uint64_t i = 0; i < count; i++)
            mass += marginals->line[j][i];
        if (gbees_problem_is_circle(problem, j) && count)
            circular_add(problem, j, marginals->first[j], (int)count, marginals->line[j], turn);
        circular_set(problem, j, turn, count ? mass : NAN, out);
    }
    free(marginals);
    return status;
}

int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error)
{
    int status = ranks_link_inserted(e, error);

    (void)clock;
    *statistics = (gbees_statistics){0};
    if (!status)
        status = find_moments(e, &statistics->peak, statistics->peak_index, error);
    if (status)
        return status;
    fill_moments(e, statistics);
    status = fill_circles(e, statistics, error);
    if (status)
        return status;
    statistics->peak /= statistics->mass;
    return count_cells(e, statistics, error);
}
