/* marginals.c - a record's marginals: lays them out, has the GPU sum them, and converts the sums. */
#include "engine.h"
#include "launch.h"
#include "numerics/fixed.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 1 << 25 }; /* of all marginals together: 256 MiB of the host's memory */

/* Sets the range of the cells' indices along each axis, from what the kernel has found.  Returns 0 if there is no
 * cell. */
static int read_range(const gbees_engine *e, gbees_marginals *out)
{
    const gbees_findings *found = e->found;
    const int n = e->problem->dimension;

    for (int j = 0; j < n; j++) {
        const int64_t first = RANGE_ZERO - (int64_t)found->lowest[j], last = (int64_t)found->highest[j] - RANGE_ZERO;

        if (!found->highest[j])
            return 0;
        out->first[j] = (int32_t)first;
        out->length[j] = (uint64_t)(last - first + 1);
    }
    return 1;
}

/* Lists the marginals, one behind the other in memory: a line for each axis, and a plane for each pair of axes unless
 * it has more than `most` entries.  Returns the number of entries of all; 0: more than MOST_ENTRIES. */
static uint64_t lay_out(const gbees_marginals *of, int n, uint64_t most, gbees_histograms *all)
{
    uint64_t entries = 0;

    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) { /* k == j: the line */
            const uint64_t columns = k > j ? of->length[k] : 1;

            if (k > j && of->length[j] > most / columns)
                continue;
            all->list[all->count++] = (gbees_histogram){.at = entries,
                                                        .columns = columns,
                                                        .first_a = of->first[j],
                                                        .first_b = of->first[k],
                                                        .a = j,
                                                        .b = k > j ? k : -1};
            if (of->length[j] > MOST_ENTRIES || of->length[j] * columns > MOST_ENTRIES - entries)
                return 0;
            entries += of->length[j] * columns;
        }
    return entries;
}

/* Sums P of own cells with P >= threshold at `at` in the GPU's memory, and fetches the sums[entries], integers in
 * units of 2^-60. */
static int add_up(gbees_engine *e, gbees_histograms *all, uint64_t entries, double threshold, CUdeviceptr at,
                  int64_t *sums, gbees_error *error)
{
    const cuda_api *api = e->api;
    void *arguments[] = {all, &threshold, &at};
    const char *doing = kernel_table[KERNEL_MARGINALS].doing;
    int status = cuda_check(api, api->cuMemsetD8Async(at, 0, entries * sizeof(int64_t), e->stream), doing, error);

    if (!status)
        status = engine_launch(e, KERNEL_MARGINALS, arguments, 3, error);
    return status ? status : device_fetch(&e->memory, sums, at, entries * sizeof(int64_t), doing, error);
}

/* Whether there is memory for the sums: on one GPU in the rows that are spare between steps, behind the null brick's.
 */
static int has_memory(const gbees_engine *e, uint64_t entries)
{
    return engine_is_split(e) ||
           entries * sizeof(int64_t) <= ((uint64_t)e->setup.grid.capacity - 1) * 64 * e->real_size;
}

/* Memory for what is returned, on all ranks or on none; NULL: there is none. */
static gbees_marginals *allocate(gbees_engine *e, uint64_t entries)
{
    gbees_marginals *made = malloc(sizeof *made + entries * sizeof(double));
    double is_missing = !made;

    ranks_most(split_ranks(e), &is_missing, 1);
    if (!(is_missing > 0))
        return made;
    free(made);
    return NULL;
}

/* Converts sums[entries] to doubles in place, divided by the mass, and sets the pointers of the marginals to them. */
static void finish(const gbees_engine *e, const gbees_histograms *all, uint64_t entries, void *sums,
                   gbees_marginals *out)
{
    const int64_t *fixed = sums;
    double *p = sums;

    for (uint64_t i = 0; i < entries; i++)
        p[i] = gbees_fixed_value(fixed[i]) / e->state->run.ledger.mass;
    for (int h = 0; h < all->count; h++) {
        const gbees_histogram *one = &all->list[h];

        if (one->b < 0)
            out->line[one->a] = p + one->at;
        else
            out->plane[one->a][one->b] = p + one->at;
    }
}

/* The sums of all cells, in units of 2^-60. */
static int find_sums(gbees_engine *e, gbees_histograms *all, uint64_t entries, double threshold, int64_t *sums,
                     gbees_error *error)
{
    if (!engine_is_split(e))
        return add_up(e, all, entries, threshold, e->rows[e->state->current ? 0 : 1].at + 64 * e->real_size, sums,
                      error);
    int status = split_reserve(e, &e->split->receive, entries * sizeof *sums, error);
    if (!status)
        status = add_up(e, all, entries, threshold, e->split->receive.at, sums, error);
    status = ranks_agree(e->ranks, status, error);
    if (!status)
        ranks_sum(e->ranks, sums, entries);
    return status;
}

int cuda_engine_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error)
{
    gbees_marginals range = {0}, *made = NULL;
    gbees_histograms all = {.count = 0};
    double threshold = e->budget.threshold * e->state->run.ledger.mass;
    void *arguments[] = {&threshold};

    for (int j = 0; j < STATE_MAX_DIM; j++)
        e->found->lowest[j] = e->found->highest[j] = 0;
    *marginals = NULL;
    int status = ranks_link_inserted(e, error);
    if (status)
        return status;
    status = engine_launch(e, KERNEL_RANGE, arguments, 1, error);
    ranks_join_range(e);
    status = ranks_agree(split_ranks(e), status, error);
    if (status || !read_range(e, &range))
        return status;
    const uint64_t entries = lay_out(&range, e->problem->dimension, most, &all);
    made = entries && has_memory(e, entries) ? allocate(e, entries) : NULL;
    if (!made)
        return 0;
    *made = range;
    status = find_sums(e, &all, entries, threshold, (int64_t *)(void *)(made + 1), error);
    if (status) {
        free(made);
        return status;
    }
    finish(e, &all, entries, made + 1, made);
    *marginals = made;
    return 0;
}
