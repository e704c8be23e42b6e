/* weight.c - Bayes' rule: samples weighted by the likelihood of a measurement. */
#include "base/cholesky.h"
#include "base/workers.h"
#include "islands.h"
#include "numerics/likelihood.h"
#include "samples.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double origin[GBEES_MAX_DIM];

/* A sample whose weight is less than e to this power of the largest is dropped. */
static const double least_log_weight = -30;

enum { UPDATE_NS = 50 /* that an update takes for each sample, or more */ };

/* The likelihood of a measurement's residual, of the components that were measured. */
typedef struct sample_likelihood {
    const gbees_problem *problem;
    const gbees_measurement *measurement;
    double time;
    int count, from[GBEES_MAX_DIM];                                       /* components, and which */
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM];                         /* of their covariance */
    double log_norm;                                                      /* of the likelihood at a perfect match */
    double period[GBEES_MAX_DIM], inverse[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* the latter if there are periods */
    gbees_periods periods;
    int is_summed; /* whether it is a sum over periods: a Gaussian, by the inverse */
} sample_likelihood;

static double log_norm(const sample_likelihood *by)
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

/* Sets what sums over periods need, if a Gaussian's components have some. */
static int set_periods(sample_likelihood *by, gbees_error *error)
{
    double more;
    int any = 0;

    for (int k = 0; k < by->count; k++) {
        by->period[k] = by->measurement->period[by->from[k]];
        any |= by->period[k] > 0;
    }
    if (!any || by->measurement->likelihood != GBEES_LIKELIHOOD_GAUSSIAN)
        return GBEES_OK;
    gbees_cholesky_inverse(by->count, by->factor, by->inverse);
    if (gbees_periods_set(&by->periods, by->count, by->period, by->inverse, &more))
        return gbees_error_set(error, GBEES_EINPUT,
                               "Monte Carlo: the components with periods of the measurement at t = %g are too "
                               "correlated for their deviations, of many periods",
                               by->measurement->time);
    by->log_norm += more;
    by->is_summed = 1;
    return GBEES_OK;
}

static int has_function(const gbees_problem *problem, const gbees_measurement *measurement)
{
    const gbees_functions *functions = gbees_samples_functions(problem);

    return measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? functions->log_likelihood_d != NULL
                                                             : functions->measure_d != NULL;
}

static int set_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                          sample_likelihood *by, gbees_error *error)
{
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM] = {0};

    *by = (sample_likelihood){.problem = problem, .measurement = measurement, .time = time};
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
    return set_periods(by, error);
}

/* The logarithm of the likelihood, up to a constant. */
static double residual_log_likelihood(const sample_likelihood *by, double (*y)[SAMPLES_BLOCK], size_t i)
{
    const gbees_measurement *m = by->measurement;
    double r[GBEES_MAX_DIM], square = 0;

    for (int k = 0; k < by->count; k++)
        r[k] = gbees_wrapped(m->value[by->from[k]] - y[by->from[k]][i], by->period[k]);
    if (by->is_summed)
        return gbees_periods_exponent(&by->periods, by->count, r, by->inverse, by->period,
                                      gbees_gaussian_exponent(by->count, r, by->inverse));
    gbees_cholesky_solve(by->count, by->factor, r, r);
    for (int k = 0; k < by->count; k++)
        square += r[k] * r[k];
    if (m->likelihood == GBEES_LIKELIHOOD_STUDENT)
        return -(m->degrees_of_freedom + by->count) / 2 * log(1 + square / m->degrees_of_freedom);
    return -square / 2;
}

/* The logarithm of the likelihood at up to a block's number of points, less log_norm. */
static void log_likelihoods(const sample_likelihood *by, size_t count, const double *const *x, double *out)
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
        out[i] = residual_log_likelihood(by, y, i);
}

int gbees_measurement_log_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                     size_t count, const double *const *x, double *out, gbees_error *error)
{
    sample_likelihood by;
    int status = set_likelihood(problem, measurement, time, &by, error);

    for (size_t first = 0; !status && first < count; first += SAMPLES_BLOCK) {
        const size_t size = count - first < SAMPLES_BLOCK ? count - first : SAMPLES_BLOCK;
        const double *from[GBEES_MAX_DIM] = {NULL};

        for (int j = 0; j < problem->dimension; j++)
            from[j] = x[j] + first;
        log_likelihoods(&by, size, from, out + first);
        for (size_t i = first; i < first + size; i++)
            out[i] += by.log_norm;
    }
    return status;
}

