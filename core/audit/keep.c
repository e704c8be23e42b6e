/* keep.c - frees samples, and drops those that are left without weight; see samples.h. */
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

/* What all blocks share. */
typedef struct keeping {
    const gbees_montecarlo *montecarlo;
    const double *weight; /* of all samples */
    size_t *first;        /* [blocks + 1]: how many of the blocks before it are kept */
    double *x[GBEES_MAX_DIM], *kept;
    uint64_t *number;
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
            all->x[j][to] = montecarlo->x[j][i];
        all->number[to] = samples_number(montecarlo, i);
        all->kept[to++] = all->weight[i];
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

/* Memory for so many samples. */
static int make_place(keeping *all, size_t count)
{
    int failed = 0;

    all->kept = malloc((count + 1) * sizeof *all->kept);
    all->number = malloc((count + 1) * sizeof *all->number);
    for (int j = 0; j < all->montecarlo->problem->dimension; j++)
        failed |= !(all->x[j] = malloc((count + 1) * sizeof *all->x[j]));
    if (!failed && all->kept && all->number)
        return GBEES_OK;
    for (int j = 0; j < all->montecarlo->problem->dimension; j++)
        free(all->x[j]);
    free(all->kept);
    free(all->number);
    return GBEES_ENOMEM;
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
    const int status = make_place(&all, live);
    if (!status) {
        gbees_workers_run(threads, blocks, move_block, &all);
        gbees_samples_release_x(montecarlo);
        gbees_samples_release_weight(montecarlo);
        memcpy(montecarlo->x, all.x, sizeof all.x);
        montecarlo->weight = all.kept;
        montecarlo->number = all.number;
        montecarlo->shared_x = montecarlo->shared_weight = 0;
        montecarlo->count = live;
        gbees_samples_choose_probes(montecarlo);
    }
    free(all.first);
    return status;
}
