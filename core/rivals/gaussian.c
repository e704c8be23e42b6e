/* gaussian.c - integrates the numbers of a filter's rule by Runge and Kutta's classical method with step control,
 * and updates mean and covariance by a gain. */
#include "gaussian.h"
#include "audit/samples.h"
#include <gbees/record.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, NUMBERS = GBEES_GAUSSIAN_NUMBERS, STEPS_MOST = 1000000 /* of one advance */ };

/* The largest error of a step of Runge and Kutta's classical method, in standard deviations. */
static const double tolerance = 1e-9;

static const double origin[N];

typedef struct gaussian {
    const gbees_problem *problem;
    const gbees_gaussian_rule *rule;
    int size; /* of the numbers */
    double now[NUMBERS];
    double time, step; /* step: the last one's length, 0 before the first */
    double log_evidence;
} gaussian;

/* ---- the model's equations ---------------------------------------------------------------------------------- */

void gbees_gaussian_drift(const gbees_problem *problem, double t, size_t count, const gbees_gaussian_points *at,
                          gbees_gaussian_points *drift)
{
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    const double *x[N] = {NULL};
    double *out[N] = {NULL};

    for (int j = 0; j < problem->dimension; j++) {
        x[j] = at->x[j];
        out[j] = drift->x[j];
    }
    functions->drift_d(count, t, origin, x, problem->parameters, out);
}

void gbees_gaussian_leap(const gbees_problem *problem, const gbees_instant *instant, double t, size_t count,
                         gbees_gaussian_points *at)
{
    double *x[N] = {NULL};

    for (int j = 0; j < problem->dimension; j++)
        x[j] = at->x[j];
    gbees_instant_points(problem, instant, t, count, x);
}

void gbees_gaussian_add_noise(const gbees_problem *problem, double t, const gbees_gaussian_points *at, size_t i,
                              double weight, double *to)
{
    const gbees_functions *functions = gbees_problem_own_functions(problem);
    const int n = problem->dimension, full = problem->model->diffusion == GBEES_FULL;
    double q[N * N], *out[N * N];
    const double *x[N] = {NULL};

    if (!functions->diffusion_d)
        return;
    for (int k = 0; k < n * n; k++)
        out[k] = &q[k];
    for (int j = 0; j < n; j++)
        x[j] = &at->x[j][i];
    functions->diffusion_d(1, t, origin, x, problem->parameters, out);
    for (int k = 0; k < (full ? n * n : n); k++)
        to[full ? k : k * (n + 1)] += weight * q[k];
}

/* ---- between measurements ----------------------------------------------------------------------------------- */

/* to = from + length * rate; `to` may be `from`. */
static void add_rate(int size, const double *from, double length, const double *rate, double *to)
{
    for (int k = 0; k < size; k++)
        to[k] = from[k] + length * rate[k];
}

/* One step of Runge and Kutta's classical method. */
static int step(const gaussian *g, const double *from, double t, double dt, double *to, gbees_error *error)
{
    static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double rate[NUMBERS] = {0}, stage[NUMBERS], sum[NUMBERS];
    int status = GBEES_OK;

    memcpy(sum, from, sizeof sum);
    for (int k = 0; k < 4 && !status; k++) {
        add_rate(g->size, from, part[k] * dt, rate, stage);
        status = g->rule->rate(g->problem, t + part[k] * dt, stage, rate, error);
        if (!status)
            add_rate(g->size, sum, weight[k] * dt, rate, sum);
    }
    memcpy(to, sum, sizeof sum);
    return status;
}

/* The error of two half steps, in standard deviations: a fifteenth of the largest difference from one whole step. */
static double error_of(const gaussian *g, const double *coarse, const double *fine)
{
    const int n = g->problem->dimension;
    double std[N], scale[NUMBERS], worst = 0;
    gbees_filter_moments before, after;

    g->rule->moments(n, g->now, &before);
    g->rule->moments(n, fine, &after);
    for (int j = 0; j < n; j++)
        std[j] = sqrt(fmax(before.covariance[j * n + j], after.covariance[j * n + j]));
    g->rule->scale(n, std, scale);
    for (int k = 0; k < g->size; k++) {
        const double off = fabs(fine[k] - coarse[k]) / scale[k];

        worst = off <= worst ? worst : off; /* what is not a number is kept */
    }
    return worst / 15;
}

/* Tries a step of dt and two of half its length, whose result is taken if their difference is small enough. Sets the
 * length for the next one. */
