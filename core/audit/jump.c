/* jump.c - takes samples through the jump of an instant, each with an error of its own; see montecarlo.h. */
#include "base/workers.h"
#include "numerics/noise_factor.h"
#include "record/instants.h"
#include "samples.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { JUMP_NS = 100 /* that a jump with an error takes for each sample, or less */ };

/* What all blocks share. */
typedef struct jump {
    const gbees_montecarlo *montecarlo;
    const gbees_instant *instant;
    uint64_t number; /* of the instant: with that of the sample it determines the error */
    double factor[GBEES_MAX_ENTRIES];
    double *to[GBEES_MAX_DIM];
    atomic_int lost; /* whether a sample is no longer finite */
} jump;

static void add_error(const jump *all, size_t i, size_t place, double *const *x)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const int n = montecarlo->problem->dimension;
    double z[GBEES_MAX_DIM];

    for (int call = 0; 4 * call < n; call++)
        gbees_samples_normals(montecarlo->options.seed, samples_number(montecarlo, i), all->number, (uint64_t)call,
                              SAMPLES_FOR_JUMP, &z[4 * call]);
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++)
            x[j][place] += all->factor[j * n + k] * z[k];
}

static void jump_block(void *context, size_t block)
{
    jump *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const int n = montecarlo->problem->dimension;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    double *x[GBEES_MAX_DIM] = {NULL}, check = 0;

    for (int j = 0; j < n; j++) {
        x[j] = all->to[j] + first;
        if (all->to[j] != montecarlo->x[j])
            memcpy(x[j], montecarlo->x[j] + first, count * sizeof *x[j]);
    }
    gbees_instant_points(montecarlo->problem, all->instant, montecarlo->time, count, x);
    for (size_t i = 0; i < count && all->instant->has_error; i++)
        add_error(all, first + i, i, x);
    for (int j = 0; j < n; j++)
        for (size_t i = 0; i < count; i++)
            check += 0 * x[j][i];
    if (!(check == 0))
        atomic_store(&all->lost, 1);
}

/* Memory for the states, if they are shared, else the samples' own. Returns 1 if there is none. */
static int open(jump *all)
{
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const int n = montecarlo->problem->dimension;
    int failed = 0;

    memcpy(all->to, montecarlo->x, sizeof all->to);
    for (int j = 0; j < n && montecarlo->shared_x; j++) {
        all->to[j] = malloc(montecarlo->count * sizeof *all->to[j]);
        failed |= !all->to[j];
    }
    for (int j = 0; j < n && failed; j++)
        free(all->to[j]);
    return failed;
}

int gbees_montecarlo_jump(gbees_montecarlo *montecarlo, int number, gbees_error *error)
{
    const gbees_problem *problem = montecarlo->problem;
    jump all = {.montecarlo = montecarlo, .instant = &problem->instants[number], .number = (uint64_t)number};

    if (montecarlo->count == 0)
        return GBEES_OK;
    if (open(&all))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for %zu samples; take fewer",
                               montecarlo->count);
    gbees_noise_factor(problem->dimension, 1, all.instant->covariance, 1, all.factor);
    gbees_workers_run(gbees_workers_worth(montecarlo->options.threads, (double)montecarlo->count * JUMP_NS),
                      samples_blocks(montecarlo), jump_block, &all);
    memcpy(montecarlo->x, all.to, sizeof all.to); /* shared ones stay with their owner */
    montecarlo->shared_x = 0;
    return atomic_load(&all.lost)
               ? gbees_error_set(error, GBEES_ENUMERIC,
                                 "Monte Carlo: a sample is not finite after the jump at t = %g", montecarlo->time)
               : gbees_samples_enter(montecarlo, error);
}
