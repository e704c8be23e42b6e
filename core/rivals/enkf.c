/* enkf.c - the ensemble Kalman filter with perturbed observations (Burgers, van Leeuwen, Evensen, Mon. Weather Rev.
 * 126 (1998) 1719): samples that are integrated along the model's equations and moved by a linear update. */
#include "audit/samples.h"
#include "ensemble.h"
#include "observed.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* The predicted measurement of each sample, as differences from the mean of all, and their covariances. */
typedef struct prediction {
    size_t count;
    double *y[N], mean[N];
    double across[N * N], inner[N * N]; /* with states, and among each other, noise included */
} prediction;

static int create(const gbees_filter_setup *setup, void **filter, gbees_error *error)
{
    return gbees_ensemble_create(setup, sizeof(gbees_ensemble), filter, error);
}

static double mean_of(size_t count, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum / (double)count;
}

/* The covariance of two rows, the first about its mean, the second about 0. */
static double covariance_of(size_t count, const double *x, double mean, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (x[i] - mean) * y[i];
    return sum / (double)(count - 1);
}

/* Subtracts the mean of component k from the predictions. It is taken of differences from the first sample's, as the
 * component may be periodic. */
static void centre(const gbees_observed *observed, int k, prediction *p)
{
    const double first = p->y[k][0];

    for (size_t i = 0; i < p->count; i++)
        p->y[k][i] = gbees_observed_difference(observed, k, p->y[k][i], first);
    const double shift = mean_of(p->count, p->y[k]);
    for (size_t i = 0; i < p->count; i++)
        p->y[k][i] -= shift;
    p->mean[k] = first + shift;
}

static int predict(const gbees_observed *observed, const gbees_montecarlo *samples, prediction *p, gbees_error *error)
{
    const int n = observed->problem->dimension, count = observed->count;
    const int status = gbees_observed_predict(observed, p->count, (const double *const *)samples->x, p->y, error);

    if (status)
        return status;
    for (int k = 0; k < count; k++)
        centre(observed, k, p);
    for (int j = 0; j < n; j++) {
        const double mean = mean_of(p->count, samples->x[j]);

        for (int k = 0; k < count; k++)
            p->across[j * count + k] = covariance_of(p->count, samples->x[j], mean, p->y[k]);
    }
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++)
            p->inner[k * count + l] =
                covariance_of(p->count, p->y[k], 0, p->y[l]) + observed->covariance[k * count + l];
    return GBEES_OK;
}

/* Moves each sample by the gain times its own residual, whose observation has noise of its own. */
static int move_samples(const gbees_observed *observed, const prediction *p, const gbees_gain *gain,
                        const gbees_ensemble *ensemble, gbees_error *error)
{
    const gbees_montecarlo *samples = ensemble->samples;
    const int n = observed->problem->dimension, count = observed->count;
    double root[N * N], z[N], residual[N];

    memcpy(root, observed->covariance, sizeof root);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', count, root, count))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the covariance of the measurement at t = %g is not positive definite",
                               observed->measurement->time);
    for (size_t i = 0; i < p->count; i++) {
        for (int call = 0; 4 * call < count; call++)
            gbees_samples_normals(samples->options.seed, i, ensemble->updates, (uint64_t)call,
                                  SAMPLES_FOR_MEASUREMENT, &z[4 * call]);
        for (int k = 0; k < count; k++) {
            double noise = 0;

            for (int l = 0; l <= k; l++)
                noise += root[k * count + l] * z[l];
            residual[k] = gbees_observed_difference(observed, k, gbees_observed_value(observed, k) + noise,
                                                    p->mean[k] + p->y[k][i]);
        }
        for (int j = 0; j < n; j++)
            for (int k = 0; k < count; k++)
                samples->x[j][i] += gain->gain[j * count + k] * residual[k];
    }
    return GBEES_OK;
}

static int move(const gbees_observed *observed, gbees_ensemble *ensemble, prediction *p, gbees_error *error)
{
    double residual[N];
    gbees_gain gain;
    int status = predict(observed, ensemble->samples, p, error);

    for (int k = 0; k < observed->count && !status; k++)
        residual[k] = gbees_observed_difference(observed, k, gbees_observed_value(observed, k), p->mean[k]);
    if (!status)
        status = gbees_observed_gain(observed, p->across, p->inner, residual, &gain, error);
    if (!status)
        status = move_samples(observed, p, &gain, ensemble, error);
    if (!status) {
        ensemble->updates++;
        ensemble->evidence = (gbees_filter_evidence){ensemble->evidence.value + gain.log_evidence, NAN};
    }
    return status;
}

static int update(void *filter, const gbees_measurement *measurement, gbees_error *error)
{
    gbees_ensemble *ensemble = filter;
    prediction p = {.count = ensemble->samples->count};
    gbees_observed observed;
    int status = gbees_observed_set(ensemble->samples->problem, measurement, &observed, error);

    for (int k = 0; k < observed.count && !status; k++)
        if (!(p.y[k] = malloc(p.count * sizeof *p.y[k])))
            status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the measurement at t = %g",
                                     measurement->time);
    if (!status)
        status = move(&observed, ensemble, &p, error);
    for (int k = 0; k < observed.count; k++)
        free(p.y[k]);
    return status;
}

const gbees_filter gbees_filter_enkf = {.create = create, .update = update, GBEES_ENSEMBLE_FILTER};
