/* montecarlo.c - samples made, and carried along the flow; they are drawn in start.c and weighted in weight.c, their
 * moments are in sample_moments.c, their step in probe.c. */
#include "samples.h"
#include "workers.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = SAMPLES_BLOCK, FEWEST = 128 };

/* Into how many parts a step may be cut. */
#define SHORTEST 1048576.0

static const double origin[GBEES_MAX_DIM];

int gbees_montecarlo_threads(const gbees_montecarlo *montecarlo)
{
    return gbees_workers_threads(montecarlo->options.threads);
}

/* ---- making ------------------------------------------------------------------------------------------------ */

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
    if (!(new = calloc(1, sizeof *new)))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory");
    *new = (gbees_montecarlo){.problem = problem,
                              .options = *options,
                              .time = problem->start,
                              .count = options->count,
                              .doubt_most = INFINITY};
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
        status = gbees_samples_draw(new, error);
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
    double second[GBEES_MAX_DIM][BLOCK];
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
    const gbees_functions *functions = gbees_samples_functions(problem);

    for (int j = 0; j < problem->dimension; j++)
        functions->component_d[j](count, t, origin, point, problem->parameters, drift[j]);
}

/* One step of Runge and Kutta's classical method.  doubt[i] is how far the drifts of the two stages in the middle
 * differ times the step, in `scale` along the worst axis: it is of third order in the step. */
static void runge_kutta(const gbees_problem *problem, stages *work, size_t count, double t, double dt,
                        double *const *x, const double *scale, double *doubt)
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
    memset(doubt, 0, count * sizeof *doubt);
    drift_at(problem, count, t, start, drift);
    stage_add(work, n, count, x, dt / 2, 1);
    drift_at(problem, count, t + dt / 2, point, drift);
    stage_add(work, n, count, x, dt / 2, 2);
    for (int j = 0; j < n; j++)
        memcpy(work->second[j], work->drift[j], count * sizeof *work->second[j]);
    drift_at(problem, count, t + dt / 2, point, drift);
    for (int j = 0; j < n; j++) {
        const double *restrict second = work->second[j], *restrict third = work->drift[j];
        const double by = dt / scale[j];

        for (size_t i = 0; i < count; i++) {
            const double off = fabs(third[i] - second[i]) * by;

            doubt[i] = off <= doubt[i] ? doubt[i] : off; /* so that what is not a number is kept */
        }
    }
    stage_add(work, n, count, x, dt, 2);
    drift_at(problem, count, t + dt, point, drift);
    for (int j = 0; j < n; j++) {
        for (size_t i = 0; i < count; i++)
            x[j][i] += dt / 6 * (work->sum[j][i] + work->drift[j][i]);
    }
}

/* Carries one point by steps that are halved until there is no doubt, or they are as short as they may be. */
static void carry_one(const gbees_problem *problem, stages *work, double t, double dt, double *x, const double *scale,
                      double most)
{
    double done = 0, part = dt / 2;
    const double least = fabs(dt) / SHORTEST;

    while (fabs(done) < fabs(dt) * (1 - 1e-12)) {
        double trial[GBEES_MAX_DIM], *at[GBEES_MAX_DIM], doubt;

        for (int j = 0; j < problem->dimension; j++) {
            trial[j] = x[j];
            at[j] = &trial[j];
        }
        runge_kutta(problem, work, 1, t + done, part, at, scale, &doubt);
        if (!(doubt <= most) && fabs(part) > least) {
            part /= 2;
            continue;
        }
        memcpy(x, trial, (size_t)problem->dimension * sizeof *x);
        done += part;
        if (doubt < most / 16)
            part *= 2;
        if (fabs(part) > fabs(dt - done))
            part = dt - done;
    }
}

/* A step of a block.  Few points are in a place where the step is too long for them, as near a singularity: these
 * take it again in parts. */
