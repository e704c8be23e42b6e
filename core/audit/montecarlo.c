/* montecarlo.c - creates samples and integrates them. start.c draws them, flow.c integrates the drift by steps that
 * probe.c chooses, kick.c adds noise, walk.c looks for targets, weight.c weights them, sample_moments.c computes
 * their moments. */
#include "base/workers.h"
#include "flow.h"
#include "numerics/sample_steps.h"
#include "offload.h"
#include "samples.h"
#include "walk.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = SAMPLES_BLOCK,
    FEWEST = 128,
    CALLED_OFF = 64, /* steps after which a block asks whether to go on */
    STEP_NS = 3,     /* that a step of a sample takes for each axis */
    NOISY_NS = 60    /* the same with noise */
};

int gbees_montecarlo_threads(const gbees_montecarlo *montecarlo)
{
    return gbees_workers_threads(montecarlo->options.threads);
}

/* ---- making ------------------------------------------------------------------------------------------------ */

static double *column_create(size_t count)
{
    return malloc(count * sizeof(double));
}

/* Memory for the states of `count` samples. */
static int columns_create(int n, size_t count, double **x)
{
    for (int j = 0; j < n; j++)
        x[j] = column_create(count);
    for (int j = 0; j < n; j++)
        if (!x[j])
            return GBEES_ENOMEM;
    return GBEES_OK;
}

static void columns_free(int n, double **x)
{
    for (int j = 0; j < n; j++)
        free(x[j]);
}

/* Brings samples that have gone around a circle back to its range. */
static void go_around(gbees_montecarlo *montecarlo)
{
    for (int j = 0; j < montecarlo->problem->dimension; j++)
        for (size_t i = 0; i < montecarlo->count && gbees_problem_is_circle(montecarlo->problem, j); i++)
            montecarlo->x[j][i] = gbees_problem_around(montecarlo->problem, j, montecarlo->x[j][i]);
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
    if (!gbees_problem_absorbs(problem))
        new->options.absorbed = 0;
    new->weight = column_create(new->count);
    status = columns_create(problem->dimension, new->count, new->x);
    if (status || !new->weight)
        status =
            gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer", new->count);
    else
        status = gbees_samples_draw(new, error);
    if (!status) {
        go_around(new);
        gbees_samples_choose_probes(new);
        gbees_samples_count_again(new);
        status = gbees_samples_enter(new, error);
    }
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
    gbees_samples_release_x(montecarlo);
    gbees_samples_release_weight(montecarlo);
    free(montecarlo);
}

int gbees_montecarlo_take(gbees_montecarlo *montecarlo, const size_t *chosen, gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    const size_t count = montecarlo->options.count;
    samples_lists made = {.weight = column_create(count)}; /* samples have their places as numbers */

    if (columns_create(n, count, made.x) || !made.weight) {
        columns_free(n, made.x);
        free(made.weight);
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer", count);
    }
    for (int j = 0; j < n; j++)
        for (size_t k = 0; k < count; k++)
            made.x[j][k] = montecarlo->x[j][chosen[k]];
    for (size_t k = 0; k < count; k++)
        made.weight[k] = 1;
    gbees_samples_replace(montecarlo, &made, count);
    return GBEES_OK;
}

/* ---- integrating ------------------------------------------------------------------------------------------ */

/* What all blocks of an advance share. */
typedef struct advance {
    gbees_montecarlo *montecarlo;
    double *to[GBEES_MAX_DIM]; /* where the samples are after it; montecarlo->x itself unless that is shared */
    unsigned char *fate;       /* of each sample (walk.h); NULL: no target absorbs */
    double dt;
    size_t steps;
    atomic_int lost;    /* whether a sample is no longer finite */
    atomic_int stopped; /* whether the caller wants no more of them */
} advance;

static void check_finite(advance *all, size_t count, int n, double *const *x)
{
    double check = 0;

    for (int j = 0; j < n; j++)
        for (size_t i = 0; i < count; i++)
            check += 0 * x[j][i];
    if (!(check == 0))
        atomic_store(&all->lost, 1);
}

static int is_stopped(advance *all)
{
    const gbees_montecarlo_options *options = &all->montecarlo->options;

    if (options->cancelled && !atomic_load(&all->stopped) && options->cancelled(options->context))
        atomic_store(&all->stopped, 1);
    return atomic_load(&all->stopped);
}

