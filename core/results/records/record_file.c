/* record_file.c - writes the parts of a record as groups, datasets and attributes: facts of the run, moments,
 * certificate, marginals and cells. */
#include "record_file.h"
#include "record_axes.h"
#include "record_cells.h"
#include "results/folder/record_name.h"
#include "results/hdf5/hdf5_scale.h"
#include "run_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 65536, /* entries of a chunk of a 1-D marginal */
    TILE = 256     /* edge of one of a 2-D marginal */
};

/* ---- attributes -------------------------------------------------------------------------------------------------
 */

static void put_real(gbees_hdf5 *file, const char *name, double value)
{
    gbees_hdf5_attribute(file, "/", name, H5T_NATIVE_DOUBLE, 0, NULL, &value);
}

static void put_integer(gbees_hdf5 *file, const char *name, uint64_t value)
{
    int64_t number = (int64_t)value;

    gbees_hdf5_attribute(file, "/", name, H5T_NATIVE_INT64, 0, NULL, &number);
}

static void put_text(gbees_hdf5 *file, const char *name, const char *text)
{
    gbees_hdf5_attribute_text(file, "/", name, text);
}

static void put_parameters(gbees_hdf5 *file, const gbees_problem *problem)
{
    const char *names[GBEES_MAX_PARAMETERS];
    hsize_t count = (hsize_t)problem->model->parameter_count;

    for (hsize_t k = 0; k < count; k++)
        names[k] = problem->model->parameters[k].name;
    gbees_hdf5_attribute_texts(file, "/", "parameter_names", count, names);
    gbees_hdf5_attribute(file, "/", "parameters", H5T_NATIVE_DOUBLE, 1, &count, problem->parameters);
}

/* What is the same for all records. */
static void put_run(gbees_hdf5 *file, const gbees_run_info *info)
{
    put_text(file, "gbees_version", gbees_version());
    put_text(file, "model", info->problem->model->name);
    put_text(file, "model_hash", info->model_hash);
    put_text(file, "plugin", info->plugin_path);
    put_text(file, "backend", info->backend);
    put_text(file, "device", info->device);
    put_parameters(file, info->problem);
}

/* A record that is a file of its own has a scenario that is no longer than an attribute can be: one with a table of
 * measurements would be most of each file. In run.h5 it stands once, and scenario.yaml has it, too. */
static void put_head(gbees_hdf5 *file, const gbees_run_info *info)
{
    enum { LONGEST_ATTRIBUTE = 32768 };

    put_text(file, "format", "gbees-record");
    put_integer(file, "format_version", 1);
    put_run(file, info);
    if (!file->run && strlen(info->scenario) <= LONGEST_ATTRIBUTE)
        put_text(file, "scenario", info->scenario);
}

/* Numbers of the states that are on a circle; not numbers of the others. */
static void put_around(gbees_hdf5 *file, const gbees_record *record, const char *name, const double *x)
{
    const hsize_t n = (hsize_t)record->problem->dimension;
    double known[GBEES_MAX_DIM];

    for (int j = 0; j < record->problem->dimension; j++)
        known[j] = record->problem->period[j] > 0 ? x[j] : NAN;
    gbees_hdf5_attribute(file, "/", name, H5T_NATIVE_DOUBLE, 1, &n, known);
}

static void put_facts(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_statistics *now = &record->statistics;
    const gbees_totals *totals = &record->totals;
    const hsize_t n = (hsize_t)record->problem->dimension, square = n * n;

    put_integer(file, "dimension", n);
    put_integer(file, "leg", (uint64_t)record->leg);
    put_integer(file, "record", (uint64_t)record->number);
    put_real(file, "time", record->time);
    put_integer(file, "step", totals->steps);
    if (record->problem->steps_before > 0)
        put_integer(file, "steps_before", record->problem->steps_before);
    put_real(file, "time_step", totals->time_step);
    if (record->problem->moving) {
        put_real(file, "frame_bend", record->frame.bend);
        put_real(file, "frame_growth", record->frame.growth);
        put_integer(file, "frame_limited", (uint64_t)record->frame.limited);
        put_integer(file, "frame_replaced", (uint64_t)record->frame.replaced);
        put_real(file, "frame_rate", record->frame.rate);
        put_real(file, "frame_rate_at_rest", record->frame.rate_at_rest);
    }
    put_real(file, "threshold", totals->threshold);
    put_integer(file, "cells", now->cells);
    put_integer(file, "cells_above", now->cells_above);
    gbees_hdf5_attribute(file, "/", "mean", H5T_NATIVE_DOUBLE, 1, &n, now->mean);
    gbees_hdf5_attribute(file, "/", "covariance", H5T_NATIVE_DOUBLE, 1, &square, now->covariance);
    if (gbees_problem_directions(record->problem) > 0) {
        put_around(file, record, "direction", now->direction);
        put_around(file, record, "resultant", now->resultant);
    }
    put_real(file, "entropy", now->entropy);
    put_real(file, "mass", now->mass);
    put_real(file, "mass_clipped", totals->mass_clipped);
    put_real(file, "mass_outflow", totals->mass_outflow);
    put_real(file, "mass_pruned", totals->mass_pruned);
    put_real(file, "mass_normalised", totals->mass_normalised);
    if (gbees_problem_absorbs(record->problem))
        put_real(file, "mass_entered", gbees_totals_entered(totals));
    put_real(file, "mass_clipped_since", record->since.clipped);
    put_real(file, "mass_outflow_since", record->since.outflow);
    put_real(file, "mass_pruned_since", record->since.pruned);
    put_real(file, "mass_normalised_since", record->since.normalised);
}

