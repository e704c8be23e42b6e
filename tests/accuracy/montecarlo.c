/* montecarlo.c - drawing, carrying and weighting the samples; their moments are in moments.c. */
#include "montecarlo.h"
#include "cholesky.h"
#include "numerics/likelihood.h"
#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { BLOCK = 512, ATTEMPTS = 10000, FEWEST = 128 };

static const double origin[GBEES_MAX_DIM];

static size_t block_count(const gbees_montecarlo *montecarlo)
{
    return (montecarlo->count + BLOCK - 1) / BLOCK;
}

static size_t block_size(const gbees_montecarlo *montecarlo, size_t block)
{
    size_t left = montecarlo->count - block * BLOCK;

    return left < BLOCK ? left : BLOCK;
}

int gbees_montecarlo_threads(const gbees_montecarlo *montecarlo)
{
    if (montecarlo->options.threads > 0)
        return montecarlo->options.threads;
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* ---- drawing ---------------------------------------------------------------------------------------------- */

/* What random numbers are for: none is used twice. */
enum { FOR_START, FOR_NOISE };

/* Box-Muller on four 53-bit numbers of one Philox call: four independent standard normals. */
static void draw_four(uint64_t seed, uint64_t sample, uint64_t attempt, uint64_t call, uint64_t purpose, double z[4])
{
    const philox4x64_ctr_t counter = {{sample, attempt, call, purpose}};
    const philox4x64_key_t key = {{seed, 0}};
    const philox4x64_ctr_t bits = philox4x64(counter, key);

    for (int i = 0; i < 4; i += 2) {
        double u = (double)((bits.v[i] >> 11) + 1) * 0x1p-53; /* (0, 1]: its logarithm is finite */
        double angle = (double)(bits.v[i + 1] >> 11) * 0x1p-53 * 6.283185307179586;
        double radius = sqrt(-2 * log(u));

        z[i] = radius * cos(angle);
        z[i + 1] = radius * sin(angle);
    }
}

static int inside_box(const gbees_problem *problem, const double *offset)
{
    for (int j = 0; j < problem->dimension; j++) {
        if (fabs(offset[j]) > (problem->extent[j] + 0.5) * problem->width[j])
            return 0;
    }
    return 1;
}

static int draw_sample(gbees_montecarlo *montecarlo, const double *factor, size_t sample)
{
    const gbees_problem *problem = montecarlo->problem;
    const int n = problem->dimension;
    double z[GBEES_MAX_DIM], offset[GBEES_MAX_DIM];
    int accepted = 0;

    for (uint64_t attempt = 0; attempt < ATTEMPTS && !accepted; attempt++) {
        for (int call = 0; 4 * call < n; call++)
            draw_four(montecarlo->options.seed, sample, attempt, (uint64_t)call, FOR_START, &z[4 * call]);
        for (int j = 0; j < n; j++) {
            offset[j] = 0;
            for (int k = 0; k <= j; k++)
                offset[j] += factor[j * n + k] * z[k];
        }
        accepted = !montecarlo->options.cut || inside_box(problem, offset);
    }
    for (int j = 0; j < n; j++)
        montecarlo->x[j][sample] = problem->mean[j] + offset[j];
    montecarlo->log_weight[sample] = 0;
    montecarlo->weight[sample] = 1;
    return accepted;
}

static int draw_all(gbees_montecarlo *montecarlo, gbees_error *error)
{
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int refused = 0;

    if (montecarlo->problem->rotated)
        return gbees_error_set(error, GBEES_EINPUT,
                               "Monte Carlo: samples are drawn along the model's axes: give a "
                               "scenario without 'rotate: yes'");
    if (gbees_cholesky_factor(montecarlo->problem->dimension, montecarlo->problem->covariance, factor))
        return gbees_error_set(error, GBEES_EINPUT, "Monte Carlo: the initial covariance is not positive definite");
#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo)) reduction(| : refused)
    for (size_t i = 0; i < montecarlo->count; i++)
        refused |= !draw_sample(montecarlo, factor, i);
    if (refused)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "Monte Carlo: the grid's initial box holds hardly any of the Gaussian; don't cut it");
    return GBEES_OK;
}

static double *column_create(size_t count)
{
    return calloc(count, sizeof(double));
}

int gbees_montecarlo_create(const gbees_problem *problem, const gbees_montecarlo_options *options,
                            gbees_montecarlo **montecarlo, gbees_error *error)
{
    gbees_montecarlo *new;
    int status;

    if (options->count < FEWEST || !(options->step > 0))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "Monte Carlo: at least %d samples and a time step above 0, please", FEWEST);
    if (problem->gaussian_count > 0 || problem->cells)
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: from one Gaussian alone, not with 'initial'");
    if (!(new = calloc(1, sizeof *new)))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory");
    *new = (gbees_montecarlo){problem, *options, problem->start, 0, options->count, {NULL}, NULL, NULL};
    new->log_weight = column_create(new->count);
    new->weight = column_create(new->count);
    status = (new->log_weight &&new->weight) ? GBEES_OK : GBEES_ENOMEM;
    for (int j = 0; j < problem->dimension; j++) {
        if (!(new->x[j] = column_create(new->count)))
            status = GBEES_ENOMEM;
    }
    if (status)
        gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer", new->count);
    else
        status = draw_all(new, error);
    if (status)
        gbees_montecarlo_destroy(new);
    else
        *montecarlo = new;
    return status;
}

