/* reader.c - a results folder read back: gbees_results and gbees_snapshot of gbees.h. */
#include "folder.h"
#include "hdf5_util.h"
#include "record_file.h"
#include <dirent.h>
#include <errno.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536, NEWEST_FORMAT = 1, SAMPLES_MOST = 1 << 20 };

typedef struct item {
    int leg, number;
} item;

struct gbees_results {
    char *folder;
    size_t count, capacity;
    item *items;
};

/* ---- the folder -------------------------------------------------------------------------------------------------
 */

/* Reads leg<number>_record<number>.h5 and nothing else: no sign, no leading zero, no rest. */
static int parse_name(const char *name, item *found)
{
    char again[64];

    if (sscanf(name, "leg%9d_record%9d.h5", &found->leg, &found->number) != 2)
        return 0;
    (void)snprintf(again, sizeof again, "leg%d_record%d.h5", found->leg, found->number);
    return found->leg >= 0 && found->number >= 0 && strcmp(name, again) == 0;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return x->leg != y->leg ? (x->leg > y->leg) - (x->leg < y->leg)
                            : (x->number > y->number) - (x->number < y->number);
}

static int add_item(gbees_results *results, item found)
{
    if (results->count == results->capacity) {
        size_t capacity = 2 * results->capacity + 16;
        item *grown = realloc(results->items, capacity * sizeof *grown);

        if (!grown)
            return -1;
        results->items = grown;
        results->capacity = capacity;
    }
    results->items[results->count++] = found;
    return 0;
}

static int list(gbees_results *results, gbees_error *error)
{
    DIR *folder = opendir(results->folder);
    item found;
    int bad = 0;

    if (!folder)
        return gbees_error_set(error, GBEES_EIO, "can't read the results folder %s: %s", results->folder,
                               strerror(errno));
    for (struct dirent *entry; !bad && (entry = readdir(folder));)
        if (parse_name(entry->d_name, &found))
            bad = add_item(results, found);
    (void)closedir(folder);
    if (bad)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to list %s", results->folder);
    if (results->count == 0)
        return gbees_error_set(error, GBEES_EINPUT,
                               "no records in %s: name a folder that gbees-run --output has filled (with files "
                               "leg0_record0.h5, ...)",
                               results->folder);
    qsort(results->items, results->count, sizeof *results->items, compare_items);
    return 0;
}

int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error)
{
    gbees_results *opened = calloc(1, sizeof *opened);

    if (opened)
        opened->folder = strdup(folder);
    if (!opened || !opened->folder) {
        gbees_results_destroy(opened);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);
    }
    int status = list(opened, error);
    if (status)
        gbees_results_destroy(opened);
    else
        *results = opened;
    return status;
}

void gbees_results_destroy(gbees_results *results)
{
    if (!results)
        return;
    free(results->items);
    free(results->folder);
    free(results);
}

size_t gbees_results_count(const gbees_results *results)
{
    return results->count;
}

/* ---- a record ---------------------------------------------------------------------------------------------------
 */

double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell)
{
    const int n = snapshot->dimension;
    double x = snapshot->origin[j];

    if (!snapshot->rotated)
        return x + snapshot->width[j] * snapshot->index[j][cell];
    for (int k = 0; k < n; k++)
        x += snapshot->rotation[j * n + k] * (snapshot->width[k] * snapshot->index[k][cell]);
    return x;
}

void gbees_snapshot_destroy(gbees_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(snapshot->index[j]);
    free(snapshot->p);
    free((float *)snapshot->samples.x[0]); /* one block */
    free(snapshot);
}

