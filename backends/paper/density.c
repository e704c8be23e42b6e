/* density.c - what is done with the density between steps: Bayes' rule (Eq. 4), its statistics, its cells. */
#include "common/failure.h"
#include "common/measurement.h"
#include "engine.h"
#include "numerics/likelihood.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* log p(y | x) at a cell's centre, less its largest value. */
static double log_likelihood(const gbees_engine *e, const cell *c, const gbees_measurement *m,
                             const measurement_terms *terms, double time)
{
    const gbees_functions *model = e->problem->functions;
    const double zero = 0, *offset[GBEES_MAX_DIM], *parameters = e->problem->parameters;
    double x[GBEES_MAX_DIM], y[GBEES_MAX_DIM], value, *out[GBEES_MAX_DIM + 1] = {0};

    paper_centre(e, c, x);
    for (int j = 0; j < e->g.n; j++)
        offset[j] = &zero;
    for (int j = 0; j < m->size; j++)
        out[j] = &y[j];
    if (m->likelihood == GBEES_LIKELIHOOD_MODEL) {
        model->log_likelihood_d(m->function, 1, time, x, offset, parameters, m->value, &value);
        return gbees_own_log_likelihood(value);
    }
    model->measure_d(m->function, 1, time, x, offset, parameters, out);
    return measurement_exponent(m, terms, y);
}

/* Sets log_l[] to the log-likelihoods of cells with P > 0, *most to the largest of them, and *heaviest to the largest
 * of log(P L). An error if one is not a number, or no cell supports the measurement. */
static int find_likelihoods(const gbees_engine *e, const gbees_measurement *m, double time,
                            const measurement_terms *terms, double *log_l, double *most, double *heaviest,
                            gbees_error *error)
{
    *most = *heaviest = -INFINITY;
    for (uint32_t c = 1; c <= e->g.count; c++) {
        const cell *i = &e->g.cells[c];

        if (!(i->P > 0))
            continue;
        log_l[c] = log_likelihood(e, i, m, terms, time);
        if (isnan(log_l[c]))
            return failure_likelihood(e->problem, m, time, i->i, error);
        *most = fmax(*most, log_l[c]);
        *heaviest = fmax(*heaviest, log(i->P) + log_l[c]);
    }
    return failure_unsupported(m, time, *most, terms->lowest, error);
}

/* Eq. (4), by logarithms, so that products of small numbers do not underflow. */
int paper_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                 gbees_evidence *evidence, gbees_error *error)
{
    const double before = e->run.ledger.mass, balance = gbees_ledger_before_update(&e->run.ledger);
    double most, heaviest, *log_l = NULL;
    measurement_terms terms;
    int status = measurement_prepare(measurement, clock->time, &terms, error);

    if (!status && !(log_l = malloc((e->g.count + 1u) * sizeof *log_l)))
        status = gbees_error_set(error, GBEES_ENOMEM, "out of memory for the likelihoods of %u cells", e->g.count);
    if (!status)
        status = find_likelihoods(e, measurement, clock->time, &terms, log_l, &most, &heaviest, error);
    for (uint32_t c = 1; c <= e->g.count && !status; c++) {
        cell *i = &e->g.cells[c];

        i->P = i->P > 0 ? exp(log(i->P) + log_l[c] - heaviest) : 0;
    }
    free(log_l);
    if (status)
        return status;
    const double sum = grid_sum(&e->g), C = heaviest + log(sum) - log(before) + terms.log_norm;
    grid_scale(&e->g, 1 / sum);
    e->run.ledger.mass = grid_sum(&e->g);
    status = paper_prune(e, error);
    if (status)
        return status;
    gbees_ledger_update(&e->run.ledger, balance);
    *evidence = (gbees_evidence){.log_evidence = C, .log_likelihood_max = most};
    return GBEES_OK;
}

int paper_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *s, gbees_error *error)
{
    const int n = e->g.n;
    const double *h = e->problem->width;
    double first[GBEES_MAX_DIM] = {0}, second[GBEES_MAX_DIM][GBEES_MAX_DIM] = {{0}}, log_sum = 0, volume = 1;

    (void)clock, (void)error;
    *s = (gbees_statistics){.cells_raw = e->g.count, .mass = grid_sum(&e->g)};
    for (uint32_t c = 1; c <= e->g.count; c++) {
        const cell *i = &e->g.cells[c];

        for (int j = 0; j < n; j++) {
            first[j] += i->P * i->i[j];
            for (int k = j; k < n; k++)
                second[j][k] += i->P * i->i[j] * i->i[k];
        }
        log_sum += i->P > 0 ? i->P * log(i->P) : 0;
        if (i->P > s->peak) {
            s->peak = i->P;
            memcpy(s->peak_index, i->i, sizeof s->peak_index);
        }
    }
    for (int j = 0; j < n; j++) {
        const double mean = first[j] / s->mass;

        s->mean[j] = e->problem->mean[j] + h[j] * mean;
        volume *= h[j];
        for (int k = j; k < n; k++)
            s->covariance[j * n + k] = s->covariance[k * n + j] =
                (second[j][k] / s->mass - mean * first[k] / s->mass) * h[j] * h[k];
    }
    s->peak /= s->mass;
    s->entropy = log(s->mass) + log(volume) - log_sum / s->mass;
    s->cells = paper_count(e, &s->cells_above);
    gbees_work_count(&e->run.work, s->cells);
    return GBEES_OK;
}

int paper_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    const double least = fraction > 0 ? fraction * e->problem->threshold * e->run.ledger.mass : DBL_TRUE_MIN;
    const int32_t *index[GBEES_MAX_DIM];
    int stop = 0;

    (void)error;
    for (uint32_t c = 1; c <= e->g.count && !stop; c++) {
        const cell *i = &e->g.cells[c];
        const double P = i->P / e->run.ledger.mass;

        for (int j = 0; j < e->g.n; j++)
            index[j] = &i->i[j];
        stop = i->P >= least ? visitor(context, 1, index, &P) : 0;
    }
    return stop;
}
