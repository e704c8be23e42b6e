/* sample_moments.c - weighted moments of the samples and their standard errors, by batches. */
#include "base/workers.h"
#include "islands.h"
#include "samples.h"
#include <math.h>
#include <stddef.h>

enum { BATCHES = GBEES_ISLANDS, MAX = GBEES_MAX_DIM, BLOCK = SAMPLES_BLOCK, LANES = 8, SUM_NS = 1 };

/* Weighted sums over one batch; moments are about an origin near all samples, at last the second ones about the mean
 * of all. */
typedef struct batch {
    double weight, square, first[MAX], second[MAX * MAX], least[MAX], most[MAX];
} batch;

/* What the threads share: the first `count` samples, and the sums of all batches. */
typedef struct all_batches {
    const gbees_montecarlo *montecarlo;
    size_t count;
    const double *origin;
    batch *sums;
} all_batches;

/* Sets the range of samples of a batch. Resampled samples depend on others of their island: then a batch is an
 * island.
 */
static void batch_range(const all_batches *all, size_t number, size_t *from, size_t *to)
{
    const size_t count = all->count;

    *from = number * (count / BATCHES) + number * (count % BATCHES) / BATCHES;
    *to = (number + 1) * (count / BATCHES) + (number + 1) * (count % BATCHES) / BATCHES;
    if (all->montecarlo->resampled) {
        *from = gbees_islands_first(all->montecarlo, number);
        *to = gbees_islands_first(all->montecarlo, number + 1);
        *from = *from < count ? *from : count;
        *to = *to < count ? *to : count;
    }
}

/* Numbers of a batch that are summed next: weights, states about the origin, and their products. */
typedef struct rows {
    double x[MAX][BLOCK], weighted[MAX][BLOCK];
} rows;

/* The sum of a[i] * b[i], always in the same order. */
GBEES_PROCESSOR_CLONES static double product_sum(size_t count, const double *restrict a, const double *restrict b)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* Fills an axis of the rows; widens the range by the samples'. */
GBEES_PROCESSOR_CLONES static void fill_row(size_t count, const double *restrict x, const double *restrict weight,
                                            double origin, double *restrict about, double *restrict weighted,
                                            double *range)
{
    double least[LANES], most[LANES];
    size_t i = 0;

    for (size_t l = 0; l < LANES; l++) {
        least[l] = range[0];
        most[l] = range[1];
    }
    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            least[l] = x[i + l] < least[l] ? x[i + l] : least[l];
            most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
        }
    for (; i < count; i++) {
        least[0] = fmin(least[0], x[i]);
        most[0] = fmax(most[0], x[i]);
    }
    for (size_t l = 0; l < LANES; l++) {
        range[0] = fmin(range[0], least[l]);
        range[1] = fmax(range[1], most[l]);
    }
    for (i = 0; i < count; i++) {
        about[i] = x[i] - origin;
        weighted[i] = weight[i] * about[i];
    }
}

/* Adds `count` samples from number `from` on, at most BLOCK. */
static void add_samples(const all_batches *all, size_t from, size_t count, batch *sums)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const double *weight = montecarlo->weight + from;
    const int n = montecarlo->problem->dimension;
    rows now;

    for (int j = 0; j < n; j++) {
        double range[2] = {sums->least[j], sums->most[j]};

        fill_row(count, montecarlo->x[j] + from, weight, all->origin[j], now.x[j], now.weighted[j], range);
        sums->least[j] = range[0];
        sums->most[j] = range[1];
        for (size_t i = 0; i < count; i++)
            sums->first[j] += now.weighted[j][i];
        for (int k = 0; k <= j; k++)
            sums->second[j * n + k] += product_sum(count, now.weighted[j], now.x[k]);
    }
    for (size_t i = 0; i < count; i++)
        sums->weight += weight[i];
    sums->square += product_sum(count, weight, weight);
}

static void sum_batch(void *context, size_t number)
{
    const all_batches *all = context;
    batch *sums = &all->sums[number];
    size_t from, to;

    *sums = (batch){0};
    for (int j = 0; j < MAX; j++) {
        sums->least[j] = INFINITY;
        sums->most[j] = -INFINITY;
    }
    batch_range(all, number, &from, &to);
    for (size_t first = from; first < to; first += BLOCK)
        add_samples(all, first, to - first < BLOCK ? to - first : BLOCK, sums);
}

