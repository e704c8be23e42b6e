/* montecarlo.c - samples made, and carried along the flow; they are drawn in start.c, follow the
 * drift in flow.c by steps that probe.c chooses, and are weighted in weight.c; their moments are in sample_moments.c.
 */
#include "base/workers.h"
#include "flow.h"
#include "samples.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = SAMPLES_BLOCK, FEWEST = 128 };

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
static void step_block(gbees_montecarlo *montecarlo, gbees_flow *work, size_t block, double t, double dt,
                       uint64_t step, double *const *x)
{
    kick(montecarlo, block, t + dt / 4, dt / 2, 2 * step, x);
    gbees_flow_step(montecarlo, work, samples_in_block(montecarlo, block), t, dt, x);
    kick(montecarlo, block, t + 3 * dt / 4, dt / 2, 2 * step + 1, x);
}

/* What all blocks of an advance share. */
typedef struct advance {
    gbees_montecarlo *montecarlo;
    double dt;
    size_t steps;
    atomic_int lost; /* whether a sample is no longer finite */
} advance;

/* Gathers the points of a block that have weight, or puts them back; returns how many there are. */
static size_t move_points(const gbees_montecarlo *montecarlo, size_t block, int back, double (*point)[BLOCK])
{
    const size_t first = block * BLOCK, count = samples_in_block(montecarlo, block);
    size_t live = 0;

    for (size_t i = 0; i < count; i++) {
        if (!(montecarlo->weight[first + i] > 0))
            continue;
        for (int j = 0; j < montecarlo->problem->dimension; j++)
            if (back)
                montecarlo->x[j][first + i] = point[j][live];
            else
                point[j][live] = montecarlo->x[j][first + i];
        live++;
    }
    return live;
}

static void check_finite(advance *all, size_t count, int n, double *const *x)
{
    double check = 0;

    for (int j = 0; j < n; j++)
        for (size_t i = 0; i < count; i++)
            check += 0 * x[j][i];
    if (!(check == 0))
        atomic_store(&all->lost, 1);
}

/* Without noise, samples without weight stay where they are. With noise all go on, as a sample's random numbers
 * belong to its place in the block. */
static void advance_block(void *context, size_t block)
{
    advance *all = context;
    gbees_montecarlo *montecarlo = all->montecarlo;
    const int n = montecarlo->problem->dimension;
    const int noisy = gbees_samples_functions(montecarlo->problem)->diffusion_d != NULL;
    double point[GBEES_MAX_DIM][BLOCK], *x[GBEES_MAX_DIM] = {NULL};
    size_t count = samples_in_block(montecarlo, block);
    gbees_flow work;

    if (!noisy)
        count = move_points(montecarlo, block, 0, point);
    for (int j = 0; j < n; j++)
        x[j] = noisy ? montecarlo->x[j] + block * BLOCK : point[j];
    for (size_t step = 0; step < all->steps && count; step++) {
        const double t = montecarlo->time + (double)step * all->dt;

        if (noisy)
            step_block(montecarlo, &work, block, t, all->dt, montecarlo->steps + step, x);
        else
            gbees_flow_step(montecarlo, &work, count, t, all->dt, x);
    }
    check_finite(all, count, n, x);
    if (!noisy)
        (void)move_points(montecarlo, block, 1, point);
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
