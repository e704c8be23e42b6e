/* record_read.c - a record's file as a snapshot; see record_file.h. A file may have been made by anybody: all this is
 * done in a child process (record_child.c). */
#include "record_file.h"
#include "results/hdf5/hdf5_util.h"
#include <gbees/gbees.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, SAMPLES_MOST = 1 << 20, BLOCK = 65536 /* cells that are read at a time */ };

static void check_format(gbees_hdf5 *file)
{
    char format[32] = "", reason[128];
    int version = FORMAT;

    gbees_hdf5_read_attribute_text(file, "format", format, sizeof format);
    if (!file->status && strcmp(format, "gbees-record") != 0)
        gbees_hdf5_reject(file, GBEES_EINPUT, "this is no record of gbees");
    gbees_hdf5_read_attribute(file, "format_version", H5T_NATIVE_INT, &version);
    if (version > FORMAT) {
        (void)snprintf(reason, sizeof reason,
                       "its format, %d, is not this program's, %d: it is of a newer gbees, or of an older one whose "
                       "density was on several grids",
                       version, FORMAT);
        gbees_hdf5_reject(file, GBEES_EINPUT, reason);
    }
}

/* Sets dimension and count from the shapes, which must agree. */
static void read_shape(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    hsize_t index[2] = {0, 0}, p = 0, origin = 0, width = 0;

    gbees_hdf5_size(file, "/pdf/index", 2, index);
    gbees_hdf5_size(file, "/pdf/p", 1, &p);
    gbees_hdf5_size(file, "/grid/origin", 1, &origin);
    gbees_hdf5_size(file, "/grid/h", 1, &width);
    if (file->status)
        return;
    if (index[0] < 1 || index[0] > GBEES_MAX_DIM || index[1] != p || origin != index[0] || width != index[0]) {
        gbees_hdf5_reject(file, GBEES_EINPUT, "the shapes of its datasets do not fit together: the file is damaged");
        return;
    }
    snapshot->dimension = (int)index[0];
    snapshot->count = (size_t)p;
}

/* Reads an attribute if there is one. */
static void read_if(gbees_hdf5 *file, const char *name, hid_t type, void *value)
{
    if (gbees_hdf5_has_attribute(file, name))
        gbees_hdf5_read_attribute(file, name, type, value);
}

/* Not a number in files of older versions. */
static void read_mass(gbees_hdf5 *file, const char *name, double *mass)
{
    *mass = NAN;
    read_if(file, name, H5T_NATIVE_DOUBLE, mass);
}

static void read_ledger(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    read_mass(file, "mass", &snapshot->mass);
    read_mass(file, "mass_clipped", &snapshot->total.clipped);
    read_mass(file, "mass_outflow", &snapshot->total.outflow);
    read_mass(file, "mass_pruned", &snapshot->total.pruned);
    read_mass(file, "mass_normalised", &snapshot->total.normalised);
    if (gbees_hdf5_has_attribute(file, "mass_entered")) /* else no target absorbs */
        read_mass(file, "mass_entered", &snapshot->total.entered);
    read_mass(file, "mass_clipped_since", &snapshot->since.clipped);
    read_mass(file, "mass_outflow_since", &snapshot->since.outflow);
    read_mass(file, "mass_pruned_since", &snapshot->since.pruned);
    read_mass(file, "mass_normalised_since", &snapshot->since.normalised);
}

/* Not numbers in a file without them. */
static void read_moments(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    const size_t n = (size_t)snapshot->dimension;

    for (size_t j = 0; j < n * n; j++)
        snapshot->mean[j / n] = snapshot->covariance[j] = NAN;
    if (!gbees_hdf5_has_attribute(file, "mean") || !gbees_hdf5_has_attribute(file, "covariance"))
        return;
    gbees_hdf5_read_attribute_list(file, "mean", H5T_NATIVE_DOUBLE, n, snapshot->mean);
    gbees_hdf5_read_attribute_list(file, "covariance", H5T_NATIVE_DOUBLE, n * n, snapshot->covariance);
}

static void read_warnings(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    if (gbees_hdf5_has_attribute(file, "warnings"))
        snapshot->warning_count = (int)gbees_hdf5_read_attribute_texts(
            file, "warnings", GBEES_WARNING_COUNT, snapshot->warning[0], sizeof snapshot->warning[0]);
}

