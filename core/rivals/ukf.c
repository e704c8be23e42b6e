/* ukf.c - the unscented Kalman filter with scaled sigma points (Julier, Proc. American Control Conference 2002,
 * 4555): drawn at the start and after each update, and integrated along the model's equations between them.  Process
 * noise moves a point by 1/2 Q P^-1 (x - m) in a unit of time, which adds Q to the covariance P and leaves the mean m
 * (Bergemann, Reich, Meteorol. Z. 21 (2012) 213). */
#include "gaussian.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

/* With these all weights are at least 0, so that covariances stay positive in any dimension. */
static const double alpha = 1, beta = 2, kappa = 0;

/* Weights of the points: of the first one in means and in covariances, and of each other. */
typedef struct weights {
    double mean, covariance, other;
} weights;

static weights find_weights(int n)
{
    const double spread = alpha * alpha * (n + kappa);

    return (weights){1 - n / spread, 1 - n / spread + 1 - alpha * alpha + beta, 0.5 / spread};
}

/* The mean, then one point on either side of it along each eigenvector of the covariance, which may be singular. */
static int set_points(int n, const gbees_filter_moments *now, gbees_gaussian_points *at, gbees_error *error)
{
    const double spread = sqrt(alpha * alpha * (n + kappa));
    double vectors[N * N], values[N], sum = 0;

    memcpy(vectors, now->covariance, (size_t)(n * n) * sizeof *vectors);
    for (int k = 0; k < n * n; k++)
        sum += vectors[k];
    if (!isfinite(sum) || LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, vectors, n, values))
        return gbees_error_set(error, GBEES_ENUMERIC, "the covariance is not finite");
    for (int i = 0; i < n; i++) {
        at->x[i][0] = now->mean[i];
        for (int k = 0; k < n; k++) {
            const double off = spread * sqrt(fmax(0, values[k])) * vectors[i * n + k];

            at->x[i][1 + 2 * k] = now->mean[i] + off;
            at->x[i][2 + 2 * k] = now->mean[i] - off;
        }
    }
    return GBEES_OK;
}

/* ---- the numbers are the points, one state after the other --------------------------------------------------- */

static int size(int n)
{
    return n * (2 * n + 1);
}

static int start(int n, const gbees_filter_moments *moments, double *numbers, gbees_error *error)
{
    gbees_gaussian_points at;
    const int status = set_points(n, moments, &at, error);

    for (int j = 0; j < n && !status; j++)
        memcpy(numbers + j * (2 * n + 1), at.x[j], (size_t)(2 * n + 1) * sizeof *numbers);
    return status;
}

static void get_points(int n, const double *numbers, gbees_gaussian_points *at)
{
    for (int j = 0; j < n; j++)
        memcpy(at->x[j], numbers + j * (2 * n + 1), (size_t)(2 * n + 1) * sizeof *numbers);
}

static void get_moments(int n, const double *numbers, gbees_filter_moments *moments)
{
    const weights w = find_weights(n);

    *moments = (gbees_filter_moments){0};
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= 2 * n; i++)
            moments->mean[j] += (i ? w.other : w.mean) * numbers[j * (2 * n + 1) + i];
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i <= 2 * n; i++)
                moments->covariance[j * n + k] += (i ? w.other : w.covariance) *
                                                  (numbers[j * (2 * n + 1) + i] - moments->mean[j]) *
                                                  (numbers[k * (2 * n + 1) + i] - moments->mean[k]);
}

static void set_scale(int n, const double *std, double *scale)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= 2 * n; i++)
            scale[j * (2 * n + 1) + i] = std[j];
}

/* Adds 1/2 Q P^-1 (x - m) to the drift of each point, Q the mean over the points. */
static int add_noise(const gbees_problem *problem, double t, const gbees_gaussian_points *at, const double *numbers,
                     gbees_gaussian_points *drift, gbees_error *error)
{
    const int n = problem->dimension;
    const weights w = find_weights(n);
    double q[N * N] = {0}, solved[N * GBEES_GAUSSIAN_POINTS], largest = 0;
    gbees_filter_moments now;

    for (int i = 0; i <= 2 * n; i++)
        gbees_gaussian_add_noise(problem, t, at, (size_t)i, i ? w.other : w.mean, q);
    for (int k = 0; k < n * n; k++)
        largest = fmax(largest, fabs(q[k]));
    if (largest == 0)
        return GBEES_OK;
    get_moments(n, numbers, &now);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= 2 * n; i++)
            solved[j * (2 * n + 1) + i] = at->x[j][i] - now.mean[j];
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 2 * n + 1, now.covariance, n, solved, 2 * n + 1))
        return gbees_error_set(error, GBEES_ENUMERIC, "the covariance is no longer positive definite");
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i <= 2 * n; i++)
                drift->x[j][i] += 0.5 * q[j * n + k] * solved[k * (2 * n + 1) + i];
    return GBEES_OK;
}

