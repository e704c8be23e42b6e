/* ensemble.c - integrates all samples over an interval (audit/flow.h), and computes moments and evidence from their
 * weights. */
#include "ensemble.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The error of samples from one record to the next, in standard deviations: far below their sampling error. */
static const double step_tolerance = 5e-5;

int gbees_ensemble_create(const gbees_filter_setup *setup, size_t size, void **filter, gbees_error *error)
{
    const gbees_montecarlo_options how = {
        .count = setup->samples, .step = INFINITY, .seed = setup->seed, .threads = setup->threads};
    gbees_ensemble *made = calloc(1, size);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a filter");
    const int status = gbees_montecarlo_create(setup->problem, &how, &made->samples, error);
    if (status)
        free(made);
    else
        *filter = made;
    return status;
}

int gbees_ensemble_advance(void *filter, double time, gbees_error *error)
{
    gbees_montecarlo *samples = ((gbees_ensemble *)filter)->samples;

    if (!(time > samples->time))
        return GBEES_OK;
    return gbees_montecarlo_follow(samples, time, step_tolerance, error);
}

int gbees_ensemble_jump(void *filter, int number, gbees_error *error)
{
    return gbees_montecarlo_jump(((gbees_ensemble *)filter)->samples, number, error);
}

int gbees_ensemble_moments(void *filter, gbees_filter_moments *moments, gbees_error *error)
{
    gbees_sample_moments of_samples;
    const int status = gbees_montecarlo_measure(((gbees_ensemble *)filter)->samples, 0, &of_samples, error);

    if (status)
        return status;
    memcpy(moments->mean, of_samples.mean, sizeof moments->mean);
    memcpy(moments->covariance, of_samples.covariance, sizeof moments->covariance);
    return GBEES_OK;
}

gbees_filter_evidence gbees_ensemble_evidence(const void *filter)
{
    return ((const gbees_ensemble *)filter)->evidence;
}

const gbees_montecarlo *gbees_ensemble_samples(const void *filter)
{
    return ((const gbees_ensemble *)filter)->samples;
}

void gbees_ensemble_destroy(void *filter)
{
    gbees_ensemble *ensemble = filter;

    if (!ensemble)
        return;
    gbees_montecarlo_destroy(ensemble->samples);
    free(ensemble);
}