/* Changes the second moments to those about a point that is `off` from the origin. */
static void move_origin(int n, const double *off, batch *sums)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++)
            sums->second[j * n + k] = sums->second[k * n + j] = sums->second[j * n + k] - off[j] * sums->first[k] -
                                                                off[k] * sums->first[j] +
                                                                off[j] * off[k] * sums->weight;
}

/* Mean of a quantity and its standard error from its batches, which are worth `many` of equal weight; `offset` is
 * where the struct has its sum. */
static double batch_mean(const batch *sums, double many, size_t offset, double *error)
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
    *error = sqrt(square * many / (many - 1)) / weight;
    return total / weight;
}

/* A point near all samples: the mean of some. */
static void find_origin(const gbees_montecarlo *montecarlo, size_t count, double *origin)
{
    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        origin[j] = 0;
        for (size_t k = 0; k < BATCHES; k++)
            origin[j] += montecarlo->x[j][count / BATCHES * k + count % BATCHES * k / BATCHES] / BATCHES;
    }
}

/* Fills all but the effective numbers; `origin` is that of the sums. */
static void set_moments(int n, double many, const double *origin, batch *sums, gbees_sample_moments *to)
{
    double off[MAX];

    for (int j = 0; j < n; j++) {
        off[j] = batch_mean(sums, many, offsetof(batch, first) + (size_t)j * sizeof(double), &to->mean_error[j]);
        to->mean[j] = origin[j] + off[j];
        to->least[j] = INFINITY;
        to->most[j] = -INFINITY;
    }
    for (int b = 0; b < BATCHES; b++) {
        move_origin(n, off, &sums[b]);
        for (int j = 0; j < n; j++) {
            to->least[j] = fmin(to->least[j], sums[b].least[j]);
            to->most[j] = fmax(to->most[j], sums[b].most[j]);
        }
    }
    for (int j = 0; j < n * n; j++)
        to->covariance[j] =
            batch_mean(sums, many, offsetof(batch, second) + (size_t)j * sizeof(double), &to->covariance_error[j]);
    for (int j = 0; j < n; j++) {
        to->std[j] = sqrt(to->covariance[j * n + j]);
        to->std_error[j] = to->covariance_error[j * n + j] / (2 * to->std[j]);
    }
}

static double islands_of(const batch *sums)
{
    double weight[BATCHES];

    for (int b = 0; b < BATCHES; b++)
        weight[b] = sums[b].weight;
    return gbees_islands_effective(weight);
}

int gbees_montecarlo_measure(const gbees_montecarlo *montecarlo, size_t count, gbees_sample_moments *moments,
                             gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    batch sums[BATCHES];
    gbees_sample_moments result = {0};
    double weight = 0, square = 0, origin[MAX];

    if (count > 0 && count < BATCHES)
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: moments need at least %d samples", BATCHES);
    if (count == 0 || count > montecarlo->count)
        count = montecarlo->count;
    if (montecarlo->count == 0) { /* targets have taken all: none is effective */
        *moments = result;
        return GBEES_OK;
    }
    find_origin(montecarlo, count, origin);
    all_batches all = {montecarlo, count, origin, sums};
    const double work = (double)count * (n + 2) * (n + 2) * SUM_NS;
    gbees_workers_run(gbees_workers_worth(montecarlo->options.threads, work), BATCHES, sum_batch, &all);
    for (int b = 0; b < BATCHES; b++) {
        weight += sums[b].weight;
        square += sums[b].square;
    }
    if (!(weight > 0))
        return gbees_error_set(error, GBEES_ENUMERIC, "Monte Carlo: all weights vanish at t = %g", montecarlo->time);
    if (montecarlo->resampled)
        result.islands = islands_of(sums);
    set_moments(n, montecarlo->resampled ? fmax(result.islands, 1 + 1e-9) : BATCHES, origin, sums, &result);
    result.effective = weight * weight / square;
    for (int j = 0; j < n && montecarlo->resampled; j++)
        result.effective = fmin(result.effective, pow(result.std[j] / result.mean_error[j], 2));
    *moments = result;
    return GBEES_OK;
}
