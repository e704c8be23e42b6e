/* kept.c - keeps each filter's densities to be stored and drawn: see kept.h. */
#include "kept.h"
#include "rivals.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bins reach so many standard deviations from the mean, if samples do. */
static const double reach = 6;

int gbees_kept_create(const gbees_rivals *rivals, int dimension, size_t count, const gbees_reference *records,
                      gbees_compared **kept, gbees_error *error)
{
    int samples[GBEES_RIVALS_MOST];

    for (int k = 0; k < rivals->count; k++)
        samples[k] = rivals->samples[k] > 0;
    const int status = gbees_compared_create(dimension, count, rivals->count, samples, kept, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        (*kept)->leg[i] = records[i].leg;
        (*kept)->record[i] = records[i].number;
        (*kept)->time[i] = records[i].time;
    }
    for (int k = 0; k < rivals->count; k++) {
        gbees_compared_filter *filter = &(*kept)->filter[k];
        const char *name = gbees_rival_name(rivals->rival[k]);
        int before = 0;

        for (int l = 0; l < k; l++)
            before += rivals->rival[l] == rivals->rival[k];
        if (before)
            (void)snprintf(filter->name, sizeof filter->name, "%s_%d", name, before + 1);
        else
            (void)snprintf(filter->name, sizeof filter->name, "%s", name);
    }
    return GBEES_OK;
}

/* The range of samples with weight along a state, no more than `reach` from the mean. */
static void find_range(const gbees_montecarlo *samples, int j, const gbees_moments *moments, double *lo, double *hi)
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
    double sum[GBEES_COMPARED_BINS] = {0}, total = 0;

    for (size_t i = 0; i < samples->count; i++) {
        const double place = (samples->x[j][i] - lo) / width;

        total += samples->weight[i];
        if (place >= 0 && place <= GBEES_COMPARED_BINS)
            sum[place < GBEES_COMPARED_BINS ? (size_t)place : GBEES_COMPARED_BINS - 1] += samples->weight[i];
    }
    for (size_t b = 0; b < GBEES_COMPARED_BINS; b++)
        p[b] = (float)(sum[b] / total);
}

/* Whether a sample and the one before it are copies of one: a choice of samples leaves copies beside each other. */
static int is_copy(const gbees_montecarlo *samples, size_t i)
{
    for (int j = 0; j < samples->problem->dimension; j++)
        if (samples->x[j][i] != samples->x[j][i - 1])
            return 0;
    return 1;
}

/* Effective samples; copies of one count as one with their weight together. */
static double find_effective(const gbees_montecarlo *samples)
{
    double sum = 0, squares = 0, weight = 0;

    for (size_t i = 0; i < samples->count; i++) {
        if (i > 0 && !is_copy(samples, i)) {
            squares += weight * weight;
            weight = 0;
        }
        weight += samples->weight[i];
        sum += samples->weight[i];
    }
    return sum * sum / (squares + weight * weight);
}

void gbees_kept_set(gbees_compared *kept, int k, size_t i, const gbees_moments *moments,
                    const gbees_montecarlo *samples, const gbees_rival_error *found)
{
    const size_t n = (size_t)kept->dimension;
    gbees_compared_filter *filter = &kept->filter[k];
    size_t row;

    memcpy(filter->mean + i * n, moments->mean, n * sizeof(double));
    memcpy(filter->covariance + i * n * n, moments->covariance, n * n * sizeof(double));
    filter->error[0][i] = found->mean;
    filter->error[1][i] = found->std;
    filter->error[2][i] = found->kolmogorov;
    filter->error[3][i] = found->bc;
    if (!samples || !filter->p)
        return;
    filter->effective[i] = find_effective(samples);
    for (size_t j = 0; j < n && gbees_compared_row(kept, i, &row); j++) {
        double lo, hi;

        find_range(samples, (int)j, moments, &lo, &hi);
        const double width = (hi - lo) / GBEES_COMPARED_BINS;
        filter->first[row * n + j] = lo + 0.5 * width;
        filter->width[row * n + j] = width;
        count_samples(samples, (int)j, lo, width, filter->p + (row * n + j) * GBEES_COMPARED_BINS);
    }
}

void gbees_kept_finish(gbees_compared *kept, int k, const gbees_rival_result *result)
{
    gbees_compared_filter *filter = &kept->filter[k];

    filter->samples = (double)result->samples;
    filter->seconds = result->seconds;
    filter->log_evidence = result->log_evidence;
    filter->log_evidence_error = result->log_evidence_error;
    if (result->failure.status)
        (void)snprintf(filter->failure, sizeof filter->failure, "%.*s", GBEES_COMPARED_FAILURE - 1,
                       result->failure.text);
}
