/* islands.c - tells each island's effective number of samples, resamples the islands that have too few, and
 * estimates the error of the evidence from the spread of the islands. */
#include "islands.h"
#include "base/workers.h"
#include "near.h"
#include "samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 2048, /* samples: with fewer there are no islands */
    MOVE_NS = 20  /* that resampling takes for each sample */
};

/* An island of which a smaller part is effective is resampled. */
static const double least_effective = 0.25;

/* The first number of island k. */
static size_t first_number(const gbees_montecarlo *montecarlo, size_t k)
{
    const size_t count = montecarlo->options.count;

    return count / GBEES_ISLANDS * k + count % GBEES_ISLANDS * k / GBEES_ISLANDS;
}

/* The last one whose first number, 'count k / GBEES_ISLANDS', is not above it. */
size_t gbees_islands_of(const gbees_montecarlo *montecarlo, size_t number)
{
    return (GBEES_ISLANDS * (number + 1) - 1) / montecarlo->options.count;
}

size_t gbees_islands_first(const gbees_montecarlo *montecarlo, size_t k)
{
    const size_t number = first_number(montecarlo, k);
    size_t lo = 0, hi = montecarlo->count;

    if (!montecarlo->number)
        return number;
    while (lo < hi) { /* numbers increase */
        const size_t middle = lo + (hi - lo) / 2;

        if (montecarlo->number[middle] < number)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

double gbees_islands_effective(const double *weight)
{
    double sum = 0, square = 0;

    for (int k = 0; k < GBEES_ISLANDS; k++) {
        sum += weight[k];
        square += weight[k] * weight[k];
    }
    return sum * sum / square;
}

/* The logarithm of a mean of independent numbers, or of a ratio of two, has the standard error
 * sqrt(K / (K - 1) sum (a / sum a - b / sum b)^2), b = 1 for a mean. */
void gbees_islands_estimate(const gbees_island_weights *weights, gbees_sample_evidence *evidence)
{
    double before = 0, after = 0, ratio = 0, mean = 0;

    for (int k = 0; k < GBEES_ISLANDS; k++) {
        before += weights->before[k];
        after += weights->after[k];
    }
    for (int k = 0; k < GBEES_ISLANDS; k++) {
        const double part = weights->after[k] / after, of_ratio = part - weights->before[k] / before,
                     of_mean = part - 1.0 / GBEES_ISLANDS;

        ratio += of_ratio * of_ratio;
        mean += of_mean * of_mean;
    }
    evidence->islands = gbees_islands_effective(weights->after);
    const double many = fmax(evidence->islands, 1 + 1e-9);
    evidence->error = sqrt(many / (many - 1) * ratio);
    evidence->total_error = sqrt(many / (many - 1) * mean);
}

void gbees_islands_influence(const gbees_island_weights *weights, double *influence, gbees_sample_evidence *evidence)
{
    double before = 0, after = 0, square = 0;

    for (int k = 0; k < GBEES_ISLANDS; k++) {
        before += weights->before[k];
        after += weights->after[k];
    }
    for (int k = 0; k < GBEES_ISLANDS; k++) {
        influence[k] += weights->after[k] / after - weights->before[k] / before;
        square += influence[k] * influence[k];
    }
    const double many = fmax(gbees_islands_effective(weights->after), 1 + 1e-9);
    evidence->total_error = sqrt(many / (many - 1) * square);
}

/* ---- resampling ---- */

/* Shared by the threads of a resampling. */
typedef struct resampling {
    const gbees_montecarlo *montecarlo;
    size_t from[GBEES_ISLANDS + 1], to[GBEES_ISLANDS + 1];
    double sum[GBEES_ISLANDS]; /* of weights */
    int poor[GBEES_ISLANDS];   /* 1: the island is resampled */
    gbees_near_sample *order;  /* of the samples, each island's among themselves */
    samples_lists made;        /* the samples after it */
} resampling;

/* Finds the islands, and which are to be resampled; returns whether any is. */
static int find_poor(resampling *all)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    int any = 0;

    for (size_t k = 0; k <= GBEES_ISLANDS; k++)
        all->from[k] = gbees_islands_first(montecarlo, k);
    for (size_t k = 0; k < GBEES_ISLANDS; k++) {
        const size_t places = first_number(montecarlo, k + 1) - first_number(montecarlo, k);
        double square = 0;

        for (size_t i = all->from[k]; i < all->from[k + 1]; i++) {
            all->sum[k] += montecarlo->weight[i];
            square += montecarlo->weight[i] * montecarlo->weight[i];
        }
        all->poor[k] = square > 0 && all->sum[k] * all->sum[k] / square < least_effective * (double)places;
        all->to[k + 1] = all->to[k] + (all->poor[k] ? places : all->from[k + 1] - all->from[k]);
        any |= all->poor[k];
    }
    return any;
}

static void copy_sample(const resampling *all, size_t from, size_t to)
{
    for (int j = 0; j < all->montecarlo->problem->dimension; j++)
        all->made.x[j][to] = all->montecarlo->x[j][from];
}

/* Resamples island k systematically: sample i is copied once for each of the points (k + u) / count of the cumulated
 * weights that falls on its own weight. Samples that are near each other are beside each other in that sum, so that
 * each region of the states keeps its part of the weight to within a copy or two: if copies were drawn without regard
 * to the place, the weights of two modes would wander from update to update until one mode has all of an island. */
static void resample_island(const resampling *all, size_t k)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t count = all->to[k + 1] - all->to[k], first = first_number(montecarlo, k), from = all->from[k];
    const size_t samples = all->from[k + 1] - from;
    const double part = all->sum[k] / (double)count;
    gbees_near_sample *order = all->order + from;
    size_t i = 0;
    double u[4];

    for (size_t m = 0; m < samples; m++)
        order[m].number = from + m;
    gbees_near_order(montecarlo, samples, order);
    gbees_samples_uniforms(montecarlo->options.seed, k, montecarlo->steps, 0, SAMPLES_FOR_ISLAND, u);
    double passed = montecarlo->weight[order[i].number];
    for (size_t m = 0; m < count; m++) {
        const size_t to = all->to[k] + m;

        for (; passed < part * ((double)m + u[0]) && i + 1 < samples; passed += montecarlo->weight[order[i].number])
            i++;
        copy_sample(all, order[i].number, to);
        all->made.weight[to] = part;
        all->made.number[to] = first + m;
    }
}

