/* failure.c - see failure.h. */
#include "failure.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <stdio.h>

/* Where a brick's middle is. */
static void describe_place(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, char *text,
                           size_t size)
{
    double middle[GBEES_MAX_DIM] = {0}, x[GBEES_MAX_DIM];
    size_t at = 0;

    text[0] = '\0';
    for (int j = 0; key && j < shape->n; j++) {
        double first = problem->mean[j] + problem->width[j] * ((double)key[j] * shape->edge[j]);
        double last = first + problem->width[j] * (shape->edge[j] - 1);

        middle[j] = (first + last) / 2;
    }
    gbees_problem_point(problem, middle, x);
    for (int j = 0; key && j < shape->n; j++) {
        int length =
            snprintf(text + at, size - at, "%s%s = %.6g", j ? ", " : "", problem->model->states[j].name, x[j]);

        at += length > 0 && (size_t)length < size - at ? (size_t)length : 0;
    }
}

int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error)
{
    char where[512];

    describe_place(problem, shape, key, where, sizeof where);
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the drift of %s is not finite near %s at t = %.9g: check the equations, or keep the "
                           "density away from there",
                           problem->model->name, where, time);
}

int failure_far(const gbees_problem *problem, int axis, int limit, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the density has moved more than %d bricks along %s%s: choose wider cells", limit,
                           problem->rotated ? "the turned grid's axis of " : "", problem->model->states[axis].name);
}

int failure_mass(const char *what, double time, double step, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the density has become %s at t = %.9g (step of %.3g): lower `threshold` or `courant`",
                           what, time, step);
}

int failure_step(double time, double step, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the time step has shrunk to %.3g at t = %.9g: the drift is singular there, or the "
                           "cells are far too small",
                           step, time);
}

int failure_empty(double threshold, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "no cell holds as much as the threshold %.3g: nothing is left of the density; lower "
                           "`threshold`",
                           threshold);
}

int failure_measurement(const gbees_problem *problem, const gbees_measurement *measurement, double time, int finite,
                        double log_likelihood, gbees_error *error)
{
    const gbees_model *model = problem->model;

    if (!finite)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the measurement function %s of %s is not a number on some cell at t = %.9g",
                               model->measurements[measurement->function].name, model->name, time);
    if (!(log_likelihood >= gbees_lowest_log_likelihood()))
        return gbees_error_set(error, GBEES_EUNSUPPORTED,
                               "the measurement at t = %.9g is supported by no cell: its log-likelihood is at most "
                               "%.6g (%.3g standard deviations away); check its value, unit and covariance, or lower "
                               "`threshold`",
                               time, log_likelihood, sqrt(-2 * log_likelihood));
    return 0;
}
