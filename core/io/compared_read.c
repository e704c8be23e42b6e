/* compared_read.c - reads compare.h5 in a child process, as records are read: nothing that comes from there is
 * trusted.
 */
#include "compared.h"
#include "file_child.h"
#include "folder.h"
#include "hdf5_scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_MOST = 1 << 22, NUMBERS_MOST = 1 << 26, EVERY_MOST = 1 << 22 };

typedef struct job {
    const char *path;
    int dimension;
} job;

/* The sizes of a comparison, which the child passes before the rest. */
typedef struct sizes {
    size_t count, binned, every;
    int filters, is_sampled[GBEES_COMPARED_FILTERS];
} sizes;

/* ---- the child ---------------------------------------------------------------------------------------------- */

/* Reads a dataset of a filter's group, or of the root (group: ""), that must have this shape. */
static void take_set(gbees_hdf5 *file, const char *group, const char *set, hid_t type, int rank, const hsize_t *size,
                     void *to)
{
    static const hsize_t zero[GBEES_HDF5_MAX_RANK] = {0};
    hsize_t found[GBEES_HDF5_MAX_RANK] = {0};
    char name[3 * GBEES_COMPARED_NAME];

    (void)snprintf(name, sizeof name, "%s%s%s", group, *group ? "/" : "", set);
    gbees_hdf5_size(file, name, rank, found);
    for (int k = 0; k < rank && !file->status; k++)
        if (found[k] != size[k])
            gbees_hdf5_reject(file, GBEES_EINPUT, "its datasets do not have the same records and states");
    gbees_hdf5_read(file, name, type, rank, zero, size, to);
}

/* Reads texts of characters, one a filter. */
static void take_texts(gbees_hdf5 *file, const char *name, int count, char *texts, size_t size)
{
    hsize_t found[2] = {0};

    gbees_hdf5_size(file, name, 2, found);
    if (!file->status && found[0] != (hsize_t)count)
        gbees_hdf5_reject(file, GBEES_EINPUT, "its filters do not have as many names");
    if (!file->status)
        gbees_hdf5_read_characters(file, name, (size_t)count, (size_t)found[1], texts, size);
}

static void load_sizes(gbees_hdf5 *file, int dimension, sizes *s)
{
    hsize_t count = 0, binned = 0, filters = 0, n = 0;
    int every = 0;

    gbees_hdf5_size(file, "time", 1, &count);
    gbees_hdf5_size(file, "samples", 1, &filters);
    gbees_hdf5_size(file, "state", 1, &n);
    if (gbees_hdf5_has_dataset(file, "binned"))
        gbees_hdf5_size(file, "binned", 1, &binned);
    gbees_hdf5_read_attribute(file, "binned_every", H5T_NATIVE_INT, &every);
    if (!file->status && (count < 1 || count > RECORDS_MOST || filters < 1 || filters > GBEES_COMPARED_FILTERS ||
                          binned > count || every < 0 || every > EVERY_MOST ||
                          (binned > 0 && (every < 1 || binned != (count - 1) / (hsize_t)every + 1))))
        gbees_hdf5_reject(file, GBEES_EINPUT, "its sizes are none of a comparison");
    if (!file->status && n != (hsize_t)dimension)
        gbees_hdf5_reject(file, GBEES_EINPUT, "it does not have as many states as the records");
    *s = (sizes){.count = (size_t)count, .binned = (size_t)binned, .every = (size_t)every, .filters = (int)filters};
}