/* Values and bounds: [n][2] along the axes, [2] of the density. Without an audit there are none. */
static void read_certificate(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    gbees_certificate *c = &snapshot->certificate;
    const struct {
        const char *name;
        size_t count;
        gbees_difference *list;
    } lists[] = {{"error_mean", (size_t)snapshot->dimension, c->mean},
                 {"error_std", (size_t)snapshot->dimension, c->std},
                 {"error_marginal", (size_t)snapshot->dimension, c->marginal},
                 {"error_kolmogorov", (size_t)snapshot->dimension, c->kolmogorov},
                 {"error_density", 1, &c->density}};
    int64_t samples = 0, points = 0;

    snapshot->certified = gbees_hdf5_has_attribute(file, "error_samples");
    if (!snapshot->certified)
        return;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        gbees_hdf5_read_attribute_list(file, lists[k].name, H5T_NATIVE_DOUBLE, 2 * lists[k].count, lists[k].list);
    gbees_hdf5_read_attribute(file, "error_samples", H5T_NATIVE_INT64, &samples);
    read_if(file, "error_points", H5T_NATIVE_INT64, &points);
    gbees_hdf5_read_attribute(file, "error_effective", H5T_NATIVE_DOUBLE, &c->effective);
    gbees_hdf5_read_attribute_text(file, "error_reason", c->reason, sizeof c->reason);
    read_if(file, "error_uncompared", H5T_NATIVE_UINT64, &c->uncompared);
    read_if(file, "error_variation_estimate", H5T_NATIVE_DOUBLE, &c->variation);
    c->estimate = NAN;
    read_if(file, "error_estimate", H5T_NATIVE_DOUBLE, &c->estimate);
    c->samples = (size_t)samples;
    c->points = (uint64_t)points;
}

/* The list of samples, if there is one. */
static void read_samples(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    const hsize_t n = (hsize_t)snapshot->dimension, zero[] = {0, 0};
    hsize_t size[2] = {0, 0};

    if (!gbees_hdf5_has_dataset(file, "/samples"))
        return;
    gbees_hdf5_size(file, "/samples", 2, size);
    if (file->status)
        return;
    if (size[0] != n || size[1] == 0 || size[1] > SAMPLES_MOST) {
        gbees_hdf5_reject(file, GBEES_EINPUT, "/samples is not a list of states");
        return;
    }
    float *x = malloc((size_t)(n * size[1]) * sizeof *x);
    if (!x) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for its samples");
        return;
    }
    snapshot->samples.count = (size_t)size[1];
    for (hsize_t j = 0; j < n; j++)
        snapshot->samples.x[j] = x + j * size[1];
    gbees_hdf5_read(file, "/samples", H5T_NATIVE_FLOAT, 2, zero, size, x);
}

static void invert(gbees_hdf5 *file, int n, const double *rotation, double *inverse)
{
    double factor[GBEES_MAX_ENTRIES];
    lapack_int pivot[GBEES_MAX_DIM];

    memcpy(factor, rotation, (size_t)(n * n) * sizeof *factor);
    for (int j = 0; j < n * n; j++)
        inverse[j] = j % (n + 1) == 0;
    if (!file->status && LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, n, factor, n, pivot, inverse, n))
        gbees_hdf5_reject(file, GBEES_EINPUT, "the axes of its grid do not span the space: the file is damaged");
}

/* A file without a rotation has the model's axes. */
static void read_rotation(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    hsize_t n = (hsize_t)snapshot->dimension, zero[] = {0, 0}, square[] = {n, n};

    for (hsize_t j = 0; j < n; j++)
        snapshot->rotation[j * n + j] = snapshot->inverse[j * n + j] = 1;
    if (gbees_hdf5_has_dataset(file, "/grid/R"))
        gbees_hdf5_read(file, "/grid/R", H5T_NATIVE_DOUBLE, 2, zero, square, snapshot->rotation);
    for (hsize_t j = 0; j < n * n; j++)
        snapshot->rotated |= snapshot->rotation[j] != (double)(j % (n + 1) == 0);
    if (snapshot->rotated)
        invert(file, snapshot->dimension, snapshot->rotation, snapshot->inverse);
}

static void read_step(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    uint64_t before = 0;

    read_if(file, "step", H5T_NATIVE_UINT64, &snapshot->step);
    read_if(file, "steps_before", H5T_NATIVE_UINT64, &before);
    snapshot->step += before;
}

