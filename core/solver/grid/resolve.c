/* resolve.c - predicts the covariance after an update by a Kalman update at the mean, and chooses powers of two by
 * which cells must be narrower to resolve it. */
#include "resolve.h"
#include "base/memory.h"
#include "numerics/likelihood.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { N = GBEES_MAX_DIM };

static const double least_cells = 1.5, wanted_cells = 2, ample_cells = 4; /* a standard deviation */
static const double two_pi = 6.283185307179586;

/* Sets jacobian[k][n] of each component k of a measurement: its differences about a centre, from half an edge below
 * it to half an edge above it; edges: columns of [n][n]. */
static void find_differences(const gbees_problem *problem, const gbees_functions *functions, const double *centre,
                             const double *edges, const gbees_measurement *m, double time, double (*jacobian)[N])
{
    const int n = problem->dimension;
    double offset[N][2 * N], y[N][2 * N];
    const double *place[N];
    double *out[N + 1] = {0};

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            offset[i][2 * j] = -edges[i * n + j] / 2;
            offset[i][2 * j + 1] = edges[i * n + j] / 2;
        }
        place[i] = offset[i];
    }
    for (int k = 0; k < m->size; k++)
        out[k] = y[k];
    functions->measure_d(m->function, 2 * (size_t)n, time, centre, place, problem->parameters, out);
    for (int k = 0; k < m->size; k++)
        for (int j = 0; j < n; j++)
            jacobian[k][j] = gbees_wrapped(y[k][2 * j + 1] - y[k][2 * j], m->period[k]);
}

/* The same at the mean in the grid's axes, over a cell, as slopes. */
static void find_slopes(const gbees_problem *problem, const double *mean, const gbees_measurement *m, double time,
                        double (*jacobian)[N])
{
    const int n = problem->dimension;
    double edges[N * N] = {0};

    for (int j = 0; j < n; j++)
        edges[j * n + j] = problem->width[j];
    find_differences(problem, problem->functions, mean, edges, m, time, jacobian);
    for (int k = 0; k < m->size; k++)
        for (int j = 0; j < n; j++)
            jacobian[k][j] /= problem->width[j];
}

/* Sets from[] to the components that were measured, and returns their number. */
static int find_measured(const gbees_measurement *m, int *from)
{
    int count = 0;

    for (int k = 0; k < m->size; k++)
        if (!(m->missing >> k & 1))
            from[count++] = k;
    return count;
}

/* Sets variance[n] to the posterior's: C - (H C)^T (H C H^T + R)^-1 (H C). Returns 1 if there is none. */
static int predict(const gbees_problem *problem, const gbees_statistics *prior, const gbees_measurement *m,
                   double time, double *variance)
{
    const int n = problem->dimension;
    double h[N][N], hc[N * N] = {0}, gain[N * N], sum[N * N]; /* H, H C, (H C H^T + R)^-1 (H C), H C H^T + R */
    int from[N];

    find_slopes(problem, prior->mean, m, time, h);
    const int count = find_measured(m, from);
    for (int k = 0; k < count; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                hc[k * n + j] += h[from[k]][i] * prior->covariance[i * n + j];
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++) {
            sum[k * count + l] = m->covariance[from[k] * m->size + from[l]];
            for (int j = 0; j < n; j++)
                sum[k * count + l] += hc[k * n + j] * h[from[l]][j];
        }
    memcpy(gain, hc, sizeof gain);
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', count, n, sum, count, gain, n))
        return 1;
    for (int j = 0; j < n; j++) {
        variance[j] = prior->covariance[j * n + j];
        for (int k = 0; k < count; k++)
            variance[j] -= hc[k * n + j] * gain[k * n + j];
    }
    return 0;
}

/* The power of two by which cells must be narrower so that a standard deviation of so many cells has wanted_cells. */
static int powers_for(double deviation)
{
    int power = 0;

    while (power < GBEES_RESOLVE_MOST && ldexp(deviation, power) < wanted_cells)
        power++;
    return deviation < least_cells ? power : 0;
}

