/* comparison.c - filters compared with the records of a run: see gbees/rivals.h. */
#include "base/array.h"
#include "base/seconds.h"
#include "comparison_private.h"
#include "densities.h"
#include "record/instants.h"
#include "rivals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The filters' seeds: neither audits nor simulated truths use them. A filter that is given again has another one. */
static const uint64_t first_seed = UINT64_C(1) << 62, next_seed = 1000;

int gbees_comparison_create(const gbees_problem *problem, const gbees_comparison_options *options,
                            gbees_comparison **comparison, gbees_error *error)
{
    if (gbees_problem_is_closed(problem))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "a comparison with other filters has lines only: remove --compare, or give "
                               "'states: lines'");
    if (gbees_problem_absorbs(problem))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "other filters know no targets that absorb: leave --compare out, or give 'count'");
    gbees_comparison *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a comparison");
    made->problem = problem;
    made->options = *options;
    made->grid_seconds = NAN;
    *comparison = made;
    return GBEES_OK;
}

void gbees_comparison_destroy(gbees_comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->count; i++)
        gbees_reference_clear(&comparison->records[i]);
    for (int k = 0; k < GBEES_RIVALS_MOST; k++) {
        free(comparison->errors[k]);
        gbees_rival_densities_clear(&comparison->results[k].densities);
    }
    free(comparison->records);
    free(comparison);
}

/* ---- the grid ----------------------------------------------------------------------------------------------- */

int gbees_comparison_record(gbees_comparison *comparison, const gbees_record *record, gbees_error *error)
{
    if (gbees_array_grow(&comparison->records, comparison->count, &comparison->capacity, sizeof *comparison->records))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare %zu records",
                               comparison->count + 1);
    const int status = gbees_reference_set(&comparison->records[comparison->count], comparison->problem, record,
                                           comparison->measured, error);
    comparison->count += !status;
    return status;
}

void gbees_comparison_update(gbees_comparison *comparison)
{
    comparison->measured++;
}

/* ---- what a filter begins with ------------------------------------------------------------------------------ */

/* Adds a weighted Gaussian's moments about 0, in the grid's axes. */
static void add_gaussian(int n, double weight, const double *mean, const double *covariance, gbees_filter_moments *to)
{
    for (int j = 0; j < n; j++) {
        to->mean[j] += weight * mean[j];
        for (int k = 0; k < n; k++)
            to->covariance[j * n + k] += weight * (covariance[j * n + k] + mean[j] * mean[k]);
    }
}

/* Transforms moments from the grid's axes to the model's. */
static void turn(const gbees_problem *problem, gbees_filter_moments *moments)
{
    const int n = problem->dimension;
    const double *const r = problem->rotation;
    gbees_filter_moments to = {0};

    gbees_problem_point(problem, moments->mean, to.mean);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    to.covariance[i * n + j] += r[i * n + k] * moments->covariance[k * n + l] * r[j * n + l];
    *moments = to;
}

/* The moments of the initial density; of one that is given as cells those of the first record. */
static gbees_filter_moments find_start(const gbees_comparison *c)
{
    const gbees_problem *problem = c->problem;
    const int n = problem->dimension;
    gbees_filter_moments start = {0};

    if (problem->cells)
        return c->records[0].moments;
    memcpy(start.mean, problem->mean, sizeof start.mean);
    memcpy(start.covariance, problem->covariance, sizeof start.covariance);
    if (problem->gaussian_count > 0) {
        start = (gbees_filter_moments){0};
        for (int g = 0; g < problem->gaussian_count; g++)
            add_gaussian(n, problem->gaussians[g].weight, problem->gaussians[g].mean,
                         problem->gaussians[g].covariance, &start);
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                start.covariance[j * n + k] -= start.mean[j] * start.mean[k];
    }
    if (problem->rotated)
        turn(problem, &start);
    return start;
}

/* ---- one filter --------------------------------------------------------------------------------------------- */

/* What a filter has gone through. */
typedef struct progress {
    int measured, jumped;
} progress;