static void fill_island(void *context, size_t k)
{
    const resampling *all = context;

    if (all->poor[k]) {
        resample_island(all, k);
        return;
    }
    for (size_t i = all->from[k], to = all->to[k]; i < all->from[k + 1]; i++, to++) {
        copy_sample(all, i, to);
        all->made.weight[to] = all->montecarlo->weight[i];
        all->made.number[to] = all->montecarlo->number[i];
    }
}

/* Memory for the samples after resampling, and their order. */
static int make_place(resampling *all)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;

    all->order = malloc(montecarlo->count * sizeof *all->order);
    if (all->order && !gbees_samples_lists_create(montecarlo->problem->dimension, all->to[GBEES_ISLANDS], &all->made))
        return GBEES_OK;
    free(all->order);
    return GBEES_ENOMEM;
}

/* Whether a jump to come has an error, by which copies of a sample part. */
static int is_jump_noisy(const gbees_montecarlo *montecarlo)
{
    const gbees_problem *problem = montecarlo->problem;

    for (int k = problem->instant_count - 1; k >= 0 && problem->instants[k].time > montecarlo->time; k--)
        if (problem->instants[k].has_error)
            return 1;
    return 0;
}

int gbees_montecarlo_resample(gbees_montecarlo *montecarlo, gbees_error *error)
{
    resampling all = {.montecarlo = montecarlo};

    /* Without a measurement all weights are equal. Without noise the copies of a sample would stay together. */
    if (!montecarlo->number || montecarlo->count == 0 || montecarlo->options.count < LEAST ||
        !(gbees_samples_are_noisy(montecarlo) || is_jump_noisy(montecarlo)) || !find_poor(&all))
        return GBEES_OK;
    if (make_place(&all))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory to resample %zu samples; take fewer",
                               all.to[GBEES_ISLANDS]);
    gbees_workers_run(gbees_workers_worth(montecarlo->options.threads, (double)all.to[GBEES_ISLANDS] * MOVE_NS),
                      GBEES_ISLANDS, fill_island, &all);
    free(all.order);
    gbees_samples_replace(montecarlo, &all.made, all.to[GBEES_ISLANDS]);
    montecarlo->resampled = 1;
    return GBEES_OK;
}
