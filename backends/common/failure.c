/* failure.c - writes the texts of the errors that end a run: what was found, at which time, and at which point in
 * the model's coordinates. */
#include "failure.h"
#include "numerics/diffusion.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes a point y[n] of the grid in the model's coordinates: "x = 1.5, y = 0.2". */
static void describe_point(const gbees_problem *problem, const double *y, char *text, size_t size)
{
    double x[GBEES_MAX_DIM];
    size_t at = 0;

    gbees_problem_point(problem, y, x);
    for (int j = 0; j < problem->dimension; j++) {
        int length =
            snprintf(text + at, size - at, "%s%s = %.6g", j ? ", " : "", problem->model->states[j].name, x[j]);

        at += length > 0 && (size_t)length < size - at ? (size_t)length : 0;
    }
}

/* Sets y[n] to the centre of a brick's cell, in the grid's axes. */
static void find_centre(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, int cell,
                        double *y)
{
    for (int j = 0; j < shape->n; j++)
        y[j] = problem->mean[j] +
               problem->width[j] * (double)(key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j));
}

/* Writes the centre of a brick in the model's coordinates; "" if key is NULL. */
static void describe_place(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, char *text,
                           size_t size)
{
    double middle[GBEES_MAX_DIM] = {0};

    text[0] = '\0';
    for (int j = 0; key && j < shape->n; j++) {
        double first = problem->mean[j] + problem->width[j] * ((double)key[j] * shape->edge[j]);
        double last = first + problem->width[j] * (shape->edge[j] - 1);

        middle[j] = (first + last) / 2;
    }
    if (key)
        describe_point(problem, middle, text, size);
}

/* Finds the first cell of a brick whose Q is invalid. Returns the fault, GBEES_NOISE_FINE if there is none; sets x[n]
 * to the cell's centre, q to its Q (gbees_model's order), and *axis to the axis of the fault. */
static int find_noise_fault(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                            double *x, double *q, int *axis)
{
    const int n = shape->n, full = gbees_problem_noise(problem) == GBEES_FULL;
    double over[GBEES_MAX_DIM], *out[GBEES_MAX_DIM * GBEES_MAX_DIM];
    const double zero[GBEES_MAX_DIM] = {0}, *offset[GBEES_MAX_DIM];

    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = &q[k];
    for (int cell = 0; cell < shape->cells; cell++) {
        find_centre(problem, shape, key, cell, x);
        for (int j = 0; j < n; j++) {
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

/* Sets the error for an invalid Q in a brick. Returns 0 if there is none. */
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
    double own = q[gbees_problem_noise(problem) == GBEES_FULL ? j * n + j : j];
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
        "its row for %s has %.6g on the diagonal and %.6g beside it, which must not be more; give "
        "'frame: moving', which takes noise of any correlation that is the same in all cells, change the widths or "
        "factors, or turn the states so that the noise lies along their axes",
        name, where, time, state, own / (problem->width[j] * problem->width[j]), beside);
}

/* Whether the drift at a point y[n] of the grid has a component that is not finite. */
static int is_drift_lost(const gbees_problem *problem, const double *y, double time)
{
    const double zero[GBEES_MAX_DIM] = {0}, *offset[GBEES_MAX_DIM];
    double drift[GBEES_MAX_DIM], *out[GBEES_MAX_DIM], sum = 0;

    for (int j = 0; j < problem->dimension; j++) {
        offset[j] = &y[j];
        out[j] = &drift[j];
    }
    problem->functions->drift_d(1, time, zero, offset, problem->parameters, out);
    for (int j = 0; j < problem->dimension; j++)
        sum += 0 * drift[j];
    return sum != 0; /* or not a number */
}

/* Writes where in a brick the drift is not finite: at the first face or centre of a cell, or the brick's centre. */
static void describe_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                           char *text, size_t size)
{
    const int n = shape->n;

    describe_place(problem, shape, key, text, size);
    for (int cell = 0; key && problem->functions && cell < shape->cells; cell++) {
        double y[GBEES_MAX_DIM];

        find_centre(problem, shape, key, cell, y);
        for (int face = -2 * n; face < 1; face++) { /* face 0: the centre */
            double at[GBEES_MAX_DIM];
            const int axis = (face + 2 * n) / 2;

            memcpy(at, y, sizeof at);
            if (face < 0)
                at[axis] += (face % 2 ? 0.5 : -0.5) * problem->width[axis];
            if (is_drift_lost(problem, at, time)) {
                describe_point(problem, at, text, size);
                return;
            }
        }
    }
}

