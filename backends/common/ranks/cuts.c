/* cuts.c - chooses the cuts between the ranks' boxes from histograms of all ranks' keys; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* All ranks: sets lo[n] and hi[n] to the least and the largest components of the keys of all ranks. */
static void find_range(engine_ranks *ranks, const key_stream *keys, int32_t *lo, int32_t *hi)
{
    const int n = ranks->n;
    double ends[2 * GBEES_MAX_DIM];
    int32_t key[GBEES_MAX_DIM];

    for (int j = 0; j < 2 * n; j++)
        ends[j] = -(double)INT32_MAX;
    keys->rewind(keys->context);
    while (keys->next(keys->context, key))
        for (int j = 0; j < n; j++) {
            ends[2 * j] = -key[j] > ends[2 * j] ? -key[j] : ends[2 * j];
            ends[2 * j + 1] = key[j] > ends[2 * j + 1] ? key[j] : ends[2 * j + 1];
        }
    ranks_most(ranks, ends, (size_t)(2 * n));
    for (int j = 0; j < n; j++) {
        lo[j] = (int32_t)-ends[2 * j];
        hi[j] = (int32_t)ends[2 * j + 1];
    }
}

int ranks_choose_cuts(engine_ranks *ranks, const key_stream *keys, gbees_error *error)
{
    const int n = ranks->n, all = ranks->parallel->ranks;
    const size_t entries = (size_t)all * (size_t)n * PARTITION_BINS;
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM], key[GBEES_MAX_DIM];
    int64_t *counts = malloc(entries * sizeof *counts);
    partition cuts = {0};
    partition_bins bins;
    const int failed = !counts || partition_create(&cuts, n, all, ranks->layers);
    const int status = ranks_agree(ranks, failed ? ranks_no_memory(error) : 0, error);

    if (!status) {
        find_range(ranks, keys, lo, hi);
        partition_set_bins(&cuts, lo, hi, &bins);
    }
    while (!status && partition_is_open(&cuts)) {
        memset(counts, 0, entries * sizeof *counts);
        keys->rewind(keys->context);
        while (keys->next(keys->context, key))
            partition_count(&cuts, &bins, key, counts);
        if (!keys->is_everyones)
            ranks_sum(ranks, counts, (size_t)cuts.parts * (size_t)n * PARTITION_BINS);
        partition_cut(&cuts, &bins, counts, ranks->speeds.weight);
    }
    free(counts);
    partition_destroy(status ? &cuts : &ranks->cuts);
    if (!status)
        ranks->cuts = cuts;
    return status;
}