static gbees_sample_steps steps_of(const advance *all, size_t block)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;

    return gbees_sample_steps_of(all->steps, all->dt, (montecarlo->problem->model->flags & GBEES_TIME_DEPENDENT) != 0,
                                 montecarlo->options.seed, block, montecarlo->steps);
}

/* The noise that is added before step k. */
static samples_noise noise_of(const gbees_montecarlo *montecarlo, const gbees_sample_steps *steps, uint64_t k)
{
    samples_noise noise = {.number = steps->number + k};

    noise.duration = gbees_sample_noise_length(steps, k, &noise.time);
    noise.time += montecarlo->time;
    return noise;
}

/* Integrates the samples of a block, in x, over all steps. Weakly of second order in the step if there is noise that
 * does not depend on the state. */
static void integrate_block(advance *all, size_t block, double *const *x)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const gbees_sample_steps steps = steps_of(all, block);
    const size_t count = samples_in_block(montecarlo, block);
    samples_kicks kicks;
    gbees_flow work;

    kicks.drawn = 0;
    for (uint64_t k = 0; k <= steps.count; k++) {
        const samples_noise noise = noise_of(montecarlo, &steps, k);

        (void)gbees_samples_kick(montecarlo, block, &noise, x, &kicks);
        if (k % CALLED_OFF == 0 && is_stopped(all))
            return;
        if (k < steps.count)
            gbees_flow_step(montecarlo, &work, count, montecarlo->time + gbees_sample_step_begin(&steps, k),
                            gbees_sample_step_length(&steps, k), x);
    }
}

/* The same, where targets absorb. */
static void watch_block(advance *all, size_t block, double *const *x)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const gbees_sample_steps steps = steps_of(all, block);
    gbees_walk walk;

    gbees_walk_begin(&walk, montecarlo, block, montecarlo->time, x, all->fate + block * BLOCK);
    for (uint64_t k = 0; k <= steps.count; k++) {
        const samples_noise noise = noise_of(montecarlo, &steps, k);
        const double begin = montecarlo->time + gbees_sample_step_begin(&steps, k);

        gbees_walk_kick(&walk, &noise);
        if (k % CALLED_OFF == 0 && is_stopped(all))
            return;
        if (k < steps.count)
            gbees_walk_flow(&walk, begin, gbees_sample_step_length(&steps, k));
        else
            gbees_walk_look(&walk, begin);
    }
}

static void advance_block(void *context, size_t block)
{
    advance *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const int n = montecarlo->problem->dimension;
    const size_t count = samples_in_block(montecarlo, block);
    double *x[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < n; j++) {
        x[j] = all->to[j] + block * BLOCK;
        if (all->to[j] != montecarlo->x[j])
            memcpy(x[j], montecarlo->x[j] + block * BLOCK, count * sizeof *x[j]);
    }
    (all->fate ? watch_block : integrate_block)(all, block, x);
    check_finite(all, count, n, x);
}

/* Looks for samples that are no longer finite. */
static void check_block(void *context, size_t block)
{
    advance *all = context;
    double *x[GBEES_MAX_DIM];

    for (int j = 0; j < all->montecarlo->problem->dimension; j++)
        x[j] = all->to[j] + block * BLOCK;
    check_finite(all, samples_in_block(all->montecarlo, block), all->montecarlo->problem->dimension, x);
}

/* Whether a backend's first block agrees with this process's own integration: all but a few samples, in which chaos
 * may have amplified rounding, to a thousandth of their spread. Certificates are only as good as the samples. */
static int agrees(advance *all)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t count = samples_in_block(montecarlo, 0);
    double point[GBEES_MAX_DIM][BLOCK], *x[GBEES_MAX_DIM] = {NULL};
    size_t off = 0;

    for (int j = 0; j < montecarlo->problem->dimension; j++) {
        memcpy(point[j], montecarlo->x[j], count * sizeof *point[j]);
        x[j] = point[j];
    }
    integrate_block(all, 0, x);
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < montecarlo->problem->dimension; j++)
            if (!(fabs(point[j][i] - all->to[j][i]) <= 1e-3 * montecarlo->scale[j])) {
                off++;
                break;
            }
    return off <= count / 32;
}