/* Values and bounds [n][2] along each axis, [2] of the density: as lists, as netCDF has no other attributes. */
static void put_certificate(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_certificate *c = record->certificate;
    const hsize_t size = 2 * (hsize_t)record->problem->dimension, two = 2;
    const struct {
        const char *name;
        const gbees_difference *list;
    } lists[] = {{"error_mean", c->mean},
                 {"error_std", c->std},
                 {"error_marginal", c->marginal},
                 {"error_kolmogorov", c->kolmogorov}};

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        gbees_hdf5_attribute(file, "/", lists[k].name, H5T_NATIVE_DOUBLE, 1, &size, lists[k].list);
    gbees_hdf5_attribute(file, "/", "error_density", H5T_NATIVE_DOUBLE, 1, &two, &c->density);
    put_integer(file, "error_samples", c->samples);
    if (c->points > 0)
        put_integer(file, "error_points", c->points);
    put_real(file, "error_effective", c->effective);
    put_text(file, "error_reason", c->reason);
    if (c->uncompared > 0)
        put_integer(file, "error_uncompared", c->uncompared);
    if (c->variation > 0)
        put_real(file, "error_variation_estimate", c->variation);
    if (!isnan(c->estimate))
        put_real(file, "error_estimate", c->estimate);
}

/* Names and words, and numbers of each, as attributes. */
static void put_targets(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_problem *problem = record->problem;
    const hsize_t count = (hsize_t)problem->target_count;
    const char *name[GBEES_MAX_TARGETS], *kind[GBEES_MAX_TARGETS];
    double number[3][GBEES_MAX_TARGETS];

    for (int k = 0; k < problem->target_count; k++) {
        name[k] = gbees_problem_target_name(problem, k);
        kind[k] = gbees_problem_target_word(problem, k);
        number[0][k] = record->targets[k].probability;
        number[1][k] = record->targets[k].bound;
        number[2][k] = record->targets[k].rate;
    }
    gbees_hdf5_attribute_texts(file, "/", "target_names", (size_t)count, name);
    gbees_hdf5_attribute_texts(file, "/", "target_kinds", (size_t)count, kind);
    gbees_hdf5_attribute(file, "/", "target_probability", H5T_NATIVE_DOUBLE, 1, &count, number[0]);
    gbees_hdf5_attribute(file, "/", "target_bound", H5T_NATIVE_DOUBLE, 1, &count, number[1]);
    gbees_hdf5_attribute(file, "/", "target_rate", H5T_NATIVE_DOUBLE, 1, &count, number[2]);
}

/* The list of samples, [n][count]. */
static void put_samples(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_sample_list *samples = record->samples;
    const hsize_t size[] = {(hsize_t)record->problem->dimension, samples->count};
    float *x = malloc((size_t)(size[0] * size[1]) * sizeof *x);

    if (!x) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for the samples of a record");
        return;
    }
    for (hsize_t j = 0; j < size[0]; j++)
        memcpy(x + j * size[1], samples->x[j], samples->count * sizeof *x);
    gbees_hdf5_dataset(file, "samples", H5T_NATIVE_FLOAT, 2, size, NULL, x);
    gbees_hdf5_scale_attach(file, "samples", 2, (const char *[]){"state", "sample"});
    free(x);
}

static void put_warnings(gbees_hdf5 *file, const gbees_record *record)
{
    char texts[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT];
    const char *list[GBEES_WARNING_COUNT];
    size_t count = 0;

    for (int k = 0; k < GBEES_WARNING_COUNT; k++) {
        if (!(record->warnings & 1u << k))
            continue;
        gbees_warning_text((gbees_warning)(1 << k), record->problem, &record->totals, texts[count],
                           sizeof texts[count]);
        list[count] = texts[count];
        count++;
    }
    gbees_hdf5_attribute_texts(file, "/", "warnings", count, list);
}

/* ---- marginals --------------------------------------------------------------------------------------------------
 */

static hsize_t length_of(const gbees_cells *cells, int axis, int32_t *first)
{
    int32_t last;

    gbees_cells_range(cells, axis, first, &last);
    const int64_t length = (int64_t)last - *first + 1;
    return (hsize_t)length;
}