void gbees_montecarlo_destroy(gbees_montecarlo *montecarlo)
{
    if (!montecarlo)
        return;
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(montecarlo->x[j]);
    free(montecarlo->log_weight);
    free(montecarlo->weight);
    free(montecarlo);
}

/* ---- carrying --------------------------------------------------------------------------------------------- */

/* The points of a block between two stages, the drift at one stage, and the drifts' weighted sum. */
typedef struct stages {
    double point[GBEES_MAX_DIM][BLOCK], drift[GBEES_MAX_DIM][BLOCK], sum[GBEES_MAX_DIM][BLOCK];
} stages;

/* point = x + scale * drift; sum (+)= weight * drift. */
static void stage_add(stages *work, int n, size_t count, double *const *x, double scale, double weight)
{
    for (int j = 0; j < n; j++) {
        double *restrict point = work->point[j], *restrict sum = work->sum[j];
        const double *restrict from = x[j], *restrict drift = work->drift[j];

        for (size_t i = 0; i < count; i++) {
            point[i] = from[i] + scale * drift[i];
            sum[i] += weight * drift[i];
        }
    }
}

/* One component at a time: those functions are vectorised, that of the whole drift need not be. */
static void drift_at(const gbees_problem *problem, size_t count, double t, const double *const *point,
                     double *const *drift)
{
    for (int j = 0; j < problem->dimension; j++)
        problem->functions->component_d[j](count, t, origin, point, problem->parameters, drift[j]);
}

static void runge_kutta(const gbees_problem *problem, stages *work, size_t count, double t, double dt,
                        double *const *x)
{
    const int n = problem->dimension;
    double *drift[GBEES_MAX_DIM];
    const double *point[GBEES_MAX_DIM], *start[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        start[j] = x[j];
        point[j] = work->point[j];
        drift[j] = work->drift[j];
        memset(work->sum[j], 0, count * sizeof *work->sum[j]);
    }
    drift_at(problem, count, t, start, drift);
    stage_add(work, n, count, x, dt / 2, 1);
    drift_at(problem, count, t + dt / 2, point, drift);
    stage_add(work, n, count, x, dt / 2, 2);
    drift_at(problem, count, t + dt / 2, point, drift);
    stage_add(work, n, count, x, dt, 2);
    drift_at(problem, count, t + dt, point, drift);
    for (int j = 0; j < n; j++) {
        for (size_t i = 0; i < count; i++)
            x[j][i] += dt / 6 * (work->sum[j][i] + work->drift[j][i]);
    }
}

/* A root of Q, lower triangular; axes without noise of their own have a row of zeros. */
static void noise_factor(int n, int full, const double (*q)[BLOCK], size_t i, double *factor)
{
    memset(factor, 0, sizeof *factor * (size_t)(n * n));
    for (int j = 0; j < n; j++)
        for (int k = full ? 0 : j; k <= j; k++) {
            double rest = q[full ? k * n + j : j][i];

            for (int l = 0; l < k; l++)
                rest -= factor[j * n + l] * factor[k * n + l];
            if (k == j)
                factor[j * n + j] = rest > 0 ? sqrt(rest) : 0;
            else if (factor[k * n + k] > 0)
                factor[j * n + k] = rest / factor[k * n + k];
        }
}

/* Euler and Maruyama's part: noise of a duration, with Q where the samples are before it (Ito). */
static void kick(const gbees_montecarlo *montecarlo, size_t block, double t, double duration, uint64_t number,
                 double *const *x)
{
    const gbees_problem *problem = montecarlo->problem;
    const int n = problem->dimension, full = problem->model->diffusion == GBEES_FULL;
    const size_t count = block_size(montecarlo, block);
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][BLOCK], factor[GBEES_MAX_DIM * GBEES_MAX_DIM], z[GBEES_MAX_DIM];
    double *out[GBEES_MAX_DIM * GBEES_MAX_DIM];

    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = q[k];
    problem->functions->diffusion_d(count, t, origin, (const double *const *)x, problem->parameters, out);
    for (size_t i = 0; i < count; i++) {
        noise_factor(n, full, (const double(*)[BLOCK])q, i, factor);
        for (int call = 0; 4 * call < n; call++)
            draw_four(montecarlo->options.seed, block * BLOCK + i, number, (uint64_t)call, FOR_NOISE, &z[4 * call]);
        for (int j = 0; j < n; j++)
            for (int k = 0; k <= j; k++)
                x[j][i] += sqrt(duration) * factor[j * n + k] * z[k];
    }
}

