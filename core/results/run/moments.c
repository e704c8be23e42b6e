/* moments.c - appends each record's, step's and update's numbers to arrays that grow, and writes these as datasets
 * with named axes. */
#include "moments_private.h"
#include "results/folder/record_name.h"
#include "results/hdf5/hdf5_scale.h"
#include "results/records/run_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 };

/* The series of single numbers, and of integers. */
static const char *const real_names[REALS] = {
    "time", "entropy", "mass", "mass_clipped", "mass_outflow", "mass_pruned", "mass_normalised", "wall_s"};
static const char *const integer_names[INTEGERS] = {"leg", "record", "step", "cells", "cells_above"};

static const char *const update_names[UPDATE_REALS] = {"updates/time", "updates/log_evidence",
                                                       "updates/log_likelihood_max", "updates/log_evidence_sampled",
                                                       "updates/log_evidence_error"};

/* The series of certificates: values and bounds along each axis, [n][2] a record; the density's, [2]; single numbers.
 */
static const char *const error_names[ERRORS] = {"error/mean", "error/std", "error/marginal", "error/kolmogorov"};
static const char *const certificate_names[CERTIFICATE] = {"error/density", "error/samples", "error/effective"};

static const char *const target_names[TARGETS] = {"targets/probability", "targets/bound", "targets/rate"};

/* The series of scores beside a truth: [n] a record, but single numbers from RMSE on. */
static const char *const score_names[SCORES] = {"truth/state", "truth/rank", "truth/rmse", "truth/nees"};

gbees_moments *gbees_moments_create(const gbees_problem *problem)
{
    gbees_moments *moments = calloc(1, sizeof *moments);

    if (moments) {
        moments->problem = problem;
        moments->dimension = problem->dimension;
    }
    return moments;
}

void gbees_moments_destroy(gbees_moments *moments)
{
    if (!moments)
        return;
    for (int k = 0; k < REALS; k++)
        free(moments->reals[k]);
    for (int k = 0; k < INTEGERS; k++)
        free(moments->integers[k]);
    for (int k = 0; k < ERRORS; k++)
        free(moments->errors[k]);
    for (int k = 0; k < CERTIFICATE; k++)
        free(moments->certificate[k]);
    for (int k = 0; k < TARGETS; k++)
        free(moments->targets[k]);
    for (int k = 0; k < SCORES; k++)
        free(moments->scores[k]);
    for (int k = 0; k < UPDATE_REALS; k++)
        free(moments->update_reals[k]);
    gbees_moments_destroy(moments->steps);
    gbees_moments_destroy(moments->smoothed);
    free(moments->mean);
    free(moments->covariance);
    free(moments->update_number);
    free(moments);
}

static int grow_reals(double **series, size_t capacity)
{
    double *grown = realloc(*series, capacity * sizeof *grown);

    if (!grown)
        return -1;
    *series = grown;
    return 0;
}

static int grow_integers(int64_t **series, size_t capacity)
{
    int64_t *grown = realloc(*series, capacity * sizeof *grown);

    if (!grown)
        return -1;
    *series = grown;
    return 0;
}

static int reserve(gbees_moments *moments)
{
    size_t n = (size_t)moments->dimension, capacity = 2 * moments->capacity + 16;
    int bad = 0;

    if (moments->count < moments->capacity)
        return 0;
    for (int k = 0; k < REALS; k++)
        bad |= grow_reals(&moments->reals[k], capacity);
    for (int k = 0; k < INTEGERS; k++)
        bad |= grow_integers(&moments->integers[k], capacity);
    for (int k = 0; k < ERRORS; k++)
        bad |= grow_reals(&moments->errors[k], capacity * n * 2);
    for (int k = 0; k < CERTIFICATE; k++)
        bad |= grow_reals(&moments->certificate[k], capacity * 2);
    for (int k = 0; k < TARGETS && moments->problem->target_count > 0; k++)
        bad |= grow_reals(&moments->targets[k], capacity * (size_t)moments->problem->target_count);
    for (int k = 0; k < SCORES; k++)
        bad |= grow_reals(&moments->scores[k], capacity * n);
    bad |= grow_reals(&moments->mean, capacity * n);
    bad |= grow_reals(&moments->covariance, capacity * n * n);
    if (!bad)
        moments->capacity = capacity;
    return bad;
}

