/* keep.c - replaces and frees lists of samples, and drops those that are left without weight; see samples.h. */
#include "base/workers.h"
#include "samples.h"
#include <stdlib.h>
#include <string.h>

void gbees_samples_release_x(gbees_montecarlo *montecarlo)
{
    for (int j = 0; j < montecarlo->problem->dimension && !montecarlo->shared_x; j++)
        free(montecarlo->x[j]);
}

void gbees_samples_release_weight(gbees_montecarlo *montecarlo)
{
    if (montecarlo->shared_weight)
        return;
    free(montecarlo->weight);
    free(montecarlo->number);
}

int gbees_samples_lists_create(int n, size_t count, samples_lists *lists)
{
    int failed = 0;

    *lists = (samples_lists){.weight = malloc((count + 1) * sizeof *lists->weight),
                             .number = malloc((count + 1) * sizeof *lists->number)};
    for (int j = 0; j < n; j++)
        failed |= !(lists->x[j] = malloc((count + 1) * sizeof *lists->x[j]));
    if (!failed && lists->weight && lists->number)
        return GBEES_OK;
    for (int j = 0; j < n; j++)
        free(lists->x[j]);
    free(lists->weight);
    free(lists->number);
    return GBEES_ENOMEM;
}

void gbees_samples_replace(gbees_montecarlo *montecarlo, const samples_lists *lists, size_t count)
{
    gbees_samples_release_x(montecarlo);
    gbees_samples_release_weight(montecarlo);
    memcpy(montecarlo->x, lists->x, sizeof lists->x);
    montecarlo->weight = lists->weight;
    montecarlo->number = lists->number;
    montecarlo->shared_x = montecarlo->shared_weight = 0;
    montecarlo->count = count;
    gbees_samples_choose_probes(montecarlo);
}

/* What all blocks share. */
typedef struct keeping {
    const gbees_montecarlo *montecarlo;
    const double *weight; /* of all samples */
    size_t *first;        /* [blocks + 1]: how many of the blocks before it are kept */
    samples_lists kept;
} keeping;

static void move_block(void *context, size_t block)
{
    const keeping *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    size_t to = all->first[block];

    for (size_t i = first; i < first + count; i++) {
        if (!(all->weight[i] > 0))
            continue;
        for (int j = 0; j < montecarlo->problem->dimension; j++)
            all->kept.x[j][to] = montecarlo->x[j][i];
        all->kept.number[to] = samples_number(montecarlo, i);
        all->kept.weight[to++] = all->weight[i];
    }
}

static void count_block(void *context, size_t block)
{
    const keeping *all = context;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(all->montecarlo, block);
    size_t live = 0;

    for (size_t i = first; i < first + count; i++)
        live += all->weight[i] > 0;
    all->first[block + 1] = live;
}

int gbees_samples_keep(gbees_montecarlo *montecarlo, const double *weight, int threads)
{
    const size_t blocks = samples_blocks(montecarlo);
    keeping all = {.montecarlo = montecarlo, .weight = weight, .first = calloc(blocks + 1, sizeof *all.first)};

    if (!all.first)
        return GBEES_ENOMEM;
    gbees_workers_run(threads, blocks, count_block, &all);
    for (size_t block = 0; block < blocks; block++)
        all.first[block + 1] += all.first[block];
    const size_t live = all.first[blocks];
    const int status = gbees_samples_lists_create(montecarlo->problem->dimension, live, &all.kept);
    if (!status) {
        gbees_workers_run(threads, blocks, move_block, &all);
        gbees_samples_replace(montecarlo, &all.kept, live);
    }
    free(all.first);
    return status;
}
