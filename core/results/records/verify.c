/* verify.c - reads all that is in a file, so that HDF5 checks its checksums, and checks that marginals and ledger add
 * up to what the cells do. */
#include "verify.h"
#include "record_file.h"
#include "results/hdf5/file_child.h"
#include "results/hdf5/hdf5_util.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums of 4-byte numbers agree to this part. */
static const double close_enough = 1e-4;

typedef struct verdict {
    gbees_verify_kind kind;
    int summed;
    gbees_error error;
} verdict;

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static double sum_of(gbees_hdf5 *file, const char *name)
{
    hsize_t size = 0, zero = 0;
    double sum = 0;

    gbees_hdf5_size(file, name, 1, &size);
    double *values = file->status ? NULL : malloc(((size_t)size + 1) * sizeof *values);
    if (values)
        gbees_hdf5_read(file, name, H5T_NATIVE_DOUBLE, 1, &zero, &size, values);
    for (hsize_t i = 0; values && !file->status && i < size; i++)
        sum += values[i];
    free(values);
    return sum;
}

/* Each marginal adds up to what the cells add up to. */
static void check_marginals(gbees_hdf5 *file, const gbees_snapshot *s)
{
    double cells = 0;

    for (size_t i = 0; i < s->count; i++)
        cells += s->p[i];
    for (int j = 0; j < s->dimension && !file->status; j++) {
        char name[64], reason[160];

        (void)snprintf(name, sizeof name, "/marginals/1d/%d", j);
        if (!gbees_hdf5_has_dataset(file, name))
            continue;
        double sum = sum_of(file, name);
        if (fabs(sum - cells) <= close_enough * cells || file->status)
            continue;
        (void)snprintf(reason, sizeof reason, "%s adds up to %.9g and its cells to %.9g: the file is damaged", name,
                       sum, cells);
        gbees_hdf5_reject(file, GBEES_EINPUT, reason);
    }
}

static void check_ledger(gbees_hdf5 *file, const gbees_snapshot *s)
{
    const gbees_ledger *l = &s->total;
    const double sum = 1 + l->clipped + l->normalised - l->outflow - l->pruned - l->entered;
    const double scale =
        1 + fabs(l->clipped) + fabs(l->normalised) + fabs(l->outflow) + fabs(l->pruned) + fabs(l->entered);
    char reason[160];

    if (isnan(s->mass) || isnan(sum) || fabs(s->mass - sum) <= close_enough * scale)
        return;
    (void)snprintf(reason, sizeof reason, "its mass is %.9g, and its ledger adds up to %.9g: the file is damaged",
                   s->mass, sum);
    gbees_hdf5_reject(file, GBEES_EINPUT, reason);
}

/* ---- all values ------------------------------------------------------------------------------------------------ */

enum { SLAB_VALUES = 1 << 21 };

/* Reads `count` values along each axis from `start` on. */
static herr_t read_slab(hid_t set, hid_t type, int rank, const hsize_t *start, const hsize_t *count, void *data)
{
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(rank, count, NULL);
    const int bad = space < 0 || memory < 0 ||
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                    H5Dread(set, type, memory, space, H5P_DEFAULT, data) < 0;

    gbees_hdf5_release(memory);
    gbees_hdf5_release(space);
    return bad ? -1 : 0;
}

/* Reads a dataset chunk by chunk; `piece` is a chunk's size, or that of the whole. */
static void read_pieces(gbees_hdf5 *file, hid_t set, hid_t type, int rank, const hsize_t *size, const hsize_t *piece)
{
    hsize_t start[GBEES_HDF5_MAX_RANK] = {0}, count[GBEES_HDF5_MAX_RANK], values = 1;
    int k = 0;

    for (int j = 0; j < rank; j++)
        values = piece[j] == 0 || values > SLAB_VALUES / piece[j] ? SLAB_VALUES + 1 : values * piece[j];
    void *data = values > SLAB_VALUES || H5Tget_size(type) > SIZE_MAX / 2 / SLAB_VALUES
                     ? NULL
                     : malloc((size_t)values * H5Tget_size(type));
    if (!data)
        gbees_hdf5_reject(file, GBEES_EINPUT, "a dataset has larger chunks than it can have: the file is damaged");
    while (k >= 0 && gbees_hdf5_is_open(file)) {
        for (int j = 0; j < rank; j++)
            count[j] = size[j] - start[j] < piece[j] ? size[j] - start[j] : piece[j];
        if (read_slab(set, type, rank, start, count, data) < 0)
            gbees_hdf5_fail(file);
        for (k = rank - 1; k >= 0 && start[k] + piece[k] >= size[k]; k--)
            start[k] = 0;
        if (k >= 0)
            start[k] += piece[k];
    }
    free(data);
}

