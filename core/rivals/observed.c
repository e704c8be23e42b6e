/* observed.c - leaves out the components that were not measured, and solves for the gain C H^T (H C H^T + R)^-1 and
 * the evidence by a Cholesky factor. */
#include "observed.h"
#include "audit/samples.h"
#include "base/cholesky.h"
#include "numerics/likelihood.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* The factor from the matrix of a likelihood to the covariance of its noise; NAN: there is none. */
static double covariance_factor(const gbees_measurement *measurement)
{
    const double degrees = measurement->degrees_of_freedom;

    if (measurement->likelihood == GBEES_LIKELIHOOD_STUDENT)
        return degrees > 2 ? degrees / (degrees - 2) : NAN;
    return measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? NAN : 1;
}

int gbees_observed_set(const gbees_problem *problem, const gbees_measurement *measurement, gbees_observed *observed,
                       gbees_error *error)
{
    const double factor = covariance_factor(measurement);

    *observed = (gbees_observed){.problem = problem, .measurement = measurement};
    if (isnan(factor))
        return gbees_error_set(error, GBEES_EMODEL,
                               "the measurement at t = %g has %s, so that a linear update has no covariance for it; "
                               "mc and pf take it",
                               measurement->time,
                               measurement->likelihood == GBEES_LIKELIHOOD_MODEL
                                   ? "the model's own likelihood"
                                   : "a Student's t of at most 2 degrees of freedom");
    if (!gbees_problem_own_functions(problem)->measure_d)
        return gbees_error_set(error, GBEES_EMODEL, "the model '%s' has no measurement function",
                               problem->model->name);
    for (int k = 0; k < measurement->size; k++)
        if (!(measurement->missing >> k & 1))
            observed->from[observed->count++] = k;
    for (int j = 0; j < observed->count; j++)
        for (int k = 0; k < observed->count; k++)
            observed->covariance[j * observed->count + k] =
                factor * measurement->covariance[observed->from[j] * measurement->size + observed->from[k]];
    return GBEES_OK;
}

int gbees_observed_predict(const gbees_observed *observed, size_t count, const double *const *x, double *const *y,
                           gbees_error *error)
{
    static const double origin[N];
    const gbees_problem *problem = observed->problem;
    const gbees_measurement *measurement = observed->measurement;
    double *unmeasured = malloc(count * sizeof *unmeasured);
    double *out[N + 1] = {NULL}; /* ends with NULL: how the batch knows the measurement's size */

    if (!unmeasured)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the measurement at t = %g",
                               measurement->time);
    for (int k = 0; k < measurement->size; k++)
        out[k] = unmeasured;
    for (int k = 0; k < observed->count; k++)
        out[observed->from[k]] = y[k];
    gbees_problem_own_functions(problem)->measure_d(measurement->function, count, measurement->time, origin, x,
                                                    problem->parameters, out);
    free(unmeasured);
    return GBEES_OK;
}

double gbees_observed_difference(const gbees_observed *observed, int k, double a, double b)
{
    return gbees_wrapped(a - b, observed->measurement->period[observed->from[k]]);
}

double gbees_observed_value(const gbees_observed *observed, int k)
{
    return observed->measurement->value[observed->from[k]];
}

/* Adds the logarithm of a Gaussian, over its peak, to *log_evidence: of a residual and of all that are whole periods
 * from it. factor: of the covariance; square: of the residual in deviations. */
static int add_residual(const gbees_observed *observed, const double *factor, const double *residual, double square,
                        double *log_evidence, gbees_error *error)
{
    const int count = observed->count;
    double inverse[N * N], period[N], log_factor;
    gbees_periods periods;

    gbees_cholesky_inverse(count, factor, inverse);
    for (int k = 0; k < count; k++)
        period[k] = observed->measurement->period[observed->from[k]];
    if (gbees_periods_set(&periods, count, period, inverse, &log_factor))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the components with periods that are expected at t = %g are too correlated for their "
                               "deviations, of many periods",
                               observed->measurement->time);
    if (log_factor != 0 || periods.count > 0)
        *log_evidence += log_factor + gbees_periods_exponent(&periods, count, residual, inverse, period,
                                                             gbees_gaussian_exponent(count, residual, inverse));
    else
        *log_evidence -= 0.5 * square;
    return GBEES_OK;
}

int gbees_observed_gain(const gbees_observed *observed, const double *across, const double *inner,
                        const double *residual, gbees_gain *gain, gbees_error *error)
{
    const int n = observed->problem->dimension, count = observed->count;
    double factor[N * N], solved[N * (N + 1)], square = 0;

    memcpy(factor, inner, (size_t)(count * count) * sizeof *factor);
    for (int k = 0; k < count; k++) { /* columns: the rows of `across`, then the residual */
        for (int j = 0; j < n; j++)
            solved[k * (n + 1) + j] = across[j * count + k];
        solved[k * (n + 1) + n] = residual[k];
    }
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', count, factor, count) ||
        LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', count, n + 1, factor, count, solved, n + 1))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "what is expected to be measured at t = %g has a covariance that is not positive "
                               "definite",
                               observed->measurement->time);
    gain->log_evidence = -0.5 * count * log(2 * acos(-1));
    for (int k = 0; k < count; k++) {
        gain->log_evidence -= log(factor[k * count + k]);
        square += residual[k] * solved[k * (n + 1) + n];
        for (int j = 0; j < n; j++)
            gain->gain[j * count + k] = solved[k * (n + 1) + j];
    }
    return add_residual(observed, factor, residual, square, &gain->log_evidence, error);
}