/* Adds a row of the certificates; not numbers for a record without one. */
static void add_certificate(gbees_moments *moments, const gbees_certificate *c, size_t at)
{
    const size_t n = (size_t)moments->dimension, size = 2 * n * sizeof(double);

    for (size_t k = 0; k < 2 * n * ERRORS && !c; k++)
        moments->errors[k / (2 * n)][at * 2 * n + k % (2 * n)] = NAN;
    moments->certificate[DENSITY][2 * at] = c ? c->density.value : NAN;
    moments->certificate[DENSITY][2 * at + 1] = c ? c->density.bound : NAN;
    moments->certificate[SAMPLES][at] = c ? (double)c->samples : 0;
    moments->certificate[EFFECTIVE][at] = c ? c->effective : 0;
    if (!c)
        return;
    moments->certified = 1;
    memcpy(moments->errors[ERROR_MEAN] + at * 2 * n, c->mean, size);
    memcpy(moments->errors[ERROR_STD] + at * 2 * n, c->std, size);
    memcpy(moments->errors[ERROR_MARGINAL] + at * 2 * n, c->marginal, size);
    memcpy(moments->errors[ERROR_KOLMOGOROV] + at * 2 * n, c->kolmogorov, size);
}

static void add_targets(gbees_moments *moments, const gbees_record *record, size_t at)
{
    const size_t count = (size_t)moments->problem->target_count;

    for (size_t k = 0; k < count; k++) {
        moments->targets[PROBABILITY][at * count + k] = record->targets[k].probability;
        moments->targets[BOUND][at * count + k] = record->targets[k].bound;
        moments->targets[RATE][at * count + k] = record->targets[k].rate;
    }
}

/* Adds a row of the scores; not numbers for a record without one. */
static void add_score(gbees_moments *moments, const gbees_score *score, size_t at)
{
    const size_t n = (size_t)moments->dimension;

    for (size_t j = 0; j < n; j++) {
        moments->scores[STATE][at * n + j] = score ? score->state[j] : NAN;
        moments->scores[RANK][at * n + j] = score ? score->rank[j] : NAN;
    }
    moments->scores[RMSE][at] = score ? score->rmse : NAN;
    moments->scores[NEES][at] = score ? score->nees : NAN;
    moments->scored |= score != NULL;
}

int gbees_moments_add(gbees_moments *moments, const gbees_record *record, gbees_error *error)
{
    const gbees_statistics *now = &record->statistics;
    const gbees_totals *totals = &record->totals;
    size_t n = (size_t)moments->dimension, at = moments->count;

    if (reserve(moments))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of %zu records", at + 1);
    moments->reals[TIME][at] = record->time;
    moments->reals[ENTROPY][at] = now->entropy;
    moments->reals[MASS][at] = now->mass;
    moments->reals[CLIPPED][at] = totals->mass_clipped;
    moments->reals[OUTFLOW][at] = totals->mass_outflow;
    moments->reals[PRUNED][at] = totals->mass_pruned;
    moments->reals[NORMALISED][at] = totals->mass_normalised;
    moments->reals[WALL][at] = record->wall_s;
    moments->integers[LEG][at] = record->leg;
    moments->integers[RECORD][at] = record->number;
    moments->integers[STEP][at] = (int64_t)totals->steps;
    moments->integers[CELLS][at] = (int64_t)now->cells;
    moments->integers[ABOVE][at] = (int64_t)now->cells_above;
    add_certificate(moments, record->certificate, at);
    add_targets(moments, record, at);
    add_score(moments, record->score, at);
    memcpy(moments->mean + at * n, now->mean, n * sizeof(double));
    memcpy(moments->covariance + at * n * n, now->covariance, n * n * sizeof(double));
    moments->count++;
    return 0;
}

/* Adds a row to a series of its own, which the first row makes. */
static int add_beside(gbees_moments *moments, gbees_moments **series, const gbees_record *record, gbees_error *error)
{
    if (!*series)
        *series = gbees_moments_create(moments->problem);
    return *series ? gbees_moments_add(*series, record, error)
                   : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for another time series");
}

int gbees_moments_add_step(gbees_moments *moments, const gbees_record *record, gbees_error *error)
{
    return add_beside(moments, &moments->steps, record, error);
}

int gbees_moments_add_smoothed(gbees_moments *moments, const gbees_record *record, gbees_error *error)
{
    return add_beside(moments, &moments->smoothed, record, error);
}