static void step_points(const gbees_montecarlo *montecarlo, stages *work, size_t count, double t, double dt,
                        double *const *x)
{
    const gbees_problem *problem = montecarlo->problem;
    const double *scale = montecarlo->scale, most = montecarlo->doubt_most;
    const int n = problem->dimension;
    double doubt[BLOCK], start[GBEES_MAX_DIM][BLOCK];

    for (int j = 0; j < n; j++)
        memcpy(start[j], x[j], count * sizeof *start[j]);
    runge_kutta(problem, work, count, t, dt, x, scale, doubt);
    for (size_t i = 0; i < count; i++) {
        double point[GBEES_MAX_DIM];

        if (doubt[i] <= most)
            continue;
        for (int j = 0; j < n; j++)
            point[j] = start[j][i];
        carry_one(problem, work, t, dt, point, scale, most);
        for (int j = 0; j < n; j++)
            x[j][i] = point[j];
    }
}

void gbees_samples_flow(const gbees_montecarlo *montecarlo, size_t count, double dt, size_t steps, double *const *x,
                        double *doubt)
{
    stages work;
    double now[BLOCK];

    memset(doubt, 0, count * sizeof *doubt);
    for (size_t step = 0; step < steps; step++) {
        runge_kutta(montecarlo->problem, &work, count, montecarlo->time + (double)step * dt, dt, x, montecarlo->scale,
                    now);
        for (size_t i = 0; i < count; i++)
            doubt[i] = now[i] <= doubt[i] ? doubt[i] : now[i];
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
    const size_t count = samples_in_block(montecarlo, block);
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM][BLOCK], factor[GBEES_MAX_DIM * GBEES_MAX_DIM], z[GBEES_MAX_DIM];
    double *out[GBEES_MAX_DIM * GBEES_MAX_DIM];

    for (int k = 0; k < (full ? n * n : n); k++)
        out[k] = q[k];
    gbees_samples_functions(problem)->diffusion_d(count, t, origin, (const double *const *)x, problem->parameters,
                                                  out);
    for (size_t i = 0; i < count; i++) {
        noise_factor(n, full, (const double(*)[BLOCK])q, i, factor);
        for (int call = 0; 4 * call < n; call++)
            gbees_samples_normals(montecarlo->options.seed, block * BLOCK + i, number, (uint64_t)call,
                                  SAMPLES_FOR_NOISE, &z[4 * call]);
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
    const int noisy = gbees_samples_functions(problem)->diffusion_d != NULL;

    if (noisy)
        kick(montecarlo, block, t + dt / 4, dt / 2, 2 * step, x);
    step_points(montecarlo, work, samples_in_block(montecarlo, block), t, dt, x);
    if (noisy)
        kick(montecarlo, block, t + 3 * dt / 4, dt / 2, 2 * step + 1, x);
}

/* What all blocks of an advance share. */
typedef struct advance {
    gbees_montecarlo *montecarlo;
    double dt;
    size_t steps;
    atomic_int lost; /* whether a sample is no longer finite */
} advance;

static void advance_block(void *context, size_t block)
{
    advance *all = context;
    gbees_montecarlo *montecarlo = all->montecarlo;
    const double dt = all->dt;
    const size_t steps = all->steps;
    const int n = montecarlo->problem->dimension;
    const size_t count = samples_in_block(montecarlo, block);
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
    if (!(check == 0))
        atomic_store(&all->lost, 1);
}

int gbees_montecarlo_advance(gbees_montecarlo *montecarlo, double time, gbees_error *error)
{
    const double length = time - montecarlo->time;
    const size_t blocks = samples_blocks(montecarlo);
    advance all = {.montecarlo = montecarlo};

    if (!isfinite(time) || length < -1e-9 * (1 + fabs(time)))
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: can't go back from t = %g to %g", montecarlo->time,
                               time);
    if (length <= 0)
        return GBEES_OK;
    all.steps = (size_t)fmax(1, ceil(length / montecarlo->options.step - 1e-9));
    all.dt = length / (double)all.steps;
    gbees_samples_find_scale(montecarlo);
    gbees_workers_run(montecarlo->options.threads, blocks, advance_block, &all);
    if (atomic_load(&all.lost))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: a sample is no longer finite between t = %g and %g; try a smaller step",
                               montecarlo->time, time);
    montecarlo->time = time;
    montecarlo->steps += all.steps;
    return GBEES_OK;
}
