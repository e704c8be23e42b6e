/* entries.c - takes samples off that have entered targets that absorb, and counts their weights by island; see
 * samples.h. */
#include "base/workers.h"
#include "islands.h"
#include "samples.h"
#include "walk.h"
#include <gbees/record.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = SAMPLES_BLOCK, KEEP_NS = 20 /* that moving a sample takes */ };

void gbees_samples_count_again(gbees_montecarlo *montecarlo)
{
    gbees_sample_entries *entries = &montecarlo->entries;
    double sum = 0, square = 0;

    if (!montecarlo->options.absorbed)
        return;
    memset(entries->before, 0, sizeof entries->before);
    memset(entries->entered, 0, sizeof entries->entered);
    for (size_t i = 0; i < montecarlo->count; i++) {
        const double weight = montecarlo->weight[i];

        entries->before[gbees_islands_of(montecarlo, samples_number(montecarlo, i))] += weight;
        sum += weight;
        square += weight * weight;
    }
    entries->effective = sum > 0 ? sum * sum / square : 0;
}

int gbees_samples_take_off(gbees_montecarlo *montecarlo, const unsigned char *fate, gbees_error *error)
{
    const size_t count = montecarlo->count;
    const int threads = gbees_workers_worth(montecarlo->options.threads, (double)count * KEEP_NS);
    double *left = malloc((count + 1) * sizeof *left);
    size_t taken = 0;
    int status = left ? GBEES_OK : GBEES_ENOMEM;

    for (size_t i = 0; i < count && !status; i++) {
        left[i] = fate[i] ? 0 : montecarlo->weight[i];
        if (fate[i] == GBEES_WALK_LOST)
            status = GBEES_ENUMERIC;
        else if (fate[i])
            montecarlo->entries.entered[fate[i] - 1][gbees_islands_of(montecarlo, samples_number(montecarlo, i))] +=
                montecarlo->weight[i];
        taken += fate[i] != 0;
    }
    if (!status && taken > 0)
        status = gbees_samples_keep(montecarlo, left, threads);
    free(left);
    if (status == GBEES_ENUMERIC)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: the function of a target is not a number at a sample by t = %g",
                               montecarlo->time);
    return status ? gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer", count)
                  : GBEES_OK;
}

int gbees_samples_enter(gbees_montecarlo *montecarlo, gbees_error *error)
{
    const gbees_problem *problem = montecarlo->problem;
    double g[BLOCK];

    if (!montecarlo->options.absorbed)
        return GBEES_OK;
    unsigned char *fate = calloc(montecarlo->count + 1, sizeof *fate);
    if (!fate)
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer",
                               montecarlo->count);
    for (size_t block = 0; block < samples_blocks(montecarlo); block++)
        for (int k = problem->target_count - 1; k >= 0; k--) {
            const size_t count = samples_in_block(montecarlo, block);
            const double *x[GBEES_MAX_DIM] = {NULL};

            if (problem->targets[k].kind != GBEES_TARGET_ABSORB)
                continue;
            for (int j = 0; j < problem->dimension; j++)
                x[j] = montecarlo->x[j] + block * BLOCK;
            gbees_target_values(problem, k, montecarlo->time, count, x, g);
            for (size_t i = block * BLOCK; i < block * BLOCK + count; i++)
                if (!(g[i % BLOCK] >= 0) && fate[i] != GBEES_WALK_LOST)
                    fate[i] = (unsigned char)(g[i % BLOCK] < 0 ? 1 + k : GBEES_WALK_LOST);
        }
    const int status = gbees_samples_take_off(montecarlo, fate, error);
    free(fate);
    return status;
}