/* Takes a filter through the jumps up to number `end`, each at its time. */
static int jump_to(const gbees_comparison *c, const gbees_filter *kind, void *filter, progress *done, int end,
                   gbees_error *error)
{
    int status = GBEES_OK;

    for (; done->jumped < end && !status; done->jumped += !status) {
        status = kind->advance(filter, c->problem->instants[done->jumped].time, error);
        if (!status)
            status = kind->jump(filter, done->jumped, error);
    }
    return status;
}

/* Advances a filter to a record: applies the jumps and the measurements before it, each at its time, then advances to
 * its time. */
static int advance_to_record(const gbees_comparison *c, const gbees_filter *kind, void *filter, progress *done,
                             const gbees_reference *to, gbees_error *error)
{
    const gbees_leg_start leg = gbees_leg_start_of(c->problem, to->leg);
    int status = GBEES_OK;

    for (; done->measured < to->measured && !status; done->measured++) {
        const gbees_measurement *measurement = &c->problem->measurements[done->measured];

        status = jump_to(c, kind, filter, done, gbees_instants_before(c->problem, done->measured + 1), error);
        if (!status)
            status = kind->advance(filter, measurement->time, error);
        if (!status)
            status = kind->update(filter, measurement, error);
    }
    if (!status)
        status = jump_to(c, kind, filter, done, leg.instant + leg.instant_count, error);
    return status ? status : kind->advance(filter, to->time, error);
}

static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

/* Compares filter k with record i, and adds the result. */
static void note(gbees_comparison *c, int k, size_t i, const gbees_filter_moments *moments)
{
    const gbees_reference *reference = &c->records[i];
    gbees_rival_result *result = &c->results[k];
    const gbees_rival_error *found = &c->errors[k][i];
    const double ratio = gbees_reference_ratio(reference, found);
    gbees_record record = {
        .problem = c->problem, .leg = reference->leg, .number = reference->number, .time = reference->time};
    gbees_score score;

    result->worst.mean = larger(found->mean, result->worst.mean);
    result->worst.std = larger(found->std, result->worst.std);
    result->worst.kolmogorov = larger(found->kolmogorov, result->worst.kolmogorov);
    result->worst.bc = i == 0 ? found->bc : smaller(found->bc, result->worst.bc);
    if (i == 0 || (!isnan(result->ratio) && !(ratio <= result->ratio))) {
        result->ratio = ratio;
        result->ratio_time = reference->time;
    }
    memcpy(record.statistics.mean, moments->mean, sizeof record.statistics.mean);
    memcpy(record.statistics.covariance, moments->covariance, sizeof record.statistics.covariance);
    if (c->options.truth && gbees_truth_score(c->options.truth, &record, &score))
        gbees_scores_add(&result->scores, c->problem->dimension, &score);
    result->count = i + 1;
}

/* GBEES_ENUMERIC if a moment is no longer a number. */
static int check_finite(int n, const gbees_filter_moments *moments, double time, gbees_error *error)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += 0 * moments->mean[j];
    for (int k = 0; k < n * n; k++)
        sum += 0 * moments->covariance[k];
    return sum == 0 ? GBEES_OK
                    : gbees_error_set(error, GBEES_ENUMERIC, "a moment is no longer finite at t = %g", time);
}

/* Runs a filter over all records.  The time that comparing takes is not counted as the filter's. */
static int run_filter(gbees_comparison *c, int k, const gbees_filter *kind, void *filter, gbees_error *error)
{
    gbees_rival_result *result = &c->results[k];
    progress done = {0};
    int status = GBEES_OK;

    for (size_t i = 0; i < c->count && !status; i++) {
        const double began = gbees_seconds_now();
        gbees_filter_moments moments;

        status = advance_to_record(c, kind, filter, &done, &c->records[i], error);
        if (!status)
            status = kind->moments(filter, &moments, error);
        if (!status)
            status = check_finite(c->problem->dimension, &moments, c->records[i].time, error);
        result->seconds += gbees_seconds_now() - began;
        if (!status)
            status =
                gbees_reference_compare(&c->records[i], &moments, kind->samples(filter), &c->errors[k][i], error);
        if (!status) {
            note(c, k, i, &moments);
            if (c->options.keeps_densities)
                gbees_rival_densities_set(&result->densities, i, &moments, kind->samples(filter),
                                          (size_t)c->problem->dimension);
        }
        if (!status && c->options.cancelled && c->options.cancelled(c->options.context))
            status = gbees_error_set(error, GBEES_ECANCELLED, "cancelled in the comparison with %s",
                                     gbees_rival_name(result->rival));
    }
    return status;
}

