/* weight.c - Bayes' rule: samples weighted by the likelihood of a measurement. */
#include "base/workers.h"
#include "cholesky.h"
#include "numerics/likelihood.h"
#include "samples.h"
#include <math.h>
#include <stdatomic.h>

static const double origin[GBEES_MAX_DIM];

/* A sample whose weight is less than e to this power of the largest is given up. */
static const double least_log_weight = -30;

/* A measurement as residuals are judged by it: of the components that were measured. */
typedef struct judge {
    const gbees_measurement *measurement;
    int count, from[GBEES_MAX_DIM];               /* components, and which */
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* of their covariance */
} judge;

static int judge_set(const gbees_measurement *measurement, judge *by)
{
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    *by = (judge){.measurement = measurement};
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return 0;
    for (int k = 0; k < measurement->size; k++)
        if (!(measurement->missing >> k & 1))
            by->from[by->count++] = k;
    for (int j = 0; j < by->count; j++)
        for (int k = 0; k < by->count; k++)
            covariance[j * by->count + k] = measurement->covariance[by->from[j] * measurement->size + by->from[k]];
    return gbees_cholesky_factor(by->count, covariance, by->factor);
}

/* The logarithm of the likelihood, up to a constant. */
static double judge_residual(const judge *by, double (*y)[SAMPLES_BLOCK], size_t i)
{
    const gbees_measurement *m = by->measurement;
    double r[GBEES_MAX_DIM], square = 0;

    for (int k = 0; k < by->count; k++)
        r[k] = gbees_wrapped(m->value[by->from[k]] - y[by->from[k]][i], m->period[by->from[k]]);
    gbees_cholesky_solve(by->count, by->factor, r, r);
    for (int k = 0; k < by->count; k++)
        square += r[k] * r[k];
    if (m->likelihood == GBEES_LIKELIHOOD_STUDENT)
        return -(m->degrees_of_freedom + by->count) / 2 * log(1 + square / m->degrees_of_freedom);
    return -square / 2;
}

/* What all blocks of an update share. */
typedef struct update {
    gbees_montecarlo *montecarlo;
    const judge *by;
    atomic_int unsound; /* whether a logarithm is not a number; minus infinity is one, "impossible" */
} update;

static void update_block(void *context, size_t block)
{
    update *all = context;
    gbees_montecarlo *montecarlo = all->montecarlo;
    const judge *by = all->by;
    const gbees_problem *problem = montecarlo->problem;
    const gbees_measurement *m = by->measurement;
    const gbees_functions *functions = gbees_samples_functions(problem);
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    double y[GBEES_MAX_DIM][SAMPLES_BLOCK];
    double *out[GBEES_MAX_DIM + 1] = {NULL}; /* ends with NULL: how the batch knows the measurement's size */
    const double *x[GBEES_MAX_DIM] = {NULL};
    int sound = 1;

    for (int j = 0; j < problem->dimension; j++)
        x[j] = montecarlo->x[j] + first;
    for (int k = 0; k < m->size; k++)
        out[k] = y[k];
    if (m->likelihood == GBEES_LIKELIHOOD_MODEL)
        functions->log_likelihood_d(m->function, count, montecarlo->time, origin, x, problem->parameters, m->value,
                                    y[0]);
    else
        functions->measure_d(m->function, count, montecarlo->time, origin, x, problem->parameters, out);
    for (size_t i = 0; i < count; i++) {
        const double gained = m->likelihood == GBEES_LIKELIHOOD_MODEL ? y[0][i] : judge_residual(by, y, i);

        montecarlo->log_weight[first + i] += gained;
        sound &= gained < INFINITY;
    }
    if (!sound)
        atomic_store(&all->unsound, 1);
}

static int has_function(const gbees_montecarlo *montecarlo, const gbees_measurement *measurement)
{
    const gbees_functions *functions = gbees_samples_functions(montecarlo->problem);

    return measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? functions->log_likelihood_d != NULL
                                                             : functions->measure_d != NULL;
}

int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    double largest = -INFINITY;
    judge by;
    update all = {.montecarlo = montecarlo, .by = &by};

    if (!has_function(montecarlo, measurement))
        return gbees_error_set(
            error, GBEES_EMODEL, "Monte Carlo: the model '%s' has no %s", montecarlo->problem->model->name,
            measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? "likelihood of its own" : "measurement function");
    if (judge_set(measurement, &by))
        return gbees_error_set(error, GBEES_EINPUT,
                               "Monte Carlo: the covariance of the measurement at t = %g is not positive definite",
                               measurement->time);
    gbees_workers_run(montecarlo->options.threads, blocks, update_block, &all);
    const int sound = !atomic_load(&all.unsound);
    for (size_t i = 0; i < montecarlo->count; i++)
        largest = fmax(largest, montecarlo->log_weight[i]);
    if (!sound || !isfinite(largest))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               sound ? "Monte Carlo: no sample is possible after the measurement at t = %g"
                                     : "Monte Carlo: the likelihood of the measurement at t = %g is not a number at "
                                       "a sample",
                               measurement->time);
    for (size_t i = 0; i < montecarlo->count; i++) {
        montecarlo->log_weight[i] -= largest;
        if (montecarlo->log_weight[i] < least_log_weight) /* all of these together weigh nothing */
            montecarlo->log_weight[i] = -INFINITY;
        montecarlo->weight[i] = exp(montecarlo->log_weight[i]);
    }
    return GBEES_OK;
}