int gbees_measurement_log_peak(const gbees_problem *problem, const gbees_measurement *measurement, double *log_peak,
                               gbees_error *error)
{
    sample_likelihood by;
    const int status = set_likelihood(problem, measurement, measurement->time, &by, error);

    *log_peak = measurement->likelihood == GBEES_LIKELIHOOD_MODEL ? NAN : by.log_norm;
    return status;
}

/* ---- an update ---- */

/* Sums of weights before (w) and after (u) an update. */
typedef struct weights {
    double w, u, ww, uu, wu;
} weights;

/* What all blocks of an update share. */
typedef struct update {
    const gbees_montecarlo *montecarlo;
    const sample_likelihood *by;
    double *log_weight;           /* after the update */
    double *largest;              /* of each block */
    double most;                  /* of all */
    size_t *live;                 /* of each block: samples that keep weight; then those of the blocks before it */
    weights *sums;                /* of each block */
    gbees_island_weights islands; /* if the samples have been resampled */
    atomic_int invalid;           /* whether a logarithm is not a number; minus infinity is one, "impossible" */
    double *x[GBEES_MAX_DIM], *weight; /* of the samples that keep weight */
    uint64_t *number;
} update;

static void update_block(void *context, size_t block)
{
    update *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    const double *x[GBEES_MAX_DIM] = {NULL};
    double gained[SAMPLES_BLOCK], largest = -INFINITY;
    int sound = 1;

    for (int j = 0; j < montecarlo->problem->dimension; j++)
        x[j] = montecarlo->x[j] + first;
    log_likelihoods(all->by, count, x, gained);
    for (size_t i = 0; i < count; i++) {
        all->log_weight[first + i] = log(montecarlo->weight[first + i]) + gained[i];
        largest = fmax(largest, all->log_weight[first + i]);
        sound &= gained[i] < INFINITY;
    }
    all->largest[block] = largest;
    if (!sound)
        atomic_store(&all->invalid, 1);
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
    evidence->total_error = sqrt(fmax(0, sum->uu / (sum->u * sum->u) - 1 / (double)montecarlo->options.count));
    evidence->effective = sum->u * sum->u / sum->uu;
}

/* Counts the samples of a block that keep weight, and sums its weights. */
static void count_block(void *context, size_t block)
{
    update *all = context;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(all->montecarlo, block);

    weights sum = {0};
    size_t live = 0;

    for (size_t i = first; i < first + count; i++) {
        const double log_weight = all->log_weight[i] - all->most, w = all->montecarlo->weight[i];
        const int lives = log_weight >= least_log_weight;
        const double u = lives ? exp(log_weight) : 0;

        live += (size_t)lives;
        sum.w += w;
        sum.u += u;
        sum.ww += w * w;
        sum.uu += u * u;
        sum.wu += w * u;
    }
    all->live[block] = live;
    all->sums[block] = sum;
}

/* The sums of all blocks, in their order: the same for any number of threads. */
static weights sum_blocks(const weights *sums, size_t blocks)
{
    weights sum = {0};

    for (size_t block = 0; block < blocks; block++) {
        sum.w += sums[block].w;
        sum.u += sums[block].u;
        sum.ww += sums[block].ww;
        sum.uu += sums[block].uu;
        sum.wu += sums[block].wu;
    }
    return sum;
}

/* Sums the weights of an island. */
static void sum_island(void *context, size_t island)
{
    update *all = context;
    const size_t last = gbees_islands_first(all->montecarlo, island + 1);
    double before = 0, after = 0;

    for (size_t i = gbees_islands_first(all->montecarlo, island); i < last; i++) {
        const double log_weight = all->log_weight[i] - all->most;

        before += all->montecarlo->weight[i];
        after += log_weight >= least_log_weight ? exp(log_weight) : 0;
    }
    all->islands.before[island] = before;
    all->islands.after[island] = after;
}

