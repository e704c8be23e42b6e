/* ekf.c - the extended Kalman filter: the drift and the measurement function are taken as linear about the mean
 * (Jazwinski, Stochastic Processes and Filtering Theory, 1970, section 8.3), with Jacobians by central differences.
 */
#include "gaussian.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* The mean, then one point on either side of it along each state; their distance from it. */
static void set_points(int n, const gbees_filter_moments *now, gbees_gaussian_points *at, double *distance)
{
    const double part = cbrt(DBL_EPSILON);

    for (int j = 0; j < n; j++) {
        const double size = fmax(fabs(now->mean[j]), sqrt(fmax(0, now->covariance[j * n + j])));
        const volatile double above = now->mean[j] + part * (size > 0 ? size : 1);

        distance[j] = above - now->mean[j]; /* exact: what is added below is what was added here */
        for (int i = 0; i <= 2 * n; i++)
            at->x[j][i] = now->mean[j];
        at->x[j][1 + 2 * j] += distance[j];
        at->x[j][2 + 2 * j] -= distance[j];
    }
}

/* The numbers are the mean and the covariance. */
static int size(int n)
{
    return n + n * n;
}

static int start(int n, const gbees_filter_moments *moments, double *numbers, gbees_error *error)
{
    (void)error;
    memcpy(numbers, moments->mean, (size_t)n * sizeof *numbers);
    memcpy(numbers + n, moments->covariance, (size_t)(n * n) * sizeof *numbers);
    return GBEES_OK;
}

static void get_moments(int n, const double *numbers, gbees_filter_moments *moments)
{
    *moments = (gbees_filter_moments){0};
    memcpy(moments->mean, numbers, (size_t)n * sizeof *numbers);
    memcpy(moments->covariance, numbers + n, (size_t)(n * n) * sizeof *numbers);
}

static void set_scale(int n, const double *std, double *scale)
{
    for (int j = 0; j < n; j++) {
        scale[j] = std[j];
        for (int k = 0; k < n; k++)
            scale[n + j * n + k] = std[j] * std[k];
    }
}

/* dm/dt = f(m), dP/dt = F P + P F' + Q(m). */
static int find_rate(const gbees_problem *problem, double t, const double *numbers, double *rate, gbees_error *error)
{
    const int n = problem->dimension;
    gbees_gaussian_points at, drift;
    gbees_filter_moments now;
    double distance[N], product[N * N];

    (void)error;
    get_moments(n, numbers, &now);
    set_points(n, &now, &at, distance);
    gbees_gaussian_drift(problem, t, 2 * (size_t)n + 1, &at, &drift);
    for (int i = 0; i < n; i++) {
        rate[i] = drift.x[i][0];
        for (int j = 0; j < n; j++)
            product[i * n + j] = 0;
        for (int k = 0; k < n; k++) {
            const double jacobian = (drift.x[i][1 + 2 * k] - drift.x[i][2 + 2 * k]) / (2 * distance[k]);

            for (int j = 0; j < n; j++)
                product[i * n + j] += jacobian * now.covariance[k * n + j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            rate[n + i * n + j] = product[i * n + j] + product[j * n + i];
    gbees_gaussian_add_noise(problem, t, &at, 0, 1, rate + n);
    return GBEES_OK;
}

/* m <- g(m), P <- G P G', with G the Jacobian of g. */
static int jump(const gbees_problem *problem, const gbees_instant *instant, double t, gbees_filter_moments *now,
                gbees_error *error)
{
    const int n = problem->dimension;
    gbees_gaussian_points at;
    double distance[N], jacobian[N * N], product[N * N];

    (void)error;
    set_points(n, now, &at, distance);
    gbees_gaussian_leap(problem, instant, t, 2 * (size_t)n + 1, &at);
    for (int i = 0; i < n; i++) {
        now->mean[i] = at.x[i][0];
        for (int k = 0; k < n; k++)
            jacobian[i * n + k] = (at.x[i][1 + 2 * k] - at.x[i][2 + 2 * k]) / (2 * distance[k]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            product[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                product[i * n + j] += jacobian[i * n + k] * now->covariance[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            now->covariance[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                now->covariance[i * n + j] += product[i * n + k] * jacobian[j * n + k];
        }
    return GBEES_OK;
}

static int expect(const gbees_observed *observed, const gbees_filter_moments *now, gbees_expected *expected,
                  gbees_error *error)
{
    const int n = observed->problem->dimension, count = observed->count;
    gbees_gaussian_points at;
    double distance[N], jacobian[N * N], y[N][GBEES_GAUSSIAN_POINTS], *out[N] = {NULL};
    const double *x[N] = {NULL};

    set_points(n, now, &at, distance);
    for (int j = 0; j < n; j++)
        x[j] = at.x[j];
    for (int k = 0; k < count; k++)
        out[k] = y[k];
    const int status = gbees_observed_predict(observed, 2 * (size_t)n + 1, x, out, error);
    if (status)
        return status;
    for (int k = 0; k < count; k++) {
        expected->mean[k] = y[k][0];
        for (int j = 0; j < n; j++)
            jacobian[k * n + j] =
                gbees_observed_difference(observed, k, y[k][1 + 2 * j], y[k][2 + 2 * j]) / (2 * distance[j]);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count; k++) {
            expected->across[i * count + k] = 0;
            for (int j = 0; j < n; j++)
                expected->across[i * count + k] += now->covariance[i * n + j] * jacobian[k * n + j];
        }
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++) {
            expected->inner[k * count + l] = observed->covariance[k * count + l];
            for (int i = 0; i < n; i++)
                expected->inner[k * count + l] += jacobian[k * n + i] * expected->across[i * count + l];
        }
    return GBEES_OK;
}

static int create(const gbees_filter_setup *setup, void **filter, gbees_error *error)
{
    static const gbees_gaussian_rule rule = {size, start, get_moments, set_scale, find_rate, jump, expect};

    return gbees_gaussian_create(setup, &rule, filter, error);
}

const gbees_filter gbees_filter_ekf = {.create = create, GBEES_GAUSSIAN_FILTER};
