/* sample_moments.c - weighted moments of the samples and their standard errors, by batches. */
#include "base/workers.h"
#include "montecarlo.h"
#include <math.h>
#include <stddef.h>

enum { BATCHES = 64, MAX = GBEES_MAX_DIM };

/* Weighted sums over one batch; the second moments are about the mean of all samples. */
typedef struct batch {
    double weight, square, first[MAX], second[MAX * MAX];
} batch;

static void batch_range(size_t count, int number, size_t *from, size_t *to)
{
    *from = (size_t)number * (count / BATCHES) + (size_t)number * (count % BATCHES) / BATCHES;
    *to = ((size_t)number + 1) * (count / BATCHES) + ((size_t)number + 1) * (count % BATCHES) / BATCHES;
}

/* What the threads share: the first `count` samples, and the sums of all batches. */
typedef struct all_batches {
    const gbees_montecarlo *montecarlo;
    size_t count;
    const double *mean;
    batch *sums;
} all_batches;

static void batch_sum_first(const gbees_montecarlo *montecarlo, size_t from, size_t to, batch *sums)
{
    const double *const w = montecarlo->weight;

    *sums = (batch){0};
    for (size_t i = from; i < to; i++) {
        sums->weight += w[i];
        sums->square += w[i] * w[i];
        for (int j = 0; j < montecarlo->problem->dimension; j++)
            sums->first[j] += w[i] * montecarlo->x[j][i];
    }
}

static void batch_sum_second(const gbees_montecarlo *montecarlo, size_t from, size_t to, const double *mean,
                             batch *sums)
{
    const int n = montecarlo->problem->dimension;

    for (int j = 0; j < n; j++) {
        for (int k = 0; k <= j; k++) {
            double sum = 0;

            for (size_t i = from; i < to; i++)
                sum += montecarlo->weight[i] * (montecarlo->x[j][i] - mean[j]) * (montecarlo->x[k][i] - mean[k]);
            sums->second[j * n + k] = sums->second[k * n + j] = sum;
        }
    }
}

static void sum_first(void *context, size_t number)
{
    const all_batches *all = context;
    size_t from, to;

    batch_range(all->count, (int)number, &from, &to);
    batch_sum_first(all->montecarlo, from, to, &all->sums[number]);
}

static void sum_second(void *context, size_t number)
{
    const all_batches *all = context;
    size_t from, to;

    batch_range(all->count, (int)number, &from, &to);
    batch_sum_second(all->montecarlo, from, to, all->mean, &all->sums[number]);
}

/* Mean of a quantity and its standard error from its batches; `offset` is where the struct has its sum. */
static double batch_mean(const batch *sums, size_t offset, double *error)
{
    double value[BATCHES];
    double weight = 0, total = 0, square = 0;

    for (int b = 0; b < BATCHES; b++) {
        value[b] = *(const double *)(const void *)((const char *)&sums[b] + offset);
        weight += sums[b].weight;
        total += value[b];
    }
    for (int b = 0; b < BATCHES; b++) {
        double deviation = value[b] - sums[b].weight * total / weight;

        square += deviation * deviation;
    }
    *error = sqrt(square * BATCHES / (BATCHES - 1)) / weight;
    return total / weight;
}

int gbees_montecarlo_measure(const gbees_montecarlo *montecarlo, size_t count, gbees_sample_moments *moments,
                             gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    batch sums[BATCHES];
    gbees_sample_moments result = {0};
    double weight = 0, square = 0;

    if (count == 0 || count > montecarlo->count)
        count = montecarlo->count;
    if (count < BATCHES)
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: moments need at least %d samples", BATCHES);
    all_batches all = {montecarlo, count, result.mean, sums};
    gbees_workers_run(montecarlo->options.threads, BATCHES, sum_first, &all);
    for (int b = 0; b < BATCHES; b++) {
        weight += sums[b].weight;
        square += sums[b].square;
    }
    if (!(weight > 0))
        return gbees_error_set(error, GBEES_ENUMERIC, "Monte Carlo: all weights vanish at t = %g", montecarlo->time);
    for (int j = 0; j < n; j++)
        result.mean[j] = batch_mean(sums, offsetof(batch, first) + (size_t)j * sizeof(double), &result.mean_error[j]);
    gbees_workers_run(montecarlo->options.threads, BATCHES, sum_second, &all);
    for (int j = 0; j < n * n; j++)
        result.covariance[j] =
            batch_mean(sums, offsetof(batch, second) + (size_t)j * sizeof(double), &result.covariance_error[j]);
    for (int j = 0; j < n; j++) {
        result.std[j] = sqrt(result.covariance[j * n + j]);
        result.std_error[j] = result.covariance_error[j * n + j] / (2 * result.std[j]);
    }
    result.effective = weight * weight / square;
    *moments = result;
    return GBEES_OK;
}