static void put_line(gbees_hdf5 *file, const double *p, int j, int32_t first, hsize_t length)
{
    char name[64];

    (void)snprintf(name, sizeof name, "marginals/1d/%d", j);
    gbees_hdf5_dataset(file, name, H5T_NATIVE_DOUBLE, 1, &length, (hsize_t[]){BLOCK}, p);
    gbees_hdf5_attribute(file, name, "first", H5T_NATIVE_INT32, 1, (hsize_t[]){1}, &first);
}

static void put_plane(gbees_hdf5 *file, const double *p, int j, int k, const int32_t first[2], const hsize_t size[2])
{
    char name[64];

    (void)snprintf(name, sizeof name, "marginals/2d/%d_%d", j, k);
    gbees_hdf5_dataset(file, name, H5T_NATIVE_DOUBLE, 2, size, (hsize_t[]){TILE, TILE}, p);
    gbees_hdf5_attribute(file, name, "first", H5T_NATIVE_INT32, 1, (hsize_t[]){2}, first);
}

static void put_line_of_cells(gbees_hdf5 *file, const gbees_cells *cells, int j)
{
    int32_t first;
    hsize_t length = length_of(cells, j, &first);
    double *p;
    gbees_error error;

    if (gbees_cells_marginal_1d(cells, j, &p, &error)) {
        gbees_hdf5_reject(file, error.status, error.text);
        return;
    }
    put_line(file, p, j, first, length);
    free(p);
}

static void put_plane_of_cells(gbees_hdf5 *file, const gbees_cells *cells, int j, int k)
{
    int32_t first[2];
    hsize_t size[] = {length_of(cells, j, &first[0]), length_of(cells, k, &first[1])};
    double *p;
    gbees_error error;

    if (size[0] > 0 && size[1] > GBEES_LARGEST_PLANE / size[0])
        return;
    if (gbees_cells_marginal_2d(cells, j, k, &p, &error)) {
        gbees_hdf5_reject(file, error.status, error.text);
        return;
    }
    put_plane(file, p, j, k, first, size);
    free(p);
}

static void put_of_cells(gbees_hdf5 *file, const gbees_record *record)
{
    int n = record->problem->dimension;

    for (int j = 0; j < n && !file->status; j++) {
        put_line_of_cells(file, record->cells, j);
        for (int k = j + 1; k < n && !file->status; k++)
            put_plane_of_cells(file, record->cells, j, k);
    }
}

/* Writes the marginals that the record has. */
static void put_ready(gbees_hdf5 *file, const gbees_record *record)
{
    const gbees_marginals *m = record->marginals;
    int n = record->problem->dimension;

    for (int j = 0; j < n && !file->status; j++) {
        put_line(file, m->line[j], j, m->first[j], m->length[j]);
        for (int k = j + 1; k < n && !file->status; k++)
            if (m->plane[j][k])
                put_plane(file, m->plane[j][k], j, k, (int32_t[]){m->first[j], m->first[k]},
                          (hsize_t[]){m->length[j], m->length[k]});
    }
}

static void put_marginals(gbees_hdf5 *file, const gbees_record *record)
{
    gbees_hdf5_group(file, "marginals");
    gbees_hdf5_group(file, "marginals/1d");
    gbees_hdf5_group(file, "marginals/2d");
    if (record->marginals)
        put_ready(file, record);
    else
        put_of_cells(file, record);
}

static int begin(const gbees_store *store, gbees_run_file *run, const gbees_record *record, gbees_hdf5 *file,
                 gbees_error *error)
{
    const gbees_record_name name = {record->leg, record->number, run != NULL};
    char text[GBEES_RECORD_NAME];

    gbees_record_name_write(&name, text);
    return run ? gbees_run_file_append(run, text + strlen(GBEES_RUN_FILE "/"), file, error)
               : gbees_hdf5_create(store, text, file, error);
}

int gbees_record_file_write(const gbees_store *store, gbees_run_file *run, const gbees_run_info *info,
                            const gbees_record *record, gbees_error *error)
{
    gbees_hdf5 file;
    int status = begin(store, run, record, &file, error);

    if (status)
        return status;
    file.temporary.unsynced = 1;
    file.threads = info->writing_threads;
    put_head(&file, info);
    put_facts(&file, record);
    put_warnings(&file, record);
    if (record->certificate)
        put_certificate(&file, record);
    if (record->problem->target_count > 0)
        put_targets(&file, record);
    gbees_record_axes_put(&file, record);
    if (record->samples)
        put_samples(&file, record);
    gbees_record_cells_put(&file, record);
    put_marginals(&file, record);
    return gbees_hdf5_commit(&file, error);
}

int gbees_record_file_write_run(gbees_run_file *run, const gbees_run_info *info, gbees_error *error)
{
    const char *scenario = info->scenario;
    gbees_hdf5 file;
    int status = gbees_run_file_append(run, GBEES_RUN_FACTS, &file, error);

    if (status)
        return status;
    put_run(&file, info);
    gbees_hdf5_texts(&file, "scenario", 1, &scenario);
    status = gbees_hdf5_commit(&file, error);
    return status ? status : gbees_run_file_commit(run, 1, error);
}
