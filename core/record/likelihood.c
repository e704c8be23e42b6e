/* likelihood.c - the residual of what was measured of a point, its Gaussian, Student's or wrapped density, or the
 * model's own likelihood. */
#include "likelihood.h"
#include "base/cholesky.h"
#include <math.h>
#include <string.h>

static const double origin[GBEES_MAX_DIM];

static double log_norm(const gbees_point_likelihood *by)
{
    const double degrees = by->measurement->degrees_of_freedom;
    double norm = -0.5 * by->count * log(2 * acos(-1));
    int sign; /* of the gamma function: positive here */

    for (int j = 0; j < by->count; j++)
        norm -= log(by->factor[j * by->count + j]);
    if (by->measurement->likelihood == GBEES_LIKELIHOOD_STUDENT)
        norm += lgamma_r(0.5 * (degrees + by->count), &sign) - lgamma_r(0.5 * degrees, &sign) -
                0.5 * by->count * log(0.5 * degrees);
    return norm;
}

/* Sets what sums over periods need, if a Gaussian's components have some. */
static int set_periods(gbees_point_likelihood *by, gbees_error *error)
{
    double more;
    int any = 0;

    for (int k = 0; k < by->count; k++) {
        by->period[k] = by->measurement->period[by->from[k]];
        any |= by->period[k] > 0;
    }
    if (!any || by->measurement->likelihood != GBEES_LIKELIHOOD_GAUSSIAN)
        return GBEES_OK;
    gbees_cholesky_inverse(by->count, by->factor, by->inverse);
    if (gbees_periods_set(&by->periods, by->count, by->period, by->inverse, &more))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the components with periods of the measurement at t = %g are too "
                               "correlated for their deviations, of many periods",
                               by->measurement->time);
    by->log_norm += more;
    by->is_summed = 1;
    return GBEES_OK;
}

static int has_function(const gbees_problem *problem, const gbees_measurement *measurement)
{
    const gbees_functions *functions = gbees_problem_own_functions(problem);

    return measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? functions->log_likelihood_d != NULL
                                                             : functions->measure_d != NULL;
}

int gbees_point_likelihood_set(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                               gbees_point_likelihood *by, gbees_error *error)
{
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    *by = (gbees_point_likelihood){.problem = problem, .measurement = measurement, .time = time};
    if (!has_function(problem, measurement))
        return gbees_error_set(error, GBEES_EMODEL, "the model '%s' has no %s", problem->model->name,
                               measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? "likelihood of its own"
                                                                                 : "measurement function");
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return 0;
    for (int k = 0; k < measurement->size; k++)
        if (!(measurement->missing >> k & 1))
            by->from[by->count++] = k;
    for (int j = 0; j < by->count; j++)
        for (int k = 0; k < by->count; k++)
            covariance[j * by->count + k] = measurement->covariance[by->from[j] * measurement->size + by->from[k]];
    if (gbees_cholesky_factor(by->count, covariance, by->factor))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the covariance of the measurement at t = %g is not positive definite",
                               measurement->time);
    by->log_norm = log_norm(by);
    return set_periods(by, error);
}

/* What is measured of points, y[k][i]. */
static void measure(const gbees_point_likelihood *by, size_t count, const double *const *x,
                    double (*y)[GBEES_LIKELIHOOD_BLOCK])
{
    double *column[GBEES_MAX_DIM + 1] = {NULL}; /* ends with NULL: how the batch knows the measurement's size */

    for (int k = 0; k < by->measurement->size; k++)
        column[k] = y[k];
    gbees_problem_own_functions(by->problem)
        ->measure_d(by->measurement->function, count, by->time, origin, x, by->problem->parameters, column);
}

/* The residual of component k, of point i. */
static double residual(const gbees_point_likelihood *by, double (*y)[GBEES_LIKELIHOOD_BLOCK], int k, size_t i)
{
    return gbees_wrapped(by->measurement->value[by->from[k]] - y[by->from[k]][i], by->period[k]);
}