static int find_rate(const gbees_problem *problem, double t, const double *numbers, double *rate, gbees_error *error)
{
    const int n = problem->dimension;
    gbees_gaussian_points at, drift;

    get_points(n, numbers, &at);
    gbees_gaussian_drift(problem, t, 2 * (size_t)n + 1, &at, &drift);
    const int status = add_noise(problem, t, &at, numbers, &drift, error);
    for (int j = 0; j < n; j++)
        memcpy(rate + j * (2 * n + 1), drift.x[j], (size_t)(2 * n + 1) * sizeof *rate);
    return status;
}

/* The moments of the images of the points. */
static int jump(const gbees_problem *problem, const gbees_instant *instant, double t, gbees_filter_moments *now,
                gbees_error *error)
{
    const int n = problem->dimension;
    double numbers[GBEES_GAUSSIAN_NUMBERS];
    gbees_gaussian_points at;
    const int status = set_points(n, now, &at, error);

    if (status)
        return status;
    gbees_gaussian_leap(problem, instant, t, 2 * (size_t)n + 1, &at);
    for (int j = 0; j < n; j++)
        memcpy(numbers + j * (2 * n + 1), at.x[j], (size_t)(2 * n + 1) * sizeof *numbers);
    get_moments(n, numbers, now);
    return GBEES_OK;
}

/* ---- the update ---------------------------------------------------------------------------------------------- */

/* Adds a weighted point to the covariances. */
static void add_point(const gbees_observed *observed, double weight, const double *dx, const double *dy,
                      gbees_expected *expected)
{
    const int n = observed->problem->dimension, count = observed->count;

    for (int k = 0; k < count; k++) {
        for (int j = 0; j < n; j++)
            expected->across[j * count + k] += weight * dx[j] * dy[k];
        for (int l = 0; l < count; l++)
            expected->inner[k * count + l] += weight * dy[k] * dy[l];
    }
}

static int expect(const gbees_observed *observed, const gbees_filter_moments *now, gbees_expected *expected,
                  gbees_error *error)
{
    const int n = observed->problem->dimension, count = observed->count;
    const weights w = find_weights(n);
    gbees_gaussian_points at;
    double y[N][GBEES_GAUSSIAN_POINTS], *out[N] = {NULL}, shift[N] = {0};
    const double *x[N] = {NULL};
    int status = set_points(n, now, &at, error);

    for (int j = 0; j < n; j++)
        x[j] = at.x[j];
    for (int k = 0; k < count; k++)
        out[k] = y[k];
    if (!status)
        status = gbees_observed_predict(observed, 2 * (size_t)n + 1, x, out, error);
    if (status)
        return status;
    *expected = (gbees_expected){0};
    memcpy(expected->inner, observed->covariance, (size_t)(count * count) * sizeof *expected->inner);
    for (int k = 0; k < count; k++) { /* differences from the first point: its component may be periodic */
        for (int i = 1; i <= 2 * n; i++)
            shift[k] += w.other * gbees_observed_difference(observed, k, y[k][i], y[k][0]);
        expected->mean[k] = y[k][0] + shift[k];
    }
    for (int i = 0; i <= 2 * n; i++) {
        double dx[N], dy[N];

        for (int j = 0; j < n; j++)
            dx[j] = at.x[j][i] - now->mean[j];
        for (int k = 0; k < count; k++)
            dy[k] = gbees_observed_difference(observed, k, y[k][i], y[k][0]) - shift[k];
        add_point(observed, i ? w.other : w.covariance, dx, dy, expected);
    }
    return GBEES_OK;
}

static int create(const gbees_filter_setup *setup, void **filter, gbees_error *error)
{
    static const gbees_gaussian_rule rule = {size, start, get_moments, set_scale, find_rate, jump, expect};

    return gbees_gaussian_create(setup, &rule, filter, error);
}

const gbees_filter gbees_filter_ukf = {.create = create, GBEES_GAUSSIAN_FILTER};