/* Integrates all samples on a backend, whose first block is checked the first time. Returns 0 if there is no backend,
 * or it can't or must not be used: it knows no targets. */
static int integrate_on_backend(const gbees_montecarlo *montecarlo, advance *all, double nanoseconds)
{
    gbees_offload *offload = montecarlo->options.offload;
    gbees_integration integration = {.count = montecarlo->count,
                                     .from = (const double *const *)montecarlo->x,
                                     .to = all->to,
                                     .number = montecarlo->number,
                                     .seed = montecarlo->options.seed,
                                     .time = montecarlo->time,
                                     .time_step = all->dt,
                                     .steps = all->steps,
                                     .first = montecarlo->steps,
                                     .doubt_most = montecarlo->doubt_most};

    memcpy(integration.scale, montecarlo->scale, sizeof integration.scale);
    if (!offload || all->fate || !gbees_offload_try(offload, &integration, nanoseconds))
        return 0;
    offload->failed = !offload->checked && !agrees(all);
    offload->checked = 1;
    return !offload->failed;
}

/* Integrates all samples over all->steps steps. States that are shared, and those that a backend not checked yet is
 * to integrate, are left as they are, and replaced by new ones. */
static int integrate(gbees_montecarlo *montecarlo, advance *all, gbees_error *error)
{
    const int n = montecarlo->problem->dimension;
    const int noisy = gbees_problem_own_functions(montecarlo->problem)->diffusion_d != NULL;
    const double work = (double)montecarlo->count * (double)all->steps * n * (noisy ? NOISY_NS : STEP_NS);
    const int threads = gbees_workers_worth(montecarlo->options.threads, work);
    const size_t blocks = samples_blocks(montecarlo);
    const gbees_offload *offload = montecarlo->options.offload;
    const int is_copied = montecarlo->shared_x || (offload && !offload->checked);

    memcpy(all->to, montecarlo->x, sizeof all->to);
    if (is_copied && columns_create(n, montecarlo->count, all->to)) {
        columns_free(n, all->to);
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer",
                               montecarlo->count);
    }
    const int on_backend = integrate_on_backend(montecarlo, all, work / threads);
    gbees_workers_run(threads, blocks, on_backend ? check_block : advance_block, all);
    if (is_copied)
        gbees_samples_release_x(montecarlo);
    memcpy(montecarlo->x, all->to, sizeof all->to);
    montecarlo->shared_x = 0;
    return GBEES_OK;
}

/* Takes the samples to `time`, all->steps steps from now. */
static int take_to(gbees_montecarlo *montecarlo, double time, advance *all, gbees_error *error)
{
    gbees_samples_find_scale(montecarlo);
    const int status = integrate(montecarlo, all, error);

    if (status)
        return status;
    if (atomic_load(&all->stopped))
        return gbees_error_set(error, GBEES_ECANCELLED, "samples were stopped before t = %g", time);
    if (atomic_load(&all->lost))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: a sample is no longer finite between t = %g and %g; try a smaller step",
                               montecarlo->time, time);
    go_around(montecarlo);
    montecarlo->time = time;
    montecarlo->steps += all->steps;
    return all->fate ? gbees_samples_take_off(montecarlo, all->fate, error) : GBEES_OK;
}

int gbees_montecarlo_advance(gbees_montecarlo *montecarlo, double time, gbees_error *error)
{
    const double length = time - montecarlo->time;
    advance all = {.montecarlo = montecarlo};

    if (!isfinite(time) || length < -1e-9 * (1 + fabs(time)))
        return gbees_error_set(error, GBEES_EUSAGE, "Monte Carlo: can't go back from t = %g to %g", montecarlo->time,
                               time);
    if (length <= 0)
        return GBEES_OK;
    all.steps = (size_t)fmax(1, ceil(length / montecarlo->options.step - 1e-9));
    all.dt = length / (double)all.steps;
    if (montecarlo->options.absorbed && !(all.fate = calloc(montecarlo->count + 1, sizeof *all.fate)))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer",
                               montecarlo->count);
    const int status = take_to(montecarlo, time, &all, error);
    free(all.fate);
    return status;
}