int gbees_measurement_residuals(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                size_t count, const double *const *x, double *r, gbees_residual_law *law,
                                gbees_error *error)
{
    gbees_point_likelihood by;
    const int status = gbees_point_likelihood_set(problem, measurement, time, &by, error);

    if (status)
        return status;
    *law = (gbees_residual_law){.size = by.count, .log_peak = by.log_norm};
    memcpy(law->period, by.period, sizeof law->period);
    gbees_cholesky_inverse(by.count, by.factor, law->inverse);
    for (size_t first = 0; first < count; first += GBEES_LIKELIHOOD_BLOCK) {
        const size_t size = count - first < GBEES_LIKELIHOOD_BLOCK ? count - first : GBEES_LIKELIHOOD_BLOCK;
        const double *from[GBEES_MAX_DIM] = {NULL};
        double y[GBEES_MAX_DIM][GBEES_LIKELIHOOD_BLOCK];

        for (int j = 0; j < problem->dimension; j++)
            from[j] = x[j] + first;
        measure(&by, size, from, y);
        for (size_t i = 0; i < size; i++)
            for (int k = 0; k < by.count; k++)
                r[(first + i) * (size_t)by.count + (size_t)k] = residual(&by, y, k, i);
    }
    return GBEES_OK;
}

/* The logarithm of the likelihood, up to a constant. */
static double residual_log_likelihood(const gbees_point_likelihood *by, double (*y)[GBEES_LIKELIHOOD_BLOCK], size_t i)
{
    const gbees_measurement *m = by->measurement;
    double r[GBEES_MAX_DIM], square = 0;

    for (int k = 0; k < by->count; k++)
        r[k] = residual(by, y, k, i);
    if (by->is_summed)
        return gbees_periods_exponent(&by->periods, by->count, r, by->inverse, by->period,
                                      gbees_gaussian_exponent(by->count, r, by->inverse));
    gbees_cholesky_solve(by->count, by->factor, r, r);
    for (int k = 0; k < by->count; k++)
        square += r[k] * r[k];
    if (m->likelihood == GBEES_LIKELIHOOD_STUDENT)
        return -(m->degrees_of_freedom + by->count) / 2 * log(1 + square / m->degrees_of_freedom);
    return -square / 2;
}

void gbees_point_likelihoods(const gbees_point_likelihood *by, size_t count, const double *const *x, double *out)
{
    const gbees_measurement *m = by->measurement;
    double y[GBEES_MAX_DIM][GBEES_LIKELIHOOD_BLOCK];

    if (m->likelihood == GBEES_LIKELIHOOD_MODEL) {
        gbees_problem_own_functions(by->problem)
            ->log_likelihood_d(m->function, count, by->time, origin, x, by->problem->parameters, m->value, out);
        return;
    }
    measure(by, count, x, y);
    for (size_t i = 0; i < count; i++)
        out[i] = residual_log_likelihood(by, y, i);
}

int gbees_measurement_log_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                     size_t count, const double *const *x, double *out, gbees_error *error)
{
    gbees_point_likelihood by;
    int status = gbees_point_likelihood_set(problem, measurement, time, &by, error);

    for (size_t first = 0; !status && first < count; first += GBEES_LIKELIHOOD_BLOCK) {
        const size_t size = count - first < GBEES_LIKELIHOOD_BLOCK ? count - first : GBEES_LIKELIHOOD_BLOCK;
        const double *from[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < problem->dimension; j++)
            from[j] = x[j] + first;
        gbees_point_likelihoods(&by, size, from, out + first);
        for (size_t i = first; i < first + size; i++)
            out[i] += by.log_norm;
    }
    return status;
}

int gbees_measurement_log_peak(const gbees_problem *problem, const gbees_measurement *measurement, double *log_peak,
                               gbees_error *error)
{
    gbees_point_likelihood by;
    const int status = gbees_point_likelihood_set(problem, measurement, measurement->time, &by, error);

    *log_peak = measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? NAN : by.log_norm;
    return status;
}