double gbees_moments_time_before(const gbees_moments *moments, double time)
{
    size_t at = moments->count;

    while (at > 0 && moments->reals[TIME][at - 1] >= time)
        at--;
    return at > 0 ? moments->reals[TIME][at - 1] : -INFINITY;
}

int gbees_moments_add_update(gbees_moments *moments, int number, double time, const gbees_evidence *evidence,
                             gbees_error *error)
{
    size_t at = moments->update_count;
    int bad = 0;

    if (at == moments->update_capacity) {
        size_t capacity = 2 * at + 16;

        for (int k = 0; k < UPDATE_REALS; k++)
            bad |= grow_reals(&moments->update_reals[k], capacity);
        bad |= grow_integers(&moments->update_number, capacity);
        if (bad)
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the time series of the updates");
        moments->update_capacity = capacity;
    }
    moments->update_reals[UPDATE_TIME][at] = time;
    moments->update_reals[EVIDENCE][at] = evidence->log_evidence;
    moments->update_reals[LIKELIHOOD][at] = evidence->log_likelihood_max;
    moments->update_reals[SAMPLED][at] = evidence->sampled;
    moments->update_reals[SAMPLED_ERROR][at] = evidence->sampled_error;
    moments->update_number[at] = number;
    moments->update_count++;
    return 0;
}

/* ---- the file ---------------------------------------------------------------------------------------------------
 */

/* Writes a series; its axes are the scale, and then states. */
static void put_series(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *size,
                       const void *data, const char *scale)
{
    const char *const axes[] = {scale, "state", "other_state"};
    const hsize_t chunk[] = {CHUNK, GBEES_MAX_DIM, GBEES_MAX_DIM};

    gbees_hdf5_dataset(file, name, type, rank, size, chunk, data);
    if (strcmp(name, scale) == 0)
        gbees_hdf5_scale_set(file, name);
    else
        gbees_hdf5_scale_attach(file, name, rank, axes);
}

/* Writes a series of values and bounds: its last axis has these two. */
static void put_bounds(gbees_hdf5 *file, const char *name, int rank, const hsize_t *size, const double *data)
{
    const hsize_t chunk[] = {CHUNK, GBEES_MAX_DIM, GBEES_MAX_DIM};

    gbees_hdf5_dataset(file, name, H5T_NATIVE_DOUBLE, rank, size, chunk, data);
    gbees_hdf5_scale_attach(file, name, rank,
                            (const char *[]){real_names[TIME], rank == 3 ? "state" : "value_bound", "value_bound"});
}

/* Writes the series that records and steps have; those of steps, and of smoothed records, into a group. */
static void put_rows(const gbees_moments *moments, gbees_hdf5 *file, const char *group)
{
    const hsize_t n = (hsize_t)moments->dimension, size[] = {moments->count, n, n};
    char name[64], scale[64];

    (void)snprintf(scale, sizeof scale, "%s%s", group, real_names[TIME]);
    for (int k = 0; k < REALS; k++) { /* the time first: it is the scale of the others */
        (void)snprintf(name, sizeof name, "%s%s", group, real_names[k]);
        put_series(file, name, H5T_NATIVE_DOUBLE, 1, size, moments->reals[k], scale);
    }
    for (int k = 0; k < INTEGERS; k++) {
        if (k == RECORD && strcmp(group, "steps/") == 0)
            continue;
        (void)snprintf(name, sizeof name, "%s%s", group, integer_names[k]);
        put_series(file, name, H5T_NATIVE_INT64, 1, size, moments->integers[k], scale);
    }
    (void)snprintf(name, sizeof name, "%smean", group);
    put_series(file, name, H5T_NATIVE_DOUBLE, 2, size, moments->mean, scale);
    gbees_hdf5_attribute_text(file, name, "coordinates", "state_name state_unit");
    (void)snprintf(name, sizeof name, "%scovariance", group);
    put_series(file, name, H5T_NATIVE_DOUBLE, 3, size, moments->covariance, scale);
    gbees_hdf5_attribute_text(file, name, "coordinates", "state_name state_unit");
    (void)snprintf(name, sizeof name, "%swall_s", group);
    gbees_hdf5_attribute_text(file, name, "units", "s");
}

static void put_updates(const gbees_moments *moments, gbees_hdf5 *file)
{
    hsize_t size = moments->update_count;
    const char *scale = update_names[UPDATE_TIME];

    gbees_hdf5_group(file, "updates");
    for (int k = 0; k < UPDATE_REALS; k++)
        put_series(file, update_names[k], H5T_NATIVE_DOUBLE, 1, &size, moments->update_reals[k], scale);
    put_series(file, "updates/number", H5T_NATIVE_INT64, 1, &size, moments->update_number, scale);
}

