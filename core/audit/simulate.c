/* simulate.c - a truth drawn from a problem, and what would have been measured of it: see gbees/truth.h. */
#include "base/cholesky.h"
#include "numerics/likelihood.h"
#include "samples.h"
#include <gbees/gbees.h>
#include <math.h>
#include <string.h>

enum { SAMPLES = 128 /* by whose spread the time step is chosen; the first of them is the truth */ };

/* The error of samples from one time to the next, in standard deviations. */
static const double step_tolerance = 5e-5;

/* A seed that no audit uses: truth and samples must not share random numbers. */
static uint64_t seed_of(uint64_t seed)
{
    return seed ^ UINT64_C(1) << 63;
}

/* ---- the truth --------------------------------------------------------------------------------------------- */

static int check_times(const gbees_problem *problem, size_t count, const double *time, gbees_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!(time[i] >= (i > 0 ? time[i - 1] : problem->start)))
            return gbees_error_set(error, GBEES_EUSAGE, "times of a truth: %g comes after %g", time[i],
                                   i > 0 ? time[i - 1] : problem->start);
    return count > 0 ? GBEES_OK : gbees_error_set(error, GBEES_EUSAGE, "a truth has one time at least");
}

/* Takes the samples through the jumps up to a time, at which a truth is after them. */
static int jump(gbees_montecarlo *samples, double time, int *jumped, gbees_error *error)
{
    const gbees_problem *problem = samples->problem;
    int status = GBEES_OK;

    for (; !status && *jumped < problem->instant_count && problem->instants[*jumped].time <= time; ++*jumped) {
        const double at = problem->instants[*jumped].time;

        if (at > samples->time)
            status = gbees_montecarlo_follow(samples, at, step_tolerance, error);
        if (!status)
            status = gbees_montecarlo_jump(samples, *jumped, error);
    }
    return status;
}

/* Integrates the samples from one time of the truth to the next, and enters the first sample into it. */
static int follow(gbees_montecarlo *samples, gbees_truth *truth, gbees_error *error)
{
    const size_t n = (size_t)truth->dimension;
    int status = GBEES_OK, jumped = 0;

    for (size_t i = 0; !status && i < truth->count; i++) {
        status = jump(samples, truth->time[i], &jumped, error);
        if (!status && truth->time[i] > samples->time)
            status = gbees_montecarlo_follow(samples, truth->time[i], step_tolerance, error);
        for (size_t j = 0; !status && j < n; j++)
            truth->x[i * n + j] = samples->x[j][0];
    }
    return status;
}

int gbees_truth_simulate(const gbees_problem *problem, size_t count, const double *time, uint64_t seed,
                         gbees_truth **truth, gbees_error *error)
{
    const gbees_montecarlo_options how = {.count = SAMPLES, .step = INFINITY, .seed = seed_of(seed), .threads = 1};
    gbees_montecarlo *samples = NULL;
    gbees_truth *made = NULL;
    int status = check_times(problem, count, time, error);

    if (!status)
        status = gbees_truth_create(problem->dimension, count, &made, error);
    if (!status) {
        memcpy(made->time, time, count * sizeof *time);
        status = gbees_montecarlo_create(problem, &how, &samples, error);
    }
    if (!status)
        status = follow(samples, made, error);
    gbees_montecarlo_destroy(samples);
    if (status)
        gbees_truth_destroy(made);
    else
        *truth = made;
    return status;
}

/* ---- what is measured of it -------------------------------------------------------------------------------- */

/* A number of the gamma distribution of this shape and scale 1 (Marsaglia and Tsang, 2000). */
static double draw_gamma(double shape, uint64_t seed, uint64_t number)
{
    const double d = fmax(shape, 1 + shape * (shape < 1)) - 1.0 / 3, c = 1 / sqrt(9 * d);
    double z[4], u[4];

    for (uint64_t attempt = 1;; attempt++) {
        gbees_samples_normals(seed, number, attempt, 0, SAMPLES_FOR_MEASUREMENT, z);
        gbees_samples_uniforms(seed, number, attempt, 1, SAMPLES_FOR_MEASUREMENT, u);
        const double v = pow(1 + c * z[0], 3);

        if (v > 0 && log(1 - u[0]) < z[0] * z[0] / 2 + d - d * v + d * log(v))
            return d * v * (shape < 1 ? pow(1 - u[1], 1 / shape) : 1);
    }
}

/* Noise of the measurement's covariance, of the Gaussian or Student's t. */
static int draw_noise(const gbees_measurement *measurement, uint64_t seed, uint64_t number, double *noise,
                      gbees_error *error)
{
    const int size = measurement->size;
    const double degrees = measurement->degrees_of_freedom;
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM], z[GBEES_MAX_DIM], stretch = 1;

    if (gbees_cholesky_factor(size, measurement->covariance, factor))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the covariance of the measurement at t = %g is not positive definite",
                               measurement->time);
    for (int call = 0; 4 * call < size; call++)
        gbees_samples_normals(seed, number, 0, (uint64_t)call, SAMPLES_FOR_MEASUREMENT, &z[4 * call]);
    if (measurement->likelihood == GBEES_LIKELIHOOD_STUDENT)
        stretch = sqrt(degrees / (2 * draw_gamma(degrees / 2, seed, number)));
    for (int j = 0; j < size; j++) {
        noise[j] = 0;
        for (int k = 0; k <= j; k++)
            noise[j] += stretch * factor[j * size + k] * z[k];
    }
    return GBEES_OK;
}

int gbees_measurement_draw(const gbees_problem *problem, gbees_measurement *measurement, const double *x,
                           uint64_t seed, uint64_t number, gbees_error *error)
{
    static const double nowhere[1];
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    const double *offset[GBEES_MAX_DIM];
    double y[GBEES_MAX_DIM], noise[GBEES_MAX_DIM], *out[GBEES_MAX_DIM + 1] = {NULL};

    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL || !functions->measure_d)
        return gbees_error_set(
            error, GBEES_EINPUT,
            "the measurement at t = %g can't be drawn: %s has a likelihood for it, but no noise to "
            "draw from; give 'likelihood: gaussian' and a covariance",
            measurement->time, problem->model->name);
    int status = draw_noise(measurement, seed_of(seed), number, noise, error);
    if (status)
        return status;
    for (int j = 0; j < problem->dimension; j++)
        offset[j] = nowhere;
    for (int k = 0; k < measurement->size; k++)
        out[k] = &y[k];
    functions->measure_d(measurement->function, 1, measurement->time, x, offset, problem->parameters, out);
    for (int k = 0; k < measurement->size; k++)
        measurement->value[k] = gbees_wrapped(y[k] + noise[k], measurement->period[k]);
    return GBEES_OK;
}
