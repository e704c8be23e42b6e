/* kalman.h - the model `linear` against the Kalman filter, which is exact for it: for its test and its table. */
#ifndef GBEES_TESTS_KALMAN_H
#define GBEES_TESTS_KALMAN_H

#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KALMAN_DIM = GBEES_MAX_DIM, KALMAN_SQUARE = GBEES_MAX_DIM * GBEES_MAX_DIM };

/* Distances from the exact mean and covariance, in exact standard deviations: the largest of all entries. */
typedef struct kalman_error {
    double mean, covariance;
} kalman_error;

typedef struct kalman_result {
    kalman_error predicted, updated; /* at the measurement's time, before and after it */
    double evidence;                 /* distance of the logarithm */
    uint64_t steps, cells;           /* cells: the most that were needed */
} kalman_result;

typedef struct kalman_state {
    int n;
    double mean[KALMAN_DIM], covariance[KALMAN_SQUARE];
} kalman_state;

/* ---- the filter ---- */

static inline void kalman_multiply(int n, const double *a, const double *b, int transposed, double *out)
{
    double product[KALMAN_SQUARE];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            product[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                product[i * n + j] += a[i * n + k] * (transposed ? b[j * n + k] : b[k * n + j]);
        }
    memcpy(out, product, (size_t)(n * n) * sizeof *out);
}

/* exp(A t) of the model's tridiagonal A: a series for a 1024th of the time, squared ten times. */
static inline void kalman_exponential(int n, const double *parameters, double time, double *out)
{
    double a[KALMAN_SQUARE] = {0}, term[KALMAN_SQUARE] = {0};

    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int i = 0; i < n; i++) {
        a[i * n + i] = parameters[0] * time / 1024;
        if (i + 1 < n) {
            a[i * n + i + 1] = parameters[1] * time / 1024;
            a[(i + 1) * n + i] = parameters[2] * time / 1024;
        }
        out[i * n + i] = term[i * n + i] = 1;
    }
    for (int k = 1; k < 16; k++) {
        kalman_multiply(n, term, a, 0, term);
        for (int i = 0; i < n * n; i++) {
            term[i] /= k;
            out[i] += term[i];
        }
    }
    for (int k = 0; k < 10; k++)
        kalman_multiply(n, out, out, 0, out);
}

static inline void kalman_predict(kalman_state *s, const double *parameters, double time)
{
    double flow[KALMAN_SQUARE], mean[KALMAN_DIM] = {0};

    kalman_exponential(s->n, parameters, time, flow);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            mean[i] += flow[i * s->n + j] * s->mean[j];
    memcpy(s->mean, mean, sizeof mean);
    kalman_multiply(s->n, flow, s->covariance, 0, s->covariance);
    kalman_multiply(s->n, s->covariance, flow, 1, s->covariance);
}

/* A measurement of the first state; returns the logarithm of its evidence. */
static inline double kalman_update(kalman_state *s, double value, double variance)
{
    double off = value - s->mean[0], sum = s->covariance[0] + variance, row[KALMAN_DIM];
    int n = s->n;

    memcpy(row, s->covariance, (size_t)n * sizeof *row);
    for (int i = 0; i < n; i++) {
        s->mean[i] += row[i] / sum * off;
        for (int j = 0; j < n; j++)
            s->covariance[i * n + j] -= row[i] * row[j] / sum;
    }
    return -0.5 * (off * off / sum + log(6.283185307179586 * sum));
}

/* ---- the run ---- */

typedef struct kalman_observed {
    gbees_statistics before, after;
    double log_evidence;
} kalman_observed;

static inline int kalman_keep(void *context, const gbees_record *record, gbees_error *error)
{
    kalman_observed *observed = context;

    (void)error;
    if (record->leg == 0)
        observed->before = record->statistics;
    else
        observed->after = record->statistics;
    return 0;
}

static inline int kalman_keep_update(void *context, const gbees_problem *problem, int number, double time,
                                     const gbees_evidence *evidence, gbees_error *error)
{
    (void)problem, (void)number, (void)time, (void)error;
    ((kalman_observed *)context)->log_evidence = evidence->log_evidence;
    return 0;
}

static inline kalman_error kalman_compare(const kalman_state *exact, const gbees_statistics *found)
{
    kalman_error e = {0, 0};
    int n = exact->n;

    for (int i = 0; i < n; i++) {
        double sigma = sqrt(exact->covariance[i * n + i]);

        e.mean = fmax(e.mean, fabs(found->mean[i] - exact->mean[i]) / sigma);
        for (int j = 0; j < n; j++)
            e.covariance = fmax(e.covariance, fabs(found->covariance[i * n + j] - exact->covariance[i * n + j]) /
                                                  sigma / sqrt(exact->covariance[j * n + j]));
    }
    return e;
}

/* One time unit, then a measurement of x1, half of its deviation away from where it is expected. `settings`: lines of
 * a scenario. 0, or a status with its text. */
static inline int kalman_run(int n, double factor, const char *settings, int threads, kalman_result *result,
                             gbees_error *error)
{
    static const double parameters[] = {-0.1, 1.25, -0.8}; /* the model's own */
    const double noise = 0.04;
    kalman_state exact = {.n = n};
    kalman_observed observed = {.log_evidence = 0};
    gbees_registry *registry = NULL;
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    gbees_summary summary;
    char text[1024];

    for (int j = 0; j < n; j++) {
        exact.mean[j] = 2;
        exact.covariance[j * n + j] = 0.25;
    }
    kalman_predict(&exact, parameters, 1);
    const double value = exact.mean[0] + 0.5 * sqrt(exact.covariance[0]);
    (void)snprintf(text, sizeof text,
                   "dimension: %d\nmean: [2, ...]\ncovariance: [0.25, ...]\nfactor: %.17g\nprecision: double\n"
                   "end: 1\nrecords: 1\nmeasurements:\n  - {time: 1, function: x1, value: [%.17g], covariance: "
                   "[%.17g]}\n%s",
                   n, factor, value, noise, settings);
    int status = gbees_registry_create(NULL, &registry, error);
    if (!status)
        status = gbees_registry_model(registry, "linear", &model, error);
    if (!status)
        status = gbees_registry_backend(registry, "cpu", &backend, error);
    if (!status)
        status = gbees_scenario_create(text, "kalman", &scenario, error);
    if (!status)
        status = gbees_problem_create(model, scenario, &problem, error);
    if (!status)
        status = gbees_solver_create(problem, backend, &(gbees_engine_options){.threads = threads}, &solver, error);
    if (!status)
        status = gbees_solver_run(
            solver, &(gbees_observer){.context = &observed, .record = kalman_keep, .update = kalman_keep_update},
            error);
    if (!status) {
        gbees_solver_summary(solver, &summary);
        result->predicted = kalman_compare(&exact, &observed.before);
        result->evidence = fabs(observed.log_evidence - kalman_update(&exact, value, noise));
        result->updated = kalman_compare(&exact, &observed.after);
        result->steps = summary.totals.steps;
        result->cells = summary.totals.max_cells;
    }
    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return status;
}

#endif