static void load_filters(gbees_hdf5 *file, gbees_compared *c)
{
    const hsize_t size = (hsize_t)c->filters;
    double number[4][GBEES_COMPARED_FILTERS] = {{0}};
    char names[GBEES_COMPARED_FILTERS][GBEES_COMPARED_NAME] = {{0}};
    char failures[GBEES_COMPARED_FILTERS][GBEES_COMPARED_FAILURE] = {{0}};

    take_set(file, "", "samples", H5T_NATIVE_DOUBLE, 1, &size, number[0]);
    take_set(file, "", "wall_s", H5T_NATIVE_DOUBLE, 1, &size, number[1]);
    take_set(file, "", "log_evidence", H5T_NATIVE_DOUBLE, 1, &size, number[2]);
    take_set(file, "", "log_evidence_error", H5T_NATIVE_DOUBLE, 1, &size, number[3]);
    take_texts(file, "filter_name", c->filters, names[0], sizeof names[0]);
    take_texts(file, "filter_failure", c->filters, failures[0], sizeof failures[0]);
    for (int k = 0; k < c->filters; k++) {
        gbees_compared_filter *f = &c->filter[k];

        memcpy(f->name, names[k], sizeof f->name);
        memcpy(f->failure, failures[k], sizeof f->failure);
        f->samples = number[0][k];
        f->seconds = number[1][k];
        f->log_evidence = number[2][k];
        f->log_evidence_error = number[3][k];
    }
}

static void load_filter(gbees_hdf5 *file, const gbees_compared *c, gbees_compared_filter *f)
{
    const hsize_t n = (hsize_t)c->dimension, size[] = {c->count, n, n};
    const hsize_t binned[] = {c->binned, n, GBEES_COMPARED_BINS};

    if (strchr(f->name, '/') || strchr(f->name, '.') || !f->name[0])
        gbees_hdf5_reject(file, GBEES_EINPUT, "a filter has no name that can be");
    if (!file->status && !gbees_compared_allocate(c, f->samples > 0 && c->binned > 0, f))
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    if (file->status)
        return;
    take_set(file, f->name, "mean", H5T_NATIVE_DOUBLE, 2, size, f->mean);
    take_set(file, f->name, "covariance", H5T_NATIVE_DOUBLE, 3, size, f->covariance);
    for (int k = 0; k < GBEES_COMPARED_ERRORS; k++)
        take_set(file, f->name, gbees_compared_error_names[k], H5T_NATIVE_DOUBLE, 1, size, f->error[k]);
    if (!f->p)
        return;
    take_set(file, f->name, "effective", H5T_NATIVE_DOUBLE, 1, size, f->effective);
    take_set(file, f->name, "bin_first", H5T_NATIVE_DOUBLE, 2, binned, f->first);
    take_set(file, f->name, "bin_width", H5T_NATIVE_DOUBLE, 2, binned, f->width);
    take_set(file, f->name, "marginal", H5T_NATIVE_FLOAT, 3, binned, f->p);
}

static int load(const job *j, sizes *s, gbees_compared **compared, gbees_error *error)
{
    gbees_hdf5 file;
    const int status = gbees_hdf5_open(j->path, &file, error);
    const hsize_t *size;

    if (status)
        return status;
    load_sizes(&file, j->dimension, s);
    if (!file.status && !gbees_compared_begin(j->dimension, s->count, s->filters, compared))
        gbees_hdf5_reject(&file, GBEES_ENOMEM, "not enough memory");
    if (!file.status) {
        gbees_compared *c = *compared;

        size = &(hsize_t){s->count};
        c->binned = s->binned;
        c->every = s->every;
        if (gbees_compared_numbers(c) > NUMBERS_MOST || gbees_compared_bins(c) > NUMBERS_MOST)
            gbees_hdf5_reject(&file, GBEES_EINPUT, "it has more numbers than can be");
        take_set(&file, "", "time", H5T_NATIVE_DOUBLE, 1, size, c->time);
        take_set(&file, "", "leg", H5T_NATIVE_INT64, 1, size, c->leg);
        take_set(&file, "", "record", H5T_NATIVE_INT64, 1, size, c->record);
        load_filters(&file, c);
        for (int k = 0; k < c->filters && !file.status; k++) {
            load_filter(&file, c, &c->filter[k]);
            s->is_sampled[k] = c->filter[k].p != NULL;
        }
    }
    return gbees_hdf5_close(&file, error);
}