/* Copies the samples of a block that keep weight to the new arrays. */
static void move_block(void *context, size_t block)
{
    update *all = context;
    const gbees_montecarlo *montecarlo = all->montecarlo;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(montecarlo, block);
    size_t to = all->live[block];

    for (size_t i = first; i < first + count; i++) {
        const double log_weight = all->log_weight[i] - all->most;

        if (!(log_weight >= least_log_weight)) /* all of these together weigh nothing */
            continue;
        for (int j = 0; j < montecarlo->problem->dimension; j++)
            all->x[j][to] = montecarlo->x[j][i];
        all->number[to] = samples_number(montecarlo, i);
        all->weight[to++] = exp(log_weight);
    }
}

/* Replaces the samples by those that keep weight. */
static int drop_weightless(gbees_montecarlo *montecarlo, update *all, int threads)
{
    const size_t blocks = samples_blocks(montecarlo);
    const int n = montecarlo->problem->dimension;
    size_t live = 0;
    int status = GBEES_OK;

    for (size_t block = 0; block < blocks; block++) {
        const size_t here = all->live[block];

        all->live[block] = live;
        live += here;
    }
    all->weight = malloc((live + 1) * sizeof *all->weight);
    all->number = malloc((live + 1) * sizeof *all->number);
    for (int j = 0; j < n; j++)
        if (!(all->x[j] = malloc((live + 1) * sizeof *all->x[j])))
            status = GBEES_ENOMEM;
    if (status || !all->weight || !all->number) {
        for (int j = 0; j < n; j++)
            free(all->x[j]);
        free(all->weight);
        free(all->number);
        return GBEES_ENOMEM;
    }
    gbees_workers_run(threads, blocks, move_block, all);
    gbees_samples_release_x(montecarlo);
    gbees_samples_release_weight(montecarlo);
    memcpy(montecarlo->x, all->x, sizeof all->x);
    montecarlo->weight = all->weight;
    montecarlo->number = all->number;
    montecarlo->shared_x = montecarlo->shared_weight = 0;
    montecarlo->count = live;
    return GBEES_OK;
}

/* Weights all samples, whose memory `all` has. */
static int weigh(gbees_montecarlo *montecarlo, update *all, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    const double time = all->by->measurement->time;
    const int threads = gbees_workers_worth(montecarlo->options.threads, (double)montecarlo->count * UPDATE_NS);

    gbees_workers_run(threads, blocks, update_block, all);
    all->most = -INFINITY;
    for (size_t block = 0; block < blocks; block++)
        all->most = fmax(all->most, all->largest[block]);
    if (atomic_load(&all->invalid))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: the likelihood of the measurement at t = %g is not a number at a sample",
                               time);
    if (!isfinite(all->most))
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "Monte Carlo: no sample is possible after the measurement at t = %g", time);
    gbees_workers_run(threads, blocks, count_block, all);
    const weights sum = sum_blocks(all->sums, blocks);
    estimate(montecarlo, &sum, all->most + all->by->log_norm);
    if (montecarlo->resampled) {
        gbees_workers_run(threads, GBEES_ISLANDS, sum_island, all);
        gbees_islands_estimate(&all->islands, &montecarlo->evidence);
    }
    if (drop_weightless(montecarlo, all, threads))
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for the measurement at t = %g", time);
    gbees_samples_choose_probes(montecarlo);
    return GBEES_OK;
}

int gbees_montecarlo_update(gbees_montecarlo *montecarlo, const gbees_measurement *measurement, gbees_error *error)
{
    const size_t blocks = samples_blocks(montecarlo);
    sample_likelihood by;
    update all = {.montecarlo = montecarlo, .by = &by};
    int status = set_likelihood(montecarlo->problem, measurement, montecarlo->time, &by, error);

    if (status)
        return status;
    all.log_weight = malloc(montecarlo->count * sizeof *all.log_weight);
    all.largest = malloc(blocks * sizeof *all.largest);
    all.live = malloc(blocks * sizeof *all.live);
    all.sums = malloc(blocks * sizeof *all.sums);
    status = all.log_weight && all.largest && all.live && all.sums
                 ? weigh(montecarlo, &all, error)
                 : gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for the measurement at t = %g",
                                   measurement->time);
    free(all.log_weight);
    free(all.largest);
    free(all.live);
    free(all.sums);
    return status;
}
