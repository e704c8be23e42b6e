/* weight.c - Bayes' rule: samples weighted by the likelihood of a measurement. */
#include "cholesky.h"
#include "numerics/likelihood.h"
#include "samples.h"
#include "workers.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdatomic.h>

static const double origin[GBEES_MAX_DIM];

/* A sample whose weight is less than e to this power of the largest is given up. */
static const double least_log_weight = -30;

/* A measurement as residuals are judged by it: of the components that were measured. */
typedef struct judge {
    const gbees_problem *problem;
    const gbees_measurement *measurement;
    double time;
    int count, from[GBEES_MAX_DIM];               /* components, and which */
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* of their covariance */
    double log_norm;                              /* of the likelihood at a perfect match */
} judge;

static double log_norm(const judge *by)
{
    const double degrees = by->measurement->degrees_of_freedom;
    double norm = -0.5 * by->count * log(2 * acos(-1));
    int sign; /* of the gamma function: positive here */

    for (int j = 0; j < by->count; j++)
        norm -= log(by->factor[j * by->count + j]);
    if (by->measurement->likelihood == GBEES_LIKELIHOOD_STUDENT)
        norm += lgamma_r(0.5 * (degrees + by->count), &sign) - lgamma_r(0.5 * degrees, &sign) -
                0.5 * by->count * log(0.5 * degrees);
    return norm;
}

static int has_function(const gbees_problem *problem, const gbees_measurement *measurement)
{
    const gbees_functions *functions = gbees_samples_functions(problem);

    return measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? functions->log_likelihood_d != NULL
                                                             : functions->measure_d != NULL;
}

static int judge_set(const gbees_problem *problem, const gbees_measurement *measurement, double time, judge *by,
                     gbees_error *error)
{
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    *by = (judge){.problem = problem, .measurement = measurement, .time = time};
    if (!has_function(problem, measurement))
        return gbees_error_set(error, GBEES_EMODEL, "Monte Carlo: the model '%s' has no %s", problem->model->name,
                               measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? "likelihood of its own"
                                                                                 : "measurement function");
    if (measurement->likelihood == GBEES_LIKELIHOOD_MODEL)
        return 0;
    for (int k = 0; k < measurement->size; k++)
        if (!(measurement->missing >> k & 1))
            by->from[by->count++] = k;
    for (int j = 0; j < by->count; j++)
        for (int k = 0; k < by->count; k++)
            covariance[j * by->count + k] = measurement->covariance[by->from[j] * measurement->size + by->from[k]];
    if (gbees_cholesky_factor(by->count, covariance, by->factor))
        return gbees_error_set(error, GBEES_EINPUT,
                               "Monte Carlo: the covariance of the measurement at t = %g is not positive definite",
                               measurement->time);
    by->log_norm = log_norm(by);
    return GBEES_OK;
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

/* The logarithm of the likelihood at up to a block's number of points, less log_norm. */
static void judge_points(const judge *by, size_t count, const double *const *x, double *out)
{
    const gbees_problem *problem = by->problem;
    const gbees_measurement *m = by->measurement;
    const gbees_functions *functions = gbees_samples_functions(problem);
    double y[GBEES_MAX_DIM][SAMPLES_BLOCK];
    double *column[GBEES_MAX_DIM + 1] = {NULL}; /* ends with NULL: how the batch knows the measurement's size */

    for (int k = 0; k < m->size; k++)
        column[k] = y[k];
    if (m->likelihood == GBEES_LIKELIHOOD_MODEL) {
        functions->log_likelihood_d(m->function, count, by->time, origin, x, problem->parameters, m->value, out);
        return;
    }
    functions->measure_d(m->function, count, by->time, origin, x, problem->parameters, column);
    for (size_t i = 0; i < count; i++)
        out[i] = judge_residual(by, y, i);
}

int gbees_measurement_log_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                     size_t count, const double *const *x, double *out, gbees_error *error)
{
    judge by;
    int status = judge_set(problem, measurement, time, &by, error);

    for (size_t first = 0; !status && first < count; first += SAMPLES_BLOCK) {
        const size_t size = count - first < SAMPLES_BLOCK ? count - first : SAMPLES_BLOCK;
        const double *from[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < problem->dimension; j++)
            from[j] = x[j] + first;
        judge_points(&by, size, from, out + first);
        for (size_t i = first; i < first + size; i++)
            out[i] += by.log_norm;
    }
    return status;
}

/* ---- an update ---- */

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
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    const double *x[GBEES_MAX_DIM] = {NULL};
    double gained[SAMPLES_BLOCK];
    int sound = 1;

    for (int j = 0; j < montecarlo->problem->dimension; j++)
        x[j] = montecarlo->x[j] + first;
    judge_points(all->by, count, x, gained);
    for (size_t i = 0; i < count; i++) {
        montecarlo->log_weight[first + i] += gained[i];
        sound &= gained[i] < INFINITY;
    }
    if (!sound)
        atomic_store(&all->unsound, 1);
}

/* Sums of weights before (w) and after (u) an update. */
typedef struct weights {
    double w, u, ww, uu, wu;
} weights;

/* The new weights, the largest 1, and the sums. */
static weights renew(gbees_montecarlo *montecarlo, double largest)
{
    weights sum = {0};

    for (size_t i = 0; i < montecarlo->count; i++) {
        const double w = montecarlo->weight[i];

        montecarlo->log_weight[i] -= largest;
        if (montecarlo->log_weight[i] < least_log_weight) /* all of these together weigh nothing */
            montecarlo->log_weight[i] = -INFINITY;
        montecarlo->weight[i] = exp(montecarlo->log_weight[i]);
        const double u = montecarlo->weight[i];
        sum.w += w;
        sum.u += u;
        sum.ww += w * w;
        sum.uu += u * u;
        sum.wu += w * u;
    }
    return sum;
}

/* The evidence is the mean likelihood, sum u / sum w: a ratio whose relative variance is the sum of
 * (u / sum u - w / sum w)^2.  All updates together multiply equal weights by the likelihoods. */
static void estimate(gbees_montecarlo *montecarlo, const weights *sum, double log_scale)
{
    gbees_sample_evidence *evidence = &montecarlo->evidence;

    evidence->log_evidence = log_scale + log(sum->u / sum->w);
    evidence->error =
        sqrt(fmax(0, sum->uu / (sum->u * sum->u) + sum->ww / (sum->w * sum->w) - 2 * sum->wu / (sum->u * sum->w)));
    evidence->total += evidence->log_evidence;
    evidence->total_error = sqrt(fmax(0, sum->uu / (sum->u * sum->u) - 1 / (double)montecarlo->count));
    evidence->effective = sum->u * sum->u / sum->uu;
}

int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    double largest = -INFINITY;
    judge by;
    update all = {.montecarlo = montecarlo, .by = &by};
    int status = judge_set(montecarlo->problem, measurement, montecarlo->time, &by, error);

    if (status)
        return status;
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
    const weights sum = renew(montecarlo, largest);
    estimate(montecarlo, &sum, largest + by.log_norm);
    return GBEES_OK;
}