/* Half of the noise, the drift, the other half: where Q does not depend on the state, of second order in law. */
static void step_block(gbees_montecarlo *montecarlo, stages *work, size_t block, double t, double dt, uint64_t step,
                       double *const *x)
{
    const gbees_problem *problem = montecarlo->problem;
    const int noisy = problem->functions->diffusion_d != NULL;

    if (noisy)
        kick(montecarlo, block, t + dt / 4, dt / 2, 2 * step, x);
    runge_kutta(problem, work, block_size(montecarlo, block), t, dt, x);
    if (noisy)
        kick(montecarlo, block, t + 3 * dt / 4, dt / 2, 2 * step + 1, x);
}

/* Returns whether all its samples stayed finite. */
static int advance_block(gbees_montecarlo *montecarlo, size_t block, double dt, size_t steps)
{
    const int n = montecarlo->problem->dimension;
    const size_t count = block_size(montecarlo, block);
    double *x[GBEES_MAX_DIM] = {NULL};
    double check = 0;
    stages work;

    for (int j = 0; j < n; j++)
        x[j] = montecarlo->x[j] + block * BLOCK;
    for (size_t step = 0; step < steps; step++)
        step_block(montecarlo, &work, block, montecarlo->time + (double)step * dt, dt, montecarlo->steps + step, x);
    for (int j = 0; j < n; j++) {
        for (size_t i = 0; i < count; i++)
            check += 0 * x[j][i];
    }
    return check == 0;
}

int gbees_montecarlo_advance(gbees_montecarlo *montecarlo, double time, gbees_error *error)
{
    const double length = time - montecarlo->time;
    const size_t blocks = block_count(montecarlo);
    size_t steps;
    double dt;
    int lost = 0;

    if (!isfinite(time) || length < -1e-9 * (1 + fabs(time)))
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: can't go back from t = %g to %g", montecarlo->time,
                               time);
    if (length <= 0)
        return GBEES_OK;
    steps = (size_t)fmax(1, ceil(length / montecarlo->options.step - 1e-9));
    dt = length / (double)steps;
#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo)) schedule(dynamic, 4) reduction(| : lost)
    for (size_t block = 0; block < blocks; block++)
        lost |= !advance_block(montecarlo, block, dt, steps);
    if (lost)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: a sample is no longer finite between t = %g and %g; try a smaller step",
                               montecarlo->time, time);
    montecarlo->time = time;
    montecarlo->steps += steps;
    return GBEES_OK;
}

/* ---- weighting -------------------------------------------------------------------------------------------- */

static void update_block(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, const double *factor,
                         size_t block)
{
    const gbees_problem *problem = montecarlo->problem;
    const size_t first = block * BLOCK, count = block_size(montecarlo, block);
    double y[GBEES_MAX_DIM][BLOCK], r[GBEES_MAX_DIM];
    double *out[GBEES_MAX_DIM + 1] = {NULL}; /* ends with NULL: how the batch knows the measurement's size */
    const double *x[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < problem->dimension; j++)
        x[j] = montecarlo->x[j] + first;
    for (int k = 0; k < measurement->size; k++)
        out[k] = y[k];
    problem->functions->measure_d(measurement->function, count, montecarlo->time, origin, x, problem->parameters,
                                  out);
    for (size_t i = 0; i < count; i++) {
        double square = 0;

        for (int k = 0; k < measurement->size; k++)
            r[k] = gbees_wrapped(measurement->value[k] - y[k][i], measurement->period[k]);
        gbees_cholesky_solve(measurement->size, factor, r, r);
        for (int k = 0; k < measurement->size; k++)
            square += r[k] * r[k];
        montecarlo->log_weight[first + i] -= square / 2;
    }
}

int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error)
{
    const size_t blocks = block_count(montecarlo);
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM], largest = -INFINITY;

    if (!montecarlo->problem->functions->measure_d)
        return gbees_error_set(error, GBEES_EMODEL, "Monte Carlo: the model '%s' has no measurement function",
                               montecarlo->problem->model->name);
    if (measurement->missing || measurement->likelihood != GBEES_LIKELIHOOD_GAUSSIAN)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "Monte Carlo: whole measurements with Gaussian noise alone: not that at t = %g",
                               measurement->time);
    if (gbees_cholesky_factor(measurement->size, measurement->covariance, factor))
        return gbees_error_set(error, GBEES_EINPUT,
                               "Monte Carlo: the covariance of the measurement at t = %g is not positive definite",
                               measurement->time);
#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo)) reduction(max : largest)
    for (size_t block = 0; block < blocks; block++) {
        update_block(montecarlo, measurement, factor, block);
        for (size_t i = block * BLOCK; i < block * BLOCK + block_size(montecarlo, block); i++)
            largest = fmax(largest, montecarlo->log_weight[i]);
    }
    if (!isfinite(largest))
        return gbees_error_set(error, GBEES_ENUMERIC, "Monte Carlo: the measurement at t = %g is not finite anywhere",
                               measurement->time);
#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo))
    for (size_t i = 0; i < montecarlo->count; i++) {
        montecarlo->log_weight[i] -= largest;
        montecarlo->weight[i] = exp(montecarlo->log_weight[i]);
    }
    return GBEES_OK;
}