int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error)
{
    char where[512];

    if (key && gbees_problem_engine_noise(problem) && failure_noise(problem, shape, key, time, error))
        return GBEES_ENUMERIC;
    describe_drift(problem, shape, key, time, where, sizeof where);
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

int failure_target(const gbees_problem *problem, double time, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the function of a target that absorbs of %s is not a number somewhere in the density at "
                           "t = %g: look for a division by zero, or a root or logarithm of a negative number",
                           problem->model->name, time);
}

int failure_step(double time, double step, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the time step has shrunk to %.3g at t = %.9g: the drift is singular there, or the "
                           "cells are far too small",
                           step, time);
}

/* The value of the last of the first `digits` digits of a positive number: 0.01 for 1.234 and three digits. */
static double last_digit(double value, int digits)
{
    return pow(10, floor(log10(value)) + 1 - digits);
}

/* The number is rounded up and the longest step down, so that the text is right, and a step of that length is
 * accepted. `rest` keeps an error in the last bits from changing a digit. */
int failure_courant(double time, double step, double number, double most, gbees_error *error)
{
    const double longest = step / number * most, rest = 1e-9;
    const double digit = last_digit(number, 3), digit_of_longest = last_digit(longest, 2);

    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the time step of %.6g at t = %.9g has Courant number %.3g, and the scheme takes at most "
                           "%.6g: give a `time_step` of at most %.2g, or leave it out",
                           step, time, ceil(number / digit - rest) * digit, most,
                           floor(longest / digit_of_longest + rest) * digit_of_longest);
}

int failure_empty(double threshold, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "no cell holds as much as the threshold %.3g: nothing is left of the density; lower "
                           "`threshold`",
                           threshold);
}

/* Writes a cell's multi-index and centre, " [3, -1] at x = 1.5, y = 0.2", as far as `size` characters hold it. */
static void name_cell(const gbees_problem *problem, const int32_t *index, char *text, size_t size)
{
    double y[GBEES_MAX_DIM];
    size_t at = 0;

    for (int j = 0; j < problem->dimension && at < size; j++) {
        const int more = snprintf(text + at, size - at, "%s%d", j ? ", " : " [", (int)index[j]);

        y[j] = problem->mean[j] + problem->width[j] * index[j];
        at += more > 0 ? (size_t)more : 0;
    }
    if (at + 5 >= size)
        return;
    memcpy(text + at, "] at ", 6);
    describe_point(problem, y, text + at + 5, size - at - 5);
}

int failure_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                       const int32_t *index, gbees_error *error)
{
    const gbees_model *model = problem->model;
    const char *name = model->measurements[measurement->function].name;
    char where[256] = "";

    if (index)
        name_cell(problem, index, where, sizeof where);
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the log-likelihood of %s for %s is not a number at t = %.9g in the cell%s: see to its "
            "log_likelihood()",
            model->name, name, time, where);
    return gbees_error_set(error, GBEES_ENUMERIC,
                           "the measurement function %s of %s is not a number on some cell at t = %.9g%s%s", name,
                           model->name, time, index ? ": that of index" : "", where);
}

int failure_unsupported(const gbees_measurement *measurement, double time, double log_likelihood, double lowest,
                        gbees_error *error)
{
    if (log_likelihood >= lowest && log_likelihood > -HUGE_VAL)
        return 0;
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return gbees_error_set(
            error, GBEES_EUNSUPPORTED,
            "the measurement at t = %.9g is supported by no cell: the model calls it impossible in "
            "all of them; check its value, give narrower cells (a larger 'factor'), or keep lighter ones (a smaller "
            "'threshold' or 'mass_budget')",
            time);
    return gbees_error_set(error, GBEES_EUNSUPPORTED,
                           "the measurement at t = %.9g is supported by no cell: its log-likelihood is at most %.6g "
                           "(%.3g standard deviations away); check its value, unit and covariance",
                           time, log_likelihood, sqrt(-2 * log_likelihood));
}