/* Lowers the largest power until there are at most `cells_most` cells; returns whether any power above 0 is left. */
static int limit(int n, double cells, double cells_most, int *finer)
{
    for (;;) {
        int all = 0, largest = 0;

        for (int j = 0; j < n; j++) {
            all += finer[j];
            largest = finer[j] > finer[largest] ? j : largest;
        }
        if (all == 0 || ldexp(cells, all) <= cells_most)
            return all > 0;
        finer[largest]--;
    }
}

int gbees_resolve(const gbees_problem *problem, const gbees_statistics *prior, const gbees_measurement *measurement,
                  double time, double cells_most, int *finer)
{
    const int n = problem->dimension;
    double variance[N];

    memset(finer, 0, (size_t)n * sizeof *finer);
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL || predict(problem, prior, measurement, time, variance))
        return 0;
    for (int j = 0; j < n; j++)
        finer[j] = powers_for(sqrt(fmax(variance[j], 0)) / problem->width[j]);
    return limit(n, (double)prior->cells, cells_most, finer);
}

/* The volume of a Gaussian without correlations that has the same deviations, over that of the density, by its
 * entropy; at most 1. A sheet or a ring has little volume for its deviations: it is thinner than they say. */
static double thinness(const gbees_problem *problem, const gbees_statistics *prior)
{
    const int n = problem->dimension;
    double log_ratio = prior->entropy;

    for (int j = 0; j < n; j++)
        log_ratio -= 0.5 * (1 + log(two_pi * prior->covariance[j * n + j]));
    return exp(fmin(log_ratio, 0));
}

int gbees_resolve_coarser(const gbees_problem *problem, const gbees_statistics *prior,
                          const gbees_measurement *measurement, double time, const int *level, int *coarser)
{
    const int n = problem->dimension;
    double variance[N];
    int any = 0;

    memset(coarser, 0, (size_t)n * sizeof *coarser);
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL || predict(problem, prior, measurement, time, variance))
        return 0;
    const double thin = thinness(problem, prior);
    for (int j = 0; j < n; j++) {
        const double deviation = thin * sqrt(fmax(variance[j], 0)) / problem->width[j];

        while (coarser[j] < level[j] && ldexp(deviation, -coarser[j] - 1) >= ample_cells)
            coarser[j]++;
        any |= coarser[j] > 0;
    }
    return any;
}

void gbees_resolve_information(const gbees_problem *problem, const gbees_moving_frame *frame, const double *mean,
                               const gbees_measurement *measurement, double time, double *information)
{
    const int n = frame->n;
    double h[N][N], of[N * N] = {0}, solved[N * N], covariance[N * N], centre[N];
    int count, from[N];

    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return;
    for (int i = 0; i < n; i++) {
        centre[i] = frame->m[i];
        for (int k = 0; k < n; k++)
            centre[i] += frame->a[i * n + k] * mean[k];
    }
    find_differences(problem, gbees_problem_own_functions(problem), centre, frame->a, measurement, time, h);
    count = find_measured(measurement, from);
    for (int k = 0; k < count; k++) {
        memcpy(of + k * n, h[from[k]], (size_t)n * sizeof *of);
        for (int l = 0; l < count; l++)
            covariance[k * count + l] = measurement->covariance[from[k] * measurement->size + from[l]];
    }
    memcpy(solved, of, sizeof solved);
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', count, n, covariance, count, solved, n))
        return;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                information[i * n + j] += of[k * n + i] * solved[k * n + j];
}

double gbees_resolve_cells_most(const gbees_problem *problem, double bytes)
{
    const double listed = 4.0 * problem->dimension + 8; /* bytes a cell */

    /* Beside the list there are lines of cells while it is made, and an engine holds more cells than are needed. */
    const double most = gbees_memory_of_machine() / 2;

    return (bytes > 0 ? fmin(bytes, most) : most) / (listed + 3 * 8 + 64);
}
