/* record_child.c - a record's file read in a child process, which passes the snapshot through a pipe; see
 * record_file.h. Nothing that comes from there is trusted: the child may have run what the file told it. */
#include "record_file.h"
#include "results/hdf5/file_child.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ends all strings, and drops the child's addresses. */
static int clean(gbees_snapshot *s)
{
    s->p = NULL;
    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        s->index[j] = NULL;
        s->samples.x[j] = NULL;
        s->name[j][sizeof s->name[j] - 1] = '\0';
        s->unit[j][sizeof s->unit[j] - 1] = '\0';
    }
    for (int k = 0; k < GBEES_WARNING_COUNT; k++)
        s->warning[k][sizeof s->warning[k] - 1] = '\0';
    s->model[sizeof s->model - 1] = '\0';
    s->certificate.reason[sizeof s->certificate.reason - 1] = '\0';
    return s->dimension >= 1 && s->dimension <= GBEES_MAX_DIM && s->count < SIZE_MAX / 16 &&
           s->samples.count < SIZE_MAX / 256 && s->warning_count >= 0 && s->warning_count <= GBEES_WARNING_COUNT;
}

/* The snapshot and its arrays. */
static int pass(gbees_file_pipe *pipe, void *result)
{
    gbees_snapshot *s = result;
    int bad = gbees_file_pass(pipe, s, sizeof *s);

    if (!bad && gbees_file_is_taken(pipe) && !clean(s))
        bad = -1;
    if (bad)
        return bad;
    const size_t n = (size_t)s->dimension;
    bad = gbees_file_pass_array(pipe, &s->p, sizeof *s->p, s->count);
    for (size_t j = 0; j < n && !bad; j++)
        bad = gbees_file_pass_array(pipe, &s->index[j], sizeof *s->index[j], s->count);
    if (s->samples.count == 0 || bad)
        return bad;
    bad = gbees_file_pass_array(pipe, &s->samples.x[0], sizeof(float), n * s->samples.count);
    for (size_t j = 1; j < n && !bad; j++)
        s->samples.x[j] = s->samples.x[0] + j * s->samples.count;
    return bad;
}

static int load(const char *path, void *result, gbees_error *error)
{
    return gbees_record_file_load(path, result, error);
}

static int read_into(const char *path, gbees_snapshot *snapshot, gbees_error *error)
{
    const int status = gbees_file_child_read(path, load, pass, snapshot, error);

    return status ? status : gbees_record_file_check(path, snapshot, error);
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

/* ---- values -----------------------------------------------------------------------------------------------------
 */

static int is_grid(const gbees_snapshot *s)
{
    for (int j = 0; j < s->dimension; j++) {
        if (!isfinite(s->origin[j]) || !isfinite(s->width[j]) || s->width[j] <= 0)
            return 0;
        for (int k = 0; k < s->dimension; k++)
            if (!isfinite(s->rotation[j * s->dimension + k]))
                return 0;
    }
    return isfinite(s->time) != 0;
}

static size_t first_bad_cell(const gbees_snapshot *s)
{
    size_t bad = s->count;

    for (size_t i = 0; i < bad; i++)
        if (!(s->p[i] >= 0 && s->p[i] <= 1.7e308))
            bad = i;
    for (int j = 0; j < s->dimension; j++)
        for (size_t i = 0; i < bad; i++)
            if (s->index[j][i] < -INT_MAX / 2 || s->index[j][i] > INT_MAX / 2)
                bad = i;
    return bad;
}

/* Whether a cell is not behind the one before it: cells are in the order of their indices. */
static int is_out_of_order(const gbees_snapshot *s, size_t i)
{
    for (int j = 0; j < s->dimension; j++)
        if (s->index[j][i] != s->index[j][i - 1])
            return s->index[j][i] < s->index[j][i - 1];
    return 1;
}

/* The first cell that is out of order; the number of cells if there is none. */
static size_t first_out_of_order(const gbees_snapshot *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (is_out_of_order(s, i))
            return i;
    return s->count;
}

int gbees_record_file_check(const char *path, const gbees_snapshot *snapshot, gbees_error *error)
{
    if (!is_grid(snapshot))
        return gbees_error_set(error, GBEES_EINPUT,
                               "can't read the file %s: its time or its grid is no number: the file is damaged",
                               path);
    const size_t bad = first_bad_cell(snapshot);
    const size_t unordered = bad == snapshot->count ? first_out_of_order(snapshot) : bad;
    if (unordered == snapshot->count)
        return GBEES_OK;
    if (bad == snapshot->count)
        return gbees_error_set(
            error, GBEES_EINPUT,
            "can't read the file %s: cell %zu is not behind the one before it: the file is damaged", path, unordered);
    return gbees_error_set(error, GBEES_EINPUT,
                           "can't read the file %s: cell %zu has the index %d along the first axis and P = %g, which "
                           "no cell can have: the file is damaged",
                           path, bad, (int)snapshot->index[0][bad], snapshot->p[bad]);
}
