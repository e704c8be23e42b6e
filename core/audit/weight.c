/* weight.c - Bayes' rule: samples weighted by the likelihood of a measurement. */
#include "base/workers.h"
#include "islands.h"
#include "record/likelihood.h"
#include "samples.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A sample whose weight is less than e to this power of the largest is dropped. */
static const double least_log_weight = -30;

enum { UPDATE_NS = 50 /* that an update takes for each sample, or more */ };

/* Sums of weights before (w) and after (u) an update. */
typedef struct weights {
    double w, u, ww, uu, wu;
} weights;

/* What all blocks of an update share. */
typedef struct update {
    const gbees_montecarlo *montecarlo;
    const gbees_point_likelihood *by;
    double *after;                /* the logarithms of the weights after the update, then these weights; 0: dropped */
    double *largest;              /* of each block */
    double most;                  /* of all */
    weights *sums;                /* of each block */
    gbees_island_weights islands; /* if the samples have been resampled, or targets take some */
    atomic_int invalid;           /* whether a logarithm is not a number; minus infinity is one, "impossible" */
} update;

static void update_block(void *context, size_t block)
{
    update *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    const double *x[GBEES_MAX_DIM] = {NULL};
    double gained[SAMPLES_BLOCK], largest = -INFINITY;
    int sound = 1;

    for (int j = 0; j < montecarlo->problem->dimension; j++)
        x[j] = montecarlo->x[j] + first;
    gbees_point_likelihoods(all->by, count, x, gained);
    for (size_t i = 0; i < count; i++) {
        all->after[first + i] = log(montecarlo->weight[first + i]) + gained[i];
        largest = fmax(largest, all->after[first + i]);
        sound &= gained[i] < INFINITY;
    }
    all->largest[block] = largest;
    if (!sound)
        atomic_store(&all->invalid, 1);
}

/* The evidence is the mean likelihood, sum u / sum w: a ratio whose relative variance is the sum of
 * (u / sum u - w / sum w)^2.  All updates together multiply equal weights by the likelihoods. */
static void estimate(gbees_montecarlo *montecarlo, const weights *sum, double log_scale)
{
    gbees_sample_evidence *evidence = &montecarlo->evidence;

    evidence->log_evidence = log_scale + log(sum->u / sum->w);
    evidence->error =
        sqrt(fmax(0, sum->uu / (sum->u * sum->u) + sum->ww / (sum->w * sum->w) - 2 * sum->wu / (sum->u * sum->w)));
    evidence->total += evidence->log_evidence;
    evidence->total_error = sqrt(fmax(0, sum->uu / (sum->u * sum->u) - 1 / (double)montecarlo->options.count));
    evidence->effective = sum->u * sum->u / sum->uu;
}

/* Finds the weights of the samples of a block, and sums them. */
static void sum_block(void *context, size_t block)
{
    update *all = context;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(all->montecarlo, block);

    weights sum = {0};

    for (size_t i = first; i < first + count; i++) {
        const double log_weight = all->after[i] - all->most, w = all->montecarlo->weight[i];
        const double u = log_weight >= least_log_weight ? exp(log_weight) : 0;

        all->after[i] = u; /* those that are 0 all together weigh nothing */
        sum.w += w;
        sum.u += u;
        sum.ww += w * w;
        sum.uu += u * u;
        sum.wu += w * u;
    }
    all->sums[block] = sum;
}

/* The sums of all blocks, in their order: the same for any number of threads. */
static weights sum_blocks(const weights *sums, size_t blocks)
{
    weights sum = {0};

    for (size_t block = 0; block < blocks; block++) {
        sum.w += sums[block].w;
        sum.u += sums[block].u;
        sum.ww += sums[block].ww;
        sum.uu += sums[block].uu;
        sum.wu += sums[block].wu;
    }
    return sum;
}

/* Sums the weights of an island. */
static void sum_island(void *context, size_t island)
{
    update *all = context;
    const size_t last = gbees_islands_first(all->montecarlo, island + 1);
    double before = 0, after = 0;

    for (size_t i = gbees_islands_first(all->montecarlo, island); i < last; i++) {
        before += all->montecarlo->weight[i];
        after += all->after[i];
    }
    all->islands.before[island] = before;
    all->islands.after[island] = after;
}

/* Weights all samples, whose memory `all` has. */
static int weigh(gbees_montecarlo *montecarlo, update *all, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    const double time = all->by->measurement->time;
    const int threads = gbees_workers_worth(montecarlo->options.threads, (double)montecarlo->count * UPDATE_NS);

    gbees_workers_run(threads, blocks, update_block, all);
    all->most = -INFINITY;
    for (size_t block = 0; block < blocks; block++)
        all->most = fmax(all->most, all->largest[block]);
    if (atomic_load(&all->invalid))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: the likelihood of the measurement at t = %g is not a number at a sample",
                               time);
    if (!isfinite(all->most))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: no sample is possible after the measurement at t = %g", time);
    gbees_workers_run(threads, blocks, sum_block, all);
    const weights sum = sum_blocks(all->sums, blocks);
    estimate(montecarlo, &sum, all->most + all->by->log_norm);
    if (montecarlo->resampled || montecarlo->options.absorbed)
        gbees_workers_run(threads, GBEES_ISLANDS, sum_island, all);
    if (montecarlo->resampled)
        gbees_islands_estimate(&all->islands, &montecarlo->evidence);
    if (montecarlo->options.absorbed)
        gbees_islands_influence(&all->islands, montecarlo->entries.influence, &montecarlo->evidence);
    if (gbees_samples_keep(montecarlo, all->after, threads))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for the measurement at t = %g", time);
    gbees_samples_count_again(montecarlo);
    return GBEES_OK;
}

int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    gbees_point_likelihood by;
    update all = {.montecarlo = montecarlo, .by = &by};
    int status = gbees_point_likelihood_set(montecarlo->problem, measurement, montecarlo->time, &by, error);

    if (!status && montecarlo->count == 0)
        status = gbees_error_set(error, GBEES_ENUMERIC,
                                 "Monte Carlo: targets have taken all samples before the measurement at t = %g",
                                 montecarlo->time);
    if (status)
        return status;
    all.after = malloc(montecarlo->count * sizeof *all.after);
    all.largest = malloc(blocks * sizeof *all.largest);
    all.sums = malloc(blocks * sizeof *all.sums);
    status = all.after && all.largest && all.sums
                 ? weigh(montecarlo, &all, error)
                 : gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for the measurement at t = %g",
                                   measurement->time);
    free(all.after);
    free(all.largest);
    free(all.sums);
    return status;
}
