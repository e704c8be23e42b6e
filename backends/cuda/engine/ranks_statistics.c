/* ranks_statistics.c - moments and counts of cells of a split grid; see ranks.h. */
#include "launch.h"
#include "locate.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* The cell with the largest P of a rank. */
typedef struct rank_peak {
    double p;
    uint64_t name; /* gbees_findings.peak_brick: of cells with the same P the one with the least name is taken */
    int32_t index[GBEES_MAX_DIM]; /* its multi-index */
} rank_peak;

/* Finds this rank's, from what the kernel has found; P = 0 if it has no bricks. */
static int own_peak(const gbees_engine *e, rank_peak *peak, gbees_error *error)
{
    memset(peak, 0, sizeof *peak); /* padding included: it is sent as bytes */
    memcpy(&peak->p, &e->found->peak, sizeof peak->p);
    peak->name = e->found->peak_brick;
    return e->state->count ? engine_locate_cell(e, e->state->where, (int)(peak->name & 63), peak->index, error) : 0;
}

/* All ranks: sets *p and index[n] to the largest P of all ranks and its cell. `status`: of this rank so far. */
static int find_peak(gbees_engine *e, int status, double *p, int32_t *index, gbees_error *error)
{
    const gbees_parallel *parallel = e->ranks->parallel;
    rank_peak own, *all = calloc((size_t)parallel->ranks, sizeof *all);

    if (!status)
        status = all ? own_peak(e, &own, error)
                     : gbees_error_set(error, GBEES_ENOMEM, "out of memory for the highest cells of all ranks");
    status = ranks_agree(e->ranks, status, error);
    if (!status) {
        parallel->gather(parallel->context, &own, sizeof own, all);
        for (int r = 0; r < parallel->ranks; r++)
            if (r == 0 || all[r].p > own.p || (all[r].p == own.p && all[r].name < own.name))
                own = all[r];
        *p = own.p;
        memcpy(index, own.index, sizeof own.index);
    }
    free(all);
    return status;
}

int ranks_count_cells(gbees_engine *e, gbees_statistics *out, gbees_error *error)
{
    gbees_state *s = e->state;
    gbees_run_state run = s->run;
    int status = ranks_refresh_classes(e, s->current, e->problem->dimension, error);

    if (!status)
        status = engine_launch(e, KERNEL_COUNT, NULL, 0, error);
    int64_t sums[3] = {(int64_t)s->marked_needed, (int64_t)s->marked_above, s->count};
    ranks_sum(e->ranks, sums, 3);
    gbees_work_count(&run.work, (uint64_t)sums[0]);
    s->run = run;
    out->cells = (uint64_t)sums[0];
    out->cells_above = (uint64_t)sums[1];
    out->cells_raw = (uint64_t)sums[2] * 64;
    return ranks_agree(e->ranks, status, error);
}

int ranks_find_moments(gbees_engine *e, double *peak, int32_t *index, gbees_error *error)
{
    _Static_assert(sizeof(gbees_exact_sum) == 2 * sizeof(int64_t), "two words, which are added one by one");
    int status = engine_launch(e, KERNEL_STATISTICS, NULL, 0, error);

    ranks_sum(e->ranks, (int64_t *)(void *)e->found->moment, 2 * (size_t)STATE_EXACT_SUMS);
    return find_peak(e, status, peak, index, error);
}

void ranks_join_range(gbees_engine *e)
{
    gbees_findings *found = e->found;
    const int n = e->problem->dimension;
    double ends[2 * GBEES_MAX_DIM]; /* up to 2^41 */

    for (int j = 0; j < n; j++) {
        ends[2 * j] = (double)found->lowest[j];
        ends[2 * j + 1] = (double)found->highest[j];
    }
    ranks_most(split_ranks(e), ends, 2 * (size_t)n);
    for (int j = 0; j < n; j++) {
        found->lowest[j] = (uint64_t)ends[2 * j];
        found->highest[j] = (uint64_t)ends[2 * j + 1];
    }
}