static void read_facts(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    hsize_t n = (hsize_t)snapshot->dimension, zero = 0;

    gbees_hdf5_read_attribute(file, "leg", H5T_NATIVE_INT, &snapshot->leg);
    gbees_hdf5_read_attribute(file, "record", H5T_NATIVE_INT, &snapshot->number);
    gbees_hdf5_read_attribute(file, "time", H5T_NATIVE_DOUBLE, &snapshot->time);
    read_step(file, snapshot);
    gbees_hdf5_read_attribute_text(file, "model", snapshot->model, sizeof snapshot->model);
    read_moments(file, snapshot);
    read_ledger(file, snapshot);
    read_warnings(file, snapshot);
    read_certificate(file, snapshot);
    if (file->status)
        return;
    gbees_hdf5_read(file, "/grid/origin", H5T_NATIVE_DOUBLE, 1, &zero, &n, snapshot->origin);
    gbees_hdf5_read(file, "/grid/h", H5T_NATIVE_DOUBLE, 1, &zero, &n, snapshot->width);
    read_rotation(file, snapshot);
    gbees_hdf5_read_texts(file, "/grid/names", n, snapshot->name[0], sizeof snapshot->name[0]);
    gbees_hdf5_read_texts(file, "/grid/units", n, snapshot->unit[0], sizeof snapshot->unit[0]);
}

/* Memory for the cells, and for a block of them as it is in the file. */
typedef struct blocks {
    size_t most; /* cells of a block */
    int32_t *index;
    float *p_f32; /* NULL: p is double */
} blocks;

static void make_blocks(gbees_hdf5 *file, gbees_snapshot *snapshot, blocks *b)
{
    const size_t n = (size_t)snapshot->dimension, count = snapshot->count;
    const int is_f32 = gbees_hdf5_is_f32(file, "/pdf/p");

    *b = (blocks){.most = count < BLOCK ? count : BLOCK};
    b->index = malloc((n * b->most + 1) * sizeof *b->index);
    b->p_f32 = is_f32 ? malloc((b->most + 1) * sizeof *b->p_f32) : NULL;
    snapshot->p = malloc((count + 1) * sizeof *snapshot->p);
    int missing = !b->index || !snapshot->p || (is_f32 && !b->p_f32);
    for (size_t j = 0; j < n; j++) {
        snapshot->index[j] = malloc((count + 1) * sizeof *snapshot->index[j]);
        missing = missing || !snapshot->index[j];
    }
    if (missing)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for its cells");
}

static void read_block(gbees_hdf5 *file, gbees_snapshot *snapshot, blocks *b, size_t first, size_t count)
{
    const size_t n = (size_t)snapshot->dimension;
    const hsize_t start[] = {0, first}, size[] = {n, count};
    double *p = snapshot->p + first;

    gbees_hdf5_read(file, "/pdf/index", H5T_NATIVE_INT32, 2, start, size, b->index);
    if (b->p_f32)
        gbees_hdf5_read(file, "/pdf/p", H5T_NATIVE_FLOAT, 1, &start[1], &size[1], b->p_f32);
    else
        gbees_hdf5_read(file, "/pdf/p", H5T_NATIVE_DOUBLE, 1, &start[1], &size[1], p);
    if (file->status)
        return;
    for (size_t i = 0; b->p_f32 && i < count; i++)
        p[i] = b->p_f32[i];
    for (size_t j = 0; j < n; j++)
        memcpy(snapshot->index[j] + first, b->index + j * count, count * sizeof *b->index);
}

/* Block by block over all axes: a chunk of the file holds all axes of a block of cells, and is unpacked once. */
static void read_cells(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    blocks b;

    make_blocks(file, snapshot, &b);
    for (size_t first = 0; first < snapshot->count && !file->status; first += b.most)
        read_block(file, snapshot, &b, first, snapshot->count - first < b.most ? snapshot->count - first : b.most);
    free(b.index);
    free(b.p_f32);
}

int gbees_record_file_load(const char *path, gbees_snapshot *snapshot, gbees_error *error)
{
    gbees_hdf5 file;
    int status = gbees_hdf5_open(path, &file, error);

    if (status)
        return status;
    if (!file.status)
        check_format(&file);
    if (!file.status)
        read_shape(&file, snapshot);
    if (!file.status)
        read_facts(&file, snapshot);
    if (!file.status)
        read_cells(&file, snapshot);
    if (!file.status)
        read_samples(&file, snapshot);
    return gbees_hdf5_close(&file, error);
}
