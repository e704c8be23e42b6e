/* series_read.c - measurements, truth and smoothed means of moments.h5 as points of each state; see gbees/results.h.
 * A child process reads the file, as it does records: nothing that comes from there is trusted. */
#include "results/hdf5/file_child.h"
#include "results/hdf5/hdf5_scale.h"
#include "results/records/results_list.h"
#include <gbees/results.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 1 << 24, NAMES_MOST = 4096, NAME = 64 };

typedef struct job {
    int dimension;
    const char (*name)[NAME]; /* of the states */
    gbees_series *series;
} job;

/* ---- points ------------------------------------------------------------------------------------------------- */

static int reserve(gbees_points *points, size_t count)
{
    points->time = malloc((count + 1) * sizeof *points->time);
    points->value = malloc((count + 1) * sizeof *points->value);
    points->std = malloc((count + 1) * sizeof *points->std);
    return points->time && points->value && points->std;
}

static void add(gbees_points *points, double time, double value, double std)
{
    if (!isfinite(time) || !isfinite(value))
        return;
    points->time[points->count] = time;
    points->value[points->count] = value;
    points->std[points->count++] = std;
}

static void clear(gbees_points *points)
{
    free(points->time);
    free(points->value);
    free(points->std);
}

void gbees_series_destroy(gbees_series *series)
{
    for (int j = 0; series && j < GBEES_MAX_DIM; j++) {
        clear(&series->measured[j]);
        clear(&series->truth[j]);
        clear(&series->smoothed[j]);
    }
    free(series);
}

/* ---- the child ---------------------------------------------------------------------------------------------- */

/* All numbers of a dataset; NULL if there is none, or after a failure. *size: along its axes. */
static double *read_numbers(gbees_hdf5 *file, const char *name, int rank, hsize_t *size)
{
    static const hsize_t zero[GBEES_HDF5_MAX_RANK] = {0};
    size_t count = 1;

    gbees_hdf5_size(file, name, rank, size);
    for (int k = 0; !file->status && k < rank; k++)
        count = size[k] <= POINTS_MOST / count ? count * (size_t)size[k] : POINTS_MOST + 1;
    if (!file->status && count > POINTS_MOST)
        gbees_hdf5_reject(file, GBEES_EINPUT, "it has more numbers than can be");
    double *numbers = file->status ? NULL : malloc((count + 1) * sizeof *numbers);
    if (!file->status && !numbers)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    if (numbers)
        gbees_hdf5_read(file, name, H5T_NATIVE_DOUBLE, rank, zero, size, numbers);
    if (numbers && file->status) {
        free(numbers);
        numbers = NULL;
    }
    return numbers;
}

/* The columns of the group `measured`. */
typedef struct measured {
    hsize_t count, size[2], names;
    double *time, *function, *value, *std;
    char *name;
} measured;

static void read_measured(gbees_hdf5 *file, measured *m)
{
    hsize_t other[2], names[2] = {0};

    m->time = read_numbers(file, "measured/time", 1, &m->count);
    m->function = read_numbers(file, "measured/function", 1, &other[0]);
    if (!file->status && other[0] != m->count)
        gbees_hdf5_reject(file, GBEES_EINPUT, "its measurements are damaged");
    m->value = read_numbers(file, "measured/value", 2, m->size);
    m->std = read_numbers(file, "measured/std", 2, other);
    gbees_hdf5_size(file, "measured/component_name", 2, names);
    m->names = names[0];
    if (!file->status &&
        (m->size[0] != m->count || other[0] != m->count || other[1] != m->size[1] || m->names > NAMES_MOST))
        gbees_hdf5_reject(file, GBEES_EINPUT, "its measurements are damaged");
    m->name = file->status ? NULL : calloc((size_t)m->names + 1, NAME);
    if (!file->status && !m->name)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    if (m->name)
        gbees_hdf5_read_characters(file, "measured/component_name", (size_t)names[0], (size_t)names[1], m->name,
                                   NAME);
}