static void check_format(gbees_hdf5 *file)
{
    char format[32] = "", reason[128];
    int version = NEWEST_FORMAT;

    gbees_hdf5_read_attribute_text(file, "format", format, sizeof format);
    if (!file->status && strcmp(format, "gbees-record") != 0)
        gbees_hdf5_reject(file, GBEES_EINPUT, "this is no record of gbees");
    gbees_hdf5_read_attribute(file, "format_version", H5T_NATIVE_INT, &version);
    if (version > NEWEST_FORMAT) {
        (void)snprintf(reason, sizeof reason, "its format, %d, is newer than this program's, %d: use a newer gbees",
                       version, NEWEST_FORMAT);
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

/* Not a number in files of older versions. */
static void read_mass(gbees_hdf5 *file, const char *name, double *mass)
{
    *mass = NAN;
    if (gbees_hdf5_has_attribute(file, name))
        gbees_hdf5_read_attribute(file, name, H5T_NATIVE_DOUBLE, mass);
}

static void read_ledger(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    read_mass(file, "mass", &snapshot->mass);
    read_mass(file, "mass_clipped", &snapshot->total.clipped);
    read_mass(file, "mass_outflow", &snapshot->total.outflow);
    read_mass(file, "mass_pruned", &snapshot->total.pruned);
    read_mass(file, "mass_normalised", &snapshot->total.normalised);
    read_mass(file, "mass_clipped_since", &snapshot->since.clipped);
    read_mass(file, "mass_outflow_since", &snapshot->since.outflow);
    read_mass(file, "mass_pruned_since", &snapshot->since.pruned);
    read_mass(file, "mass_normalised_since", &snapshot->since.normalised);
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
    int64_t samples = 0;

    snapshot->certified = gbees_hdf5_has_attribute(file, "error_samples");
    if (!snapshot->certified)
        return;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        gbees_hdf5_read_attribute_list(file, lists[k].name, H5T_NATIVE_DOUBLE, 2 * lists[k].count, lists[k].list);
    gbees_hdf5_read_attribute(file, "error_samples", H5T_NATIVE_INT64, &samples);
    gbees_hdf5_read_attribute(file, "error_effective", H5T_NATIVE_DOUBLE, &c->effective);
    gbees_hdf5_read_attribute_text(file, "error_reason", c->reason, sizeof c->reason);
    c->estimate = NAN;
    if (gbees_hdf5_has_attribute(file, "error_estimate"))
        gbees_hdf5_read_attribute(file, "error_estimate", H5T_NATIVE_DOUBLE, &c->estimate);
    c->samples = (size_t)samples;
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

/* A file without a rotation has the model's axes. */
static void read_rotation(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    hsize_t n = (hsize_t)snapshot->dimension, zero[] = {0, 0}, square[] = {n, n};

    for (hsize_t j = 0; j < n; j++)
        snapshot->rotation[j * n + j] = 1;
    if (gbees_hdf5_has_dataset(file, "/grid/R"))
        gbees_hdf5_read(file, "/grid/R", H5T_NATIVE_DOUBLE, 2, zero, square, snapshot->rotation);
    for (hsize_t j = 0; j < n * n; j++)
        snapshot->rotated |= snapshot->rotation[j] != (double)(j % (n + 1) == 0);
}

static void read_step(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    uint64_t before = 0;

    if (gbees_hdf5_has_attribute(file, "step"))
        gbees_hdf5_read_attribute(file, "step", H5T_NATIVE_UINT64, &snapshot->step);
    if (gbees_hdf5_has_attribute(file, "steps_before"))
        gbees_hdf5_read_attribute(file, "steps_before", H5T_NATIVE_UINT64, &before);
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

/* Block by block over all axes: a chunk of the file holds all axes of a block of cells, and is unpacked once. */
static void read_cells(gbees_hdf5 *file, gbees_snapshot *snapshot)
{
    size_t n = (size_t)snapshot->dimension, most = snapshot->count < BLOCK ? snapshot->count : BLOCK;
    int32_t *block = malloc((n * most + 1) * sizeof *block);

    snapshot->p = malloc((snapshot->count + 1) * sizeof *snapshot->p);
    int missing = !block || !snapshot->p;
    for (size_t j = 0; j < n; j++) {
        snapshot->index[j] = malloc((snapshot->count + 1) * sizeof *snapshot->index[j]);
        missing = missing || !snapshot->index[j];
    }
    if (missing)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for its cells");
    for (size_t first = 0; first < snapshot->count && !file->status; first += most) {
        size_t count = snapshot->count - first < most ? snapshot->count - first : most;
        hsize_t start[] = {0, first}, size[] = {n, count};

        gbees_hdf5_read(file, "/pdf/index", H5T_NATIVE_INT32, 2, start, size, block);
        gbees_hdf5_read(file, "/pdf/p", H5T_NATIVE_DOUBLE, 1, &start[1], &size[1], snapshot->p + first);
        for (size_t j = 0; j < n; j++)
            memcpy(snapshot->index[j] + first, block + j * count, count * sizeof *block);
    }
    free(block);
}

static int read_into(const char *path, gbees_snapshot *snapshot, gbees_error *error)
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

int gbees_record_file_read(const char *path, gbees_snapshot **snapshot, gbees_error *error)
{
    gbees_snapshot *read = calloc(1, sizeof *read);
    int status = read ? read_into(path, read, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);

    if (status)
        gbees_snapshot_destroy(read);
    else
        *snapshot = read;
    return status;
}

int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error)
{
    char name[64];

    if (number >= results->count)
        return gbees_error_set(error, GBEES_EUSAGE, "there is no record number %zu in %s: it has %zu", number,
                               results->folder, results->count);
    (void)snprintf(name, sizeof name, "leg%d_record%d.h5", results->items[number].leg, results->items[number].number);
    char *path = gbees_folder_join(results->folder, name);
    int status = path ? gbees_record_file_read(path, snapshot, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", name);
    free(path);
    return status;
}