static int try_step(gaussian *g, double dt, double *next, gbees_error *error)
{
    double coarse[NUMBERS], fine[NUMBERS], off = INFINITY;
    int status = step(g, g->now, g->time, dt, coarse, error);

    if (!status)
        status = step(g, g->now, g->time, dt / 2, fine, error);
    if (!status)
        status = step(g, fine, g->time + dt / 2, dt / 2, fine, error);
    if (!status)
        off = error_of(g, coarse, fine);
    if (off <= tolerance) {
        memcpy(g->now, fine, sizeof fine);
        g->time += dt;
    }
    *next = dt * (off <= tolerance ? fmin(2, 0.9 * pow(tolerance / fmax(off, 1e-300), 0.2)) : 0.5);
    return off <= tolerance;
}

int gbees_gaussian_advance(void *filter, double time, gbees_error *error)
{
    gaussian *g = filter;
    const double length = time - g->time, least = 1e-12 * fmax(fabs(length), fabs(time));
    gbees_error cause = {0};
    double next = g->step > 0 ? g->step : length / 64;

    for (int k = 0; k < STEPS_MOST; k++) {
        const double left = time - g->time;

        if (left <= least) {
            g->time = fmax(time, g->time);
            return GBEES_OK;
        }
        const int last = next >= left;
        if (next < least)
            break;
        const int taken = try_step(g, last ? left : next, &next, &cause);
        if (taken && !last)
            g->step = next;
    }
    return gbees_error_set(error, GBEES_ENUMERIC, "no time step is short enough at t = %g%s%s", g->time,
                           cause.text[0] ? ": " : "", cause.text);
}

int gbees_gaussian_jump(void *filter, int number, gbees_error *error)
{
    gaussian *g = filter;
    const gbees_instant *instant = &g->problem->instants[number];
    const int n = g->problem->dimension;
    gbees_filter_moments now;

    g->rule->moments(n, g->now, &now);
    const int status = g->rule->jump(g->problem, instant, g->time, &now, error);
    if (status)
        return status;
    for (int k = 0; k < n * n; k++)
        now.covariance[k] += instant->covariance[k];
    return g->rule->start(n, &now, g->now, error);
}

/* ---- the update --------------------------------------------------------------------------------------------- */

/* Adds the gain times the residual to the mean, and subtracts the gain times the covariance with the states, made
 * symmetric, from the covariance. */
static void apply(int n, int count, const double *gain, const double *residual, const double *across,
                  gbees_filter_moments *now)
{
    double change[N * N];

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < count; k++)
            now->mean[i] += gain[i * count + k] * residual[k];
        for (int j = 0; j < n; j++) {
            change[i * n + j] = 0;
            for (int k = 0; k < count; k++)
                change[i * n + j] += gain[i * count + k] * across[j * count + k];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            now->covariance[i * n + j] -= 0.5 * (change[i * n + j] + change[j * n + i]);
}

int gbees_gaussian_update(void *filter, const gbees_measurement *measurement, gbees_error *error)
{
    gaussian *g = filter;
    const int n = g->problem->dimension;
    gbees_observed observed;
    gbees_expected expected;
    gbees_filter_moments now;
    gbees_gain gain;
    double residual[N];
    int status = gbees_observed_set(g->problem, measurement, &observed, error);

    g->rule->moments(n, g->now, &now);
    if (!status)
        status = g->rule->expect(&observed, &now, &expected, error);
    for (int k = 0; k < observed.count && !status; k++)
        residual[k] = gbees_observed_difference(&observed, k, gbees_observed_value(&observed, k), expected.mean[k]);
    if (!status)
        status = gbees_observed_gain(&observed, expected.across, expected.inner, residual, &gain, error);
    if (status)
        return status;
    apply(n, observed.count, gain.gain, residual, expected.across, &now);
    g->log_evidence += gain.log_evidence;
    return g->rule->start(n, &now, g->now, error);
}

/* ---- the filter --------------------------------------------------------------------------------------------- */

int gbees_gaussian_create(const gbees_filter_setup *setup, const gbees_gaussian_rule *rule, void **filter,
                          gbees_error *error)
{
    const int n = setup->problem->dimension;
    gaussian *made = malloc(sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a filter");
    *made = (gaussian){.problem = setup->problem, .rule = rule, .size = rule->size(n), .time = setup->problem->start};
    const int status = rule->start(n, &setup->start, made->now, error);
    if (status)
        free(made);
    else
        *filter = made;
    return status;
}

int gbees_gaussian_moments(void *filter, gbees_filter_moments *moments, gbees_error *error)
{
    const gaussian *g = filter;

    (void)error;
    g->rule->moments(g->problem->dimension, g->now, moments);
    return GBEES_OK;
}

gbees_filter_evidence gbees_gaussian_evidence(const void *filter)
{
    return (gbees_filter_evidence){((const gaussian *)filter)->log_evidence, NAN};
}

const gbees_montecarlo *gbees_gaussian_samples(const void *filter)
{
    (void)filter;
    return NULL;
}

void gbees_gaussian_destroy(void *filter)
{
    free(filter);
}