static int pass_filter(int descriptor, const gbees_compared *c, const gbees_compared_filter *f)
{
    return gbees_child_write(descriptor, f, sizeof *f) ||
           gbees_child_write(descriptor, f->mean, gbees_compared_numbers(c) * sizeof *f->mean) ||
           (f->p && gbees_child_write(descriptor, f->p, gbees_compared_bins(c) * sizeof *f->p));
}

static void read_and_pass(int descriptor, void *context)
{
    gbees_compared *c = NULL;
    gbees_error error = {0};
    sizes s = {0};

    (void)load(context, &s, &c, &error);
    int bad = gbees_child_write(descriptor, &error, sizeof error) || error.status || !c ||
              gbees_child_write(descriptor, &s, sizeof s) ||
              gbees_child_write(descriptor, c->time, c->count * sizeof *c->time) ||
              gbees_child_write(descriptor, c->leg, c->count * sizeof *c->leg) ||
              gbees_child_write(descriptor, c->record, c->count * sizeof *c->record);
    for (int k = 0; !bad && k < c->filters; k++)
        bad = pass_filter(descriptor, c, &c->filter[k]);
    gbees_compared_destroy(c);
}

/* ---- the parent --------------------------------------------------------------------------------------------- */

static int take_filter(gbees_child *child, const gbees_compared *c, int is_sampled, gbees_compared_filter *f)
{
    gbees_compared_filter passed, own = {0};

    if (gbees_child_read(child, &passed, sizeof passed) || !gbees_compared_allocate(c, is_sampled, &own))
        return -1;
    *f = own; /* the addresses passed are the child's */
    memcpy(f->name, passed.name, sizeof f->name);
    memcpy(f->failure, passed.failure, sizeof f->failure);
    f->name[sizeof f->name - 1] = f->failure[sizeof f->failure - 1] = '\0';
    f->samples = passed.samples;
    f->seconds = passed.seconds;
    f->log_evidence = passed.log_evidence;
    f->log_evidence_error = passed.log_evidence_error;
    return gbees_child_read(child, f->mean, gbees_compared_numbers(c) * sizeof *f->mean) ||
           (f->p && gbees_child_read(child, f->p, gbees_compared_bins(c) * sizeof *f->p));
}

/* What the parent reads from the pipe. */
typedef struct taking {
    int dimension;
    gbees_compared *compared;
} taking;

static int take(gbees_child *child, void *result)
{
    taking *to = result;
    sizes s;

    if (gbees_child_read(child, &s, sizeof s) || s.count < 1 || s.count > RECORDS_MOST || s.filters < 1 ||
        s.filters > GBEES_COMPARED_FILTERS || s.binned > s.count || s.every > EVERY_MOST ||
        (s.binned > 0 && s.every < 1) || !gbees_compared_begin(to->dimension, s.count, s.filters, &to->compared))
        return -1;
    gbees_compared *c = to->compared;
    c->binned = s.binned;
    c->every = s.every;
    if (gbees_compared_numbers(c) > NUMBERS_MOST || gbees_compared_bins(c) > NUMBERS_MOST)
        return -1;
    int bad = gbees_child_read(child, c->time, c->count * sizeof *c->time) ||
              gbees_child_read(child, c->leg, c->count * sizeof *c->leg) ||
              gbees_child_read(child, c->record, c->count * sizeof *c->record);
    for (int k = 0; !bad && k < c->filters; k++)
        bad = take_filter(child, c, s.is_sampled[k] != 0, &c->filter[k]);
    return bad ? -1 : 0;
}

int gbees_compared_read(const char *folder, int dimension, gbees_compared **compared, gbees_error *error)
{
    char *path = gbees_folder_join(folder, GBEES_COMPARED_FILE);
    job j = {.path = path, .dimension = dimension};
    taking to = {.dimension = dimension};
    int status = GBEES_OK;

    if (!path)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);
    else if (access(path, F_OK) == 0)
        status = gbees_file_child_read(path, read_and_pass, &j, take, &to, error);
    free(path);
    if (status) {
        gbees_compared_destroy(to.compared);
        to.compared = NULL;
    }
    *compared = to.compared;
    return status;
}
