/* densities.c - keeps the densities of a filter: see densities.h. */
#include "densities.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins reach so many standard deviations from the mean, if samples do. */
static const double reach = 6;

int gbees_rival_densities_create(size_t n, size_t count, int has_samples, gbees_rival_densities *kept,
                                 gbees_error *error)
{
    const size_t numbers = count * n * (n + 3), bins = has_samples ? count * n * GBEES_RIVAL_BINS : 0;
    double *at = malloc((numbers + 1) * sizeof *at);
    float *p = has_samples ? malloc((bins + 1) * sizeof *p) : NULL;

    if (!at || (has_samples && !p)) {
        free(at);
        free(p);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to keep what a filter finds at %zu records",
                               count);
    }
    for (size_t i = 0; i < numbers; i++)
        at[i] = NAN;
    for (size_t i = 0; i < bins; i++)
        p[i] = NAN;
    kept->mean = at; /* the block; the others are in it */
    kept->covariance = kept->mean + count * n;
    kept->first = kept->covariance + count * n * n;
    kept->width = kept->first + count * n;
    kept->p = p;
    return GBEES_OK;
}

void gbees_rival_densities_clear(gbees_rival_densities *kept)
{
    free(kept->mean);
    free(kept->p);
    *kept = (gbees_rival_densities){0};
}

/* The range of samples with weight along a state, no more than `reach` from the mean. */
static void find_range(const gbees_montecarlo *samples, int j, const gbees_filter_moments *moments, double *lo,
                       double *hi)
{
    const double mean = moments->mean[j],
                 std = sqrt(fmax(0, moments->covariance[j * samples->problem->dimension + j]));

    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < samples->count; i++)
        if (samples->weight[i] > 0) {
            *lo = fmin(*lo, samples->x[j][i]);
            *hi = fmax(*hi, samples->x[j][i]);
        }
    *lo = fmax(*lo, mean - reach * std);
    *hi = fmin(*hi, mean + reach * std);
    if (!(*hi > *lo)) { /* all samples are at one place */
        const double least = 1e-9 * fabs(mean) + 1e-300;

        *lo = mean - least;
        *hi = mean + least;
    }
}

/* Sets the probabilities of the bins along a state. */
static void count_samples(const gbees_montecarlo *samples, int j, double lo, double width, float *p)
{
    double sum[GBEES_RIVAL_BINS] = {0}, total = 0;

    for (size_t i = 0; i < samples->count; i++) {
        const double place = (samples->x[j][i] - lo) / width;

        total += samples->weight[i];
        if (place >= 0 && place <= GBEES_RIVAL_BINS)
            sum[place < GBEES_RIVAL_BINS ? (size_t)place : GBEES_RIVAL_BINS - 1] += samples->weight[i];
    }
    for (size_t b = 0; b < GBEES_RIVAL_BINS; b++)
        p[b] = (float)(sum[b] / total);
}

void gbees_rival_densities_set(gbees_rival_densities *kept, size_t i, const gbees_filter_moments *moments,
                               const gbees_montecarlo *samples, size_t n)
{
    memcpy(kept->mean + i * n, moments->mean, n * sizeof(double));
    memcpy(kept->covariance + i * n * n, moments->covariance, n * n * sizeof(double));
    for (size_t j = 0; j < n && samples; j++) {
        double lo, hi;

        find_range(samples, (int)j, moments, &lo, &hi);
        const double width = (hi - lo) / GBEES_RIVAL_BINS;
        kept->first[i * n + j] = lo + 0.5 * width;
        kept->width[i * n + j] = width;
        count_samples(samples, (int)j, lo, width, kept->p + (i * n + j) * GBEES_RIVAL_BINS);
    }
}