static void read_dataset(gbees_hdf5 *file, hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set), made = H5Dget_create_plist(set);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t size[GBEES_HDF5_MAX_RANK], piece[GBEES_HDF5_MAX_RANK];

    if (type < 0 || made < 0 || rank < 0 || rank > GBEES_HDF5_MAX_RANK || !gbees_hdf5_is_inside(set))
        gbees_hdf5_reject(file, GBEES_EINPUT, "a dataset is none of gbees's: the file is damaged");
    else if (H5Sget_simple_extent_npoints(space) > 0 && H5Dget_storage_size(set) > 0 &&
             H5Tis_variable_str(type) == 0) {
        (void)H5Sget_simple_extent_dims(space, size, NULL);
        if (H5Pget_layout(made) != H5D_CHUNKED || H5Pget_chunk(made, rank, piece) != rank)
            memcpy(piece, size, sizeof piece);
        read_pieces(file, set, type, rank, size, piece);
    }
    gbees_hdf5_release(made);
    gbees_hdf5_release(space);
    gbees_hdf5_release(type);
}

/* Opens an object, with its attributes, and reads it if it is a dataset. */
static herr_t read_object(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    gbees_hdf5 *file = context;
    const hid_t object = H5Oopen(root, name, H5P_DEFAULT);

    if (object < 0 || H5Aget_num_attrs(object) < 0)
        gbees_hdf5_fail(file);
    else if (info->type == H5O_TYPE_DATASET)
        read_dataset(file, object);
    gbees_hdf5_release(object);
    return file->status ? -1 : 0;
}

void gbees_verify_read(gbees_hdf5 *file)
{
    if (gbees_hdf5_is_open(file) && H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_INC, read_object, file) < 0)
        gbees_hdf5_fail(file);
}

/* ---- a file ---------------------------------------------------------------------------------------------------- */

static int verify_values(const char *path, const gbees_snapshot *snapshot, int *summed, gbees_error *error)
{
    gbees_hdf5 file;
    int status = gbees_hdf5_open(path, &file, error);

    if (status)
        return status;
    *summed = gbees_hdf5_is_summed(&file);
    gbees_verify_read(&file);
    if (snapshot && !file.status) {
        check_marginals(&file, snapshot);
        check_ledger(&file, snapshot);
    }
    return gbees_hdf5_close(&file, error);
}

static int verify_record(const char *path, int *summed, gbees_error *error)
{
    gbees_snapshot *snapshot = calloc(1, sizeof *snapshot);
    int status = snapshot ? gbees_record_file_load(path, snapshot, error)
                          : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path);

    if (!status)
        status = gbees_record_file_check(path, snapshot, error);
    if (!status)
        status = verify_values(path, snapshot, summed, error);
    gbees_snapshot_destroy(snapshot);
    return status;
}

/* What is wrong is a part of the result: the child itself has done what it should. */
static int load(const char *path, void *result, gbees_error *error)
{
    verdict *v = result;

    (void)error;
    if (v->kind == GBEES_VERIFY_RECORD)
        (void)verify_record(path, &v->summed, &v->error);
    else
        (void)verify_values(path, NULL, &v->summed, &v->error);
    return GBEES_OK;
}

static int pass(gbees_file_pipe *pipe, void *result)
{
    return gbees_file_pass(pipe, result, sizeof(verdict));
}

int gbees_verify_file(const char *path, gbees_verify_kind kind, int *summed, gbees_error *error)
{
    verdict v = {.kind = kind};
    const int status = gbees_file_child_read(path, load, pass, &v, error);

    if (status)
        return status;
    v.error.text[sizeof v.error.text - 1] = '\0';
    *summed = v.summed != 0;
    return v.error.status ? gbees_error_set(error, v.error.status, "%s", v.error.text) : GBEES_OK;
}