/* The seed of rival k. */
static uint64_t seed_of(const gbees_rivals *rivals, int k)
{
    uint64_t seed = first_seed + (uint64_t)rivals->rival[k];

    for (int i = 0; i < k; i++)
        seed += rivals->rival[i] == rivals->rival[k] ? next_seed : 0;
    return seed;
}

/* Runs rival k. A failure of the filter is part of its result, and no error. */
static int run_rival(gbees_comparison *c, int k, const gbees_filter_moments *start, gbees_error *error)
{
    gbees_rival_result *result = &c->results[k];
    const gbees_rival rival = c->options.rivals.rival[k];
    const gbees_filter *kind = gbees_rival_filter(rival);
    const gbees_filter_setup setup = {.problem = c->problem,
                                      .start = *start,
                                      .samples = c->options.rivals.samples[k],
                                      .seed = seed_of(&c->options.rivals, k),
                                      .threads = c->options.threads};
    void *filter = NULL;

    free(c->errors[k]);
    gbees_rival_densities_clear(&result->densities);
    c->errors[k] = calloc(c->count + 1, sizeof *c->errors[k]);
    *result = (gbees_rival_result){.rival = rival,
                                   .samples = setup.samples,
                                   .records = c->errors[k],
                                   .log_evidence = NAN,
                                   .log_evidence_error = NAN};
    if (!c->errors[k])
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare %zu records", c->count);
    if (c->options.keeps_densities && gbees_rival_densities_create((size_t)c->problem->dimension, c->count,
                                                                   setup.samples > 0, &result->densities, error))
        return (int)error->status;
    const double began = gbees_seconds_now();
    int status = kind->create(&setup, &filter, &result->failure);
    result->seconds = gbees_seconds_now() - began;
    if (!status)
        status = run_filter(c, k, kind, filter, &result->failure);
    if (!status) {
        const gbees_filter_evidence evidence = kind->evidence(filter);

        result->log_evidence = evidence.value;
        result->log_evidence_error = evidence.error;
    }
    kind->destroy(filter);
    if (status != GBEES_ECANCELLED && status != GBEES_ENOMEM)
        return GBEES_OK;
    *error = result->failure;
    return status;
}

int gbees_comparison_run(gbees_comparison *comparison, double grid_seconds, gbees_error *error)
{
    int status = GBEES_OK;

    comparison->grid_seconds = grid_seconds;
    if (comparison->count == 0)
        return gbees_error_set(error, GBEES_EUSAGE, "there is no record to compare filters with");
    const gbees_filter_moments start = find_start(comparison);
    for (int k = 0; k < comparison->options.rivals.count && !status; k++)
        status = run_rival(comparison, k, &start, error);
    return status;
}

/* ---- results ------------------------------------------------------------------------------------------------ */

int gbees_comparison_count(const gbees_comparison *comparison)
{
    return comparison->options.rivals.count;
}

const gbees_rival_result *gbees_comparison_result(const gbees_comparison *comparison, int k)
{
    return &comparison->results[k];
}

size_t gbees_comparison_records(const gbees_comparison *comparison)
{
    return comparison->count;
}

void gbees_comparison_when(const gbees_comparison *comparison, size_t i, int *leg, int *number, double *time)
{
    const gbees_reference *record = &comparison->records[i];

    if (leg)
        *leg = record->leg;
    if (number)
        *number = record->number;
    if (time)
        *time = record->time;
}

double gbees_comparison_grid_seconds(const gbees_comparison *comparison)
{
    return comparison->grid_seconds;
}
