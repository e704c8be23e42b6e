/* failure.c - see failure.h. */
#include "failure.h"
#include "numerics/diffusion.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <stdio.h>

static void describe_point(const gbees_problem *problem, const double *x, char *text, size_t size)
{
    size_t at = 0;

    for (int j = 0; j < problem->dimension; j++) {
        int length =
            snprintf(text + at, size - at, "%s%s = %.6g", j ? ", " : "", problem->model->states[j].name, x[j]);

        at += length > 0 && (size_t)length < size - at ? (size_t)length : 0;
    }
}

/* Where a brick's middle is. */
static void describe_place(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, char *text,
                           size_t size)
{
    double x[GBEES_MAX_DIM];

    text[0] = '\0';
    for (int j = 0; key && j < shape->n; j++) {
        double first = problem->mean[j] + problem->width[j] * ((double)key[j] * shape->edge[j]);
        double last = first + problem->width[j] * (shape->edge[j] - 1);

        x[j] = (first + last) / 2;
    }
    if (key)
        describe_point(problem, x, text, size);
}

/* The first fault of Q among a brick's cells, and its axis; x: the cell. */
static int find_noise_fault(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                            double *x, double *q, int *axis)
{
    const int n = shape->n, full = problem->model->diffusion == GBEES_FULL;
    double over[GBEES_MAX_DIM], *out[GBEES_MAX_DIM * GBEES_MAX_DIM];
    const double zero[GBEES_MAX_DIM] = {0}, *offset[GBEES_MAX_DIM];

    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = &q[k];
    for (int cell = 0; cell < shape->cells; cell++) {
        for (int j = 0; j < n; j++) {
            x[j] = problem->mean[j] +
                   problem->width[j] * (double)(key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j));
            over[j] = 1 / problem->width[j];
            offset[j] = &x[j];
        }
        problem->functions->diffusion_d(1, time, zero, offset, problem->parameters, out);
        for (*axis = 0; *axis < n; ++*axis) {
            int fault = gbees_diffusion_fault(n, full, q, 1, over, *axis);

            if (fault)
                return fault;
        }
    }
    return GBEES_NOISE_FINE;
}

/* What is wrong with Q in a brick, if anything is. */
static int failure_noise(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                         gbees_error *error)
{
    double x[GBEES_MAX_DIM], q[GBEES_MAX_DIM * GBEES_MAX_DIM], beside = 0;
    const char *name = problem->model->name;
    char where[512];
    int j, n = shape->n, fault = find_noise_fault(problem, shape, key, time, x, q, &j);

    if (!fault)
        return GBEES_OK;
    describe_point(problem, x, where, sizeof where);
    const char *state = problem->model->states[j].name;
    double own = q[problem->model->diffusion == GBEES_FULL ? j * n + j : j];
    if (fault == GBEES_NOISE_NOT_FINITE)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the diffusion of %s is not finite at %s at t = %.9g: check the equations, or keep "
                               "the density away from there",
                               name, where, time);
    if (fault == GBEES_NOISE_NEGATIVE)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "the diffusion of %s is negative along %s, %.6g, at %s at t = %.9g: a variance grows "
                               "by no less than 0, on cells without probability, too",
                               name, state, own, where, time);
    for (int k = 0; k < n; k++)
        if (k != j)
            beside += fabs(q[j < k ? j * n + k : k * n + j]) / (problem->width[j] * problem->width[k]);
    return gbees_error_set(
        error, GBEES_ENUMERIC,
        "the diffusion of %s is too correlated for this grid at %s at t = %.9g: in units of cells "
        "its row for %s has %.6g on the diagonal and %.6g beside it, which must not be more; change "
        "the widths or factors, or turn the states so that the noise lies along their axes",
        name, where, time, state, own / (problem->width[j] * problem->width[j]), beside);
}

int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error)
{
    char where[512];

    if (key && problem->functions->diffusion_d && failure_noise(problem, shape, key, time, error))
        return GBEES_ENUMERIC;
    describe_place(problem, shape, key, where, sizeof where);
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the drift of %s is not finite near %s at t = %.9g: check the equations, or keep the "
                           "density away from there",
                           problem->model->name, where, time);
}

int failure_far(const gbees_problem *problem, int axis, int limit, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the density has moved more than %d bricks along %s: choose wider cells", limit,
                           problem->model->states[axis].name);
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