static void put_certificates(const gbees_moments *moments, gbees_hdf5 *file)
{
    const hsize_t n = (hsize_t)moments->dimension, size[] = {moments->count, n, 2}, pair[] = {moments->count, 2};
    const char *scale = real_names[TIME];

    gbees_hdf5_group(file, "error");
    gbees_hdf5_dimension(file, "value_bound", 2);
    for (int k = 0; k < ERRORS; k++)
        put_bounds(file, error_names[k], 3, size, moments->errors[k]);
    put_bounds(file, certificate_names[DENSITY], 2, pair, moments->certificate[DENSITY]);
    for (int k = DENSITY + 1; k < CERTIFICATE; k++)
        put_series(file, certificate_names[k], H5T_NATIVE_DOUBLE, 1, pair, moments->certificate[k], scale);
}

/* The targets' names and words, and their series. */
static void put_targets(const gbees_moments *moments, gbees_hdf5 *file)
{
    const gbees_problem *problem = moments->problem;
    const hsize_t count = (hsize_t)problem->target_count, size[] = {moments->count, count},
                  chunk[] = {CHUNK, GBEES_MAX_TARGETS};
    const char *name[GBEES_MAX_TARGETS], *kind[GBEES_MAX_TARGETS];

    for (int k = 0; k < problem->target_count; k++) {
        name[k] = gbees_problem_target_name(problem, k);
        kind[k] = gbees_problem_target_word(problem, k);
    }
    gbees_hdf5_dimension(file, "target", count);
    gbees_hdf5_characters(file, "target_name", (size_t)count, name, "target", "target_name_letter");
    gbees_hdf5_characters(file, "target_kind", (size_t)count, kind, "target", "target_kind_letter");
    gbees_hdf5_group(file, "targets");
    for (int k = 0; k < TARGETS; k++) {
        gbees_hdf5_dataset(file, target_names[k], H5T_NATIVE_DOUBLE, 2, size, chunk, moments->targets[k]);
        gbees_hdf5_scale_attach(file, target_names[k], 2, (const char *[]){real_names[TIME], "target"});
        gbees_hdf5_attribute_text(file, target_names[k], "coordinates", "target_name");
    }
}

static void put_scores(const gbees_moments *moments, gbees_hdf5 *file)
{
    const hsize_t size[] = {moments->count, (hsize_t)moments->dimension};

    gbees_hdf5_group(file, "truth");
    for (int k = 0; k < SCORES; k++)
        put_series(file, score_names[k], H5T_NATIVE_DOUBLE, k < RMSE ? 2 : 1, size, moments->scores[k],
                   real_names[TIME]);
}

int gbees_moments_write(const gbees_moments *moments, const gbees_store *store, gbees_run_file *run,
                        gbees_error *error)
{
    gbees_hdf5 file;
    int status = run ? gbees_run_file_append(run, "moments", &file, error)
                     : gbees_hdf5_create(store, GBEES_MOMENTS_FILE, &file, error);

    if (status)
        return status;
    file.spread = run != NULL;
    file.temporary.unsynced = 1;
    gbees_hdf5_attribute_text(&file, "/", "format", "gbees-moments");
    gbees_hdf5_attribute(&file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &(int){1});
    gbees_hdf5_attribute_text(&file, "/", "gbees_version", gbees_version());
    gbees_hdf5_states(&file, moments->problem->model->states, (size_t)moments->dimension);
    gbees_hdf5_dimension(&file, "other_state", (hsize_t)moments->dimension);
    put_rows(moments, &file, "");
    if (moments->steps) {
        gbees_hdf5_group(&file, "steps");
        put_rows(moments->steps, &file, "steps/");
    }
    if (moments->smoothed) {
        gbees_hdf5_group(&file, "smoothed");
        put_rows(moments->smoothed, &file, "smoothed/");
    }
    if (moments->certified)
        put_certificates(moments, &file);
    if (moments->problem->target_count > 0)
        put_targets(moments, &file);
    if (moments->scored)
        put_scores(moments, &file);
    if (moments->update_count > 0)
        put_updates(moments, &file);
    gbees_moments_put_measured(&file, moments->problem);
    gbees_moments_put_instants(&file, moments->problem);
    return gbees_hdf5_commit(&file, error);
}
