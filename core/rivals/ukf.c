/* ukf.c - the unscented Kalman filter for equations in continuous time (Sarkka, IEEE Trans. Autom. Control 52 (2007)
 * 1631), with scaled sigma points (Julier, Proc. American Control Conference 2002, 4555). */
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

/* The mean, then one point on either side of it along each column of the covariance's root. */
static int set_points(int n, const gbees_moments *now, gbees_gaussian_points *at, gbees_error *error)
{
    const double spread = sqrt(alpha * alpha * (n + kappa));
    double root[N * N];

    memcpy(root, now->covariance, (size_t)(n * n) * sizeof *root);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, root, n))
        return gbees_error_set(error, GBEES_ENUMERIC, "the covariance is no longer positive definite");
    for (int i = 0; i < n; i++) {
        at->x[i][0] = now->mean[i];
        for (int k = 0; k < n; k++) {
            const double off = k <= i ? spread * root[i * n + k] : 0;

            at->x[i][1 + 2 * k] = now->mean[i] + off;
            at->x[i][2 + 2 * k] = now->mean[i] - off;
        }
    }
    return GBEES_OK;
}

/* dm/dt = E f(x), dP/dt = E (x - m) f(x)' + E f(x) (x - m)' + E Q(x). */
static int rate(const gbees_problem *problem, double t, const gbees_moments *now, gbees_moments *rate,
                gbees_error *error)
{
    const int n = problem->dimension;
    const weights w = find_weights(n);
    gbees_gaussian_points at, drift;
    double product[N * N] = {0};
    const int status = set_points(n, now, &at, error);

    if (status)
        return status;
    *rate = (gbees_moments){0};
    gbees_gaussian_drift(problem, t, 2 * (size_t)n + 1, &at, &drift);
    for (int i = 0; i <= 2 * n; i++) {
        const double weight = i ? w.other : w.mean;

        for (int j = 0; j < n; j++) {
            rate->mean[j] += weight * drift.x[j][i];
            for (int k = 0; k < n; k++)
                product[j * n + k] += weight * (at.x[j][i] - now->mean[j]) * drift.x[k][i];
        }
        gbees_gaussian_add_noise(problem, t, &at, (size_t)i, weight, rate->covariance);
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            rate->covariance[j * n + k] += product[j * n + k] + product[k * n + j];
    return GBEES_OK;
}

/* Adds a point's share to the covariances. */
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

static int expect(const gbees_observed *observed, const gbees_moments *now, gbees_expected *expected,
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
    static const gbees_gaussian_rule rule = {rate, expect};

    return gbees_gaussian_create(setup, &rule, filter, error);
}

const gbees_filter gbees_filter_ukf = {.create = create,
                                       .advance = gbees_gaussian_advance,
                                       .update = gbees_gaussian_update,
                                       .moments = gbees_gaussian_moments,
                                       .evidence = gbees_gaussian_evidence,
                                       .samples = gbees_gaussian_samples,
                                       .destroy = gbees_gaussian_destroy};