/* Adds the components that have a state's name to its points. */
static void sort_measured(const measured *m, const job *j, gbees_series *series)
{
    const size_t size = (size_t)m->size[1];

    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < size; k++) {
            const double name = m->function[i] * (double)size + (double)k;

            for (int s = 0; s < j->dimension; s++)
                if (name >= 0 && name < (double)m->names && strcmp(m->name + (size_t)name * NAME, j->name[s]) == 0)
                    add(&series->measured[s], m->time[i], m->value[i * size + k], m->std[i * size + k]);
        }
    series->measurements = (size_t)m->count;
}

static void load_measured(gbees_hdf5 *file, const job *j, gbees_series *series)
{
    measured m = {0};

    if (!gbees_hdf5_has_dataset(file, "measured/time"))
        return;
    read_measured(file, &m);
    for (int s = 0; !file->status && s < j->dimension; s++)
        if (!reserve(&series->measured[s], (size_t)m.count * (size_t)m.size[1]))
            gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    if (!file->status)
        sort_measured(&m, j, series);
    free(m.time);
    free(m.function);
    free(m.value);
    free(m.std);
    free(m.name);
}

/* Reads a value of each state at each time: datasets in a group, and, where it has them, covariances. */
static void load_states(gbees_hdf5 *file, int n, const char *const names[3], gbees_points *to)
{
    hsize_t count = 0, size[2] = {0}, square[3] = {0};

    if (!gbees_hdf5_has_dataset(file, names[1]))
        return;
    double *time = read_numbers(file, names[0], 1, &count), *value = read_numbers(file, names[1], 2, size),
           *covariance = names[2] ? read_numbers(file, names[2], 3, square) : NULL;
    const size_t states = (size_t)n;
    if (!file->status && (size[0] != count || size[1] != states ||
                          (covariance && (square[0] != count || square[1] != states || square[2] != states))))
        gbees_hdf5_reject(file, GBEES_EINPUT, "its truth, or a smoothed record, is damaged");
    for (size_t s = 0; !file->status && s < states; s++) {
        if (!reserve(&to[s], (size_t)count))
            gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        for (size_t i = 0; !file->status && i < count; i++)
            add(&to[s], time[i], value[i * states + s],
                covariance ? sqrt(fmax(0, covariance[(i * states + s) * states + s])) : NAN);
    }
    free(time);
    free(value);
    free(covariance);
}

static int load(const char *path, void *result, gbees_error *error)
{
    const job *j = result;
    gbees_hdf5 file;
    const int status = gbees_hdf5_open(path, &file, error);

    if (status)
        return status;
    load_measured(&file, j, j->series);
    load_states(&file, j->dimension, (const char *const[]){"time", "truth/state", NULL}, j->series->truth);
    load_states(&file, j->dimension, (const char *const[]){"smoothed/time", "smoothed/mean", "smoothed/covariance"},
                j->series->smoothed);
    return gbees_hdf5_close(&file, error);
}

/* ---- from the child to the caller --------------------------------------------------------------------------- */

static int pass_points(gbees_file_pipe *pipe, gbees_points *points)
{
    size_t count = points->count;

    if (gbees_file_pass(pipe, &count, sizeof count) || count > POINTS_MOST)
        return -1;
    points->count = count;
    return gbees_file_pass_array(pipe, &points->time, sizeof(double), count) ||
           gbees_file_pass_array(pipe, &points->value, sizeof(double), count) ||
           gbees_file_pass_array(pipe, &points->std, sizeof(double), count);
}

static int pass(gbees_file_pipe *pipe, void *result)
{
    const job *j = result;
    gbees_series *series = j->series;
    int bad = gbees_file_pass(pipe, &series->measurements, sizeof series->measurements);

    for (int s = 0; !bad && s < j->dimension; s++)
        bad = pass_points(pipe, &series->measured[s]) || pass_points(pipe, &series->truth[s]) ||
              pass_points(pipe, &series->smoothed[s]);
    return bad ? -1 : 0;
}

int gbees_series_read(const char *folder, int dimension, const char (*name)[NAME], gbees_series **series,
                      gbees_error *error)
{
    char *path = NULL;
    gbees_series *made = calloc(1, sizeof *made);
    job j = {dimension, name, made};
    int status = made ? gbees_results_moments(folder, &path, error)
                      : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", folder);

    if (!status && path) /* else the run has only just begun */
        status = gbees_file_child_read(path, load, pass, &j, error);
    free(path);
    if (status)
        gbees_series_destroy(made);
    else
        *series = made;
    return status;
}
