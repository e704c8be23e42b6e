/* update.c - Bayes' rule at a measurement (paper, Eq. 4), in log space: it can't underflow to an empty density. */
#include "engine.h"
#include "numerics/likelihood.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this a likelihood is 0 in double precision: nothing in the density speaks for the measurement. */
static const double LOWEST_LOG_LIKELIHOOD = -745.0;

typedef struct likelihood {
    const gbees_measurement *measurement;
    double time;
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double log_norm; /* of the Gaussian: -log sqrt((2 pi)^m det S) */
} likelihood;

static int prepare(const gbees_measurement *measurement, double time, likelihood *l, gbees_error *error)
{
    int m = measurement->size;

    l->measurement = measurement;
    l->time = time;
    memcpy(l->inverse, measurement->covariance, (size_t)(m * m) * sizeof *l->inverse);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', m, l->inverse, m))
        return gbees_error_set(error, GBEES_EINPUT, "measurement at t = %.9g: covariance not positive definite",
                               time);
    l->log_norm = -0.5 * m * log(6.283185307179586);
    for (int j = 0; j < m; j++)
        l->log_norm -= log(l->inverse[j * m + j]);
    (void)LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', m, l->inverse, m);
    for (int j = 0; j < m; j++)
        for (int k = j + 1; k < m; k++)
            l->inverse[j * m + k] = l->inverse[k * m + j];
    return 0;
}

/* Log-likelihoods at the centres of a brick's cells, relative to a perfect match. */
static void log_likelihoods(const gbees_engine *e, const likelihood *l, uint32_t slot, double *out)
{
    const gbees_measurement *measurement = l->measurement;
    double base[GBEES_MAX_DIM], y[GBEES_MAX_DIM][64];
    const double *offset[GBEES_MAX_DIM];
    double *column[GBEES_MAX_DIM + 1] = {0};

    engine_base(e, slot, base);
    for (int j = 0; j < e->g.shape.n; j++)
        offset[j] = e->local[j];
    for (int j = 0; j < measurement->size; j++)
        column[j] = y[j];
    e->problem->functions->measure_d(measurement->function, (size_t)e->cells, l->time, base, offset,
                                     e->problem->parameters, column);
    for (int cell = 0; cell < e->cells; cell++) {
        double residual[GBEES_MAX_DIM];

        for (int j = 0; j < measurement->size; j++)
            residual[j] = measurement->value[j] - y[j][cell];
        out[cell] = gbees_gaussian_exponent(measurement->size, residual, l->inverse);
    }
}

typedef struct best {
    double likelihood, weight; /* largest log L, largest log(P L), over cells with P > 0 */
    int finite;
} best;

static best find_best(const gbees_engine *e, const likelihood *l)
{
    double most_likely = -INFINITY, heaviest = -INFINITY;
    int finite = 1;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) reduction(max : most_likely, heaviest)             \
    reduction(&& : finite)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double log_l[64];

        log_likelihoods(e, l, e->g.used[k], log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, at + (size_t)cell);

            if (!(p > 0))
                continue;
            finite = finite && !isnan(log_l[cell]);
            most_likely = fmax(most_likely, log_l[cell]);
            heaviest = fmax(heaviest, log(p) + log_l[cell]);
        }
    }
    return (best){most_likely, heaviest, finite};
}

/* P becomes P L over its largest value. */
static void multiply(gbees_engine *e, const likelihood *l, double heaviest)
{
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;
        double log_l[64];

        log_likelihoods(e, l, e->g.used[k], log_l);
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, at + (size_t)cell);

            engine_set_p(e, at + (size_t)cell, p > 0 ? exp(log(p) + log_l[cell] - heaviest) : 0);
        }
    }
}

int engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    likelihood l;
    int status = prepare(measurement, clock->time, &l, error);

    if (status)
        return status;
    best top = find_best(e, &l);
    if (!top.finite)
        return gbees_error_set(
            error, GBEES_ENUMERIC, "the measurement function %s of %s is not a number on some cell at t = %.9g",
            e->problem->model->measurements[measurement->function].name, e->problem->model->name, clock->time);
    if (!(top.likelihood >= LOWEST_LOG_LIKELIHOOD))
        return gbees_error_set(error, GBEES_EUNSUPPORTED,
                               "the measurement at t = %.9g is supported by no cell: its log-likelihood is at most "
                               "%.6g (%.0f standard deviations away); check its value, unit and covariance, or lower "
                               "`threshold`",
                               clock->time, top.likelihood, sqrt(-2 * top.likelihood));
    multiply(e, &l, top.weight);
    double sum = engine_sum(e);
    engine_scale(e, 1 / sum);
    evidence->log_evidence = top.weight + log(sum) - log(e->mass) + l.log_norm;
    evidence->log_likelihood_max = top.likelihood;
    e->mass = engine_sum(e);
    return engine_prune(e, error);
}
