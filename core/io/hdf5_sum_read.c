/* hdf5_sum_read.c - reads values slab by slab, or chunk by chunk where sums are stored by chunks, and adds them to a
 * sum. */
#include "hdf5_sum_read.h"
#include "hdf5_sum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MOST = 1 << 16 };

void gbees_hdf5_sum_reject(gbees_hdf5 *file, const char *name, const char *what)
{
    char reason[200];

    (void)snprintf(reason, sizeof reason, "%.120s %s: the file is damaged", name, what);
    gbees_hdf5_reject(file, GBEES_EINPUT, reason);
}

int gbees_hdf5_sum_is_of_parts(const gbees_hdf5 *file, const char *name)
{
    return gbees_hdf5_is_open(file) && H5Aexists_by_name(file->id, name, gbees_hdf5_sum_parts_name, H5P_DEFAULT) > 0;
}

static void add_texts(gbees_sha256_sum *sum, size_t count, char *const *texts)
{
    for (size_t i = 0; i < count; i++)
        gbees_sha256_add(sum, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
}

/* Strings of variable length: gbees writes none, and reads those of other programs. */
int gbees_hdf5_sum_is_variable(hid_t type)
{
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

void gbees_hdf5_sum_texts_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t from, int is_attribute,
                             hid_t type, hssize_t count)
{
    char **texts = count < 0 || count > TEXTS_MOST ? NULL : calloc((size_t)count + 1, sizeof *texts);

    if (!texts) {
        gbees_hdf5_sum_reject(file, name, "has more strings than it can have");
        return;
    }
    if ((is_attribute ? H5Aread(from, type, texts) : H5Dread(from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts)) < 0)
        gbees_hdf5_fail(file);
    else
        add_texts(sum, (size_t)count, texts);
    for (size_t i = 0; i < (size_t)count; i++)
        (void)H5free_memory(texts[i]);
    free(texts);
}

/* Reads a slab of a table into `data` and adds it. */
static herr_t add_slab(hid_t set, hid_t type, int rank, const hsize_t *start, const hsize_t *count, void *data,
                       gbees_sha256_sum *sum)
{
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(rank, count, NULL);
    herr_t result = -1;
    size_t bytes = H5Tget_size(type);

    for (int k = 0; k < rank; k++)
        bytes *= (size_t)count[k];
    if (space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        result = H5Dread(set, type, memory, space, H5P_DEFAULT, data);
    if (result >= 0)
        gbees_sha256_add(sum, data, bytes);
    if (memory >= 0)
        (void)H5Sclose(memory);
    if (space >= 0)
        (void)H5Sclose(space);
    return result;
}

/* Slab by slab: as many rows at a time, of 65536 columns, as memory is taken for. */
static void add_values_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t set, hid_t type, int rank,
                          const hsize_t *size)
{
    const hsize_t columns = size[rank - 1],
                  width = columns < GBEES_HDF5_SUM_COLUMNS ? columns : GBEES_HDF5_SUM_COLUMNS;
    hsize_t start[GBEES_HDF5_SUM_RANK] = {0}, count[GBEES_HDF5_SUM_RANK] = {0}, middle = rank == 3 ? size[1] : 1;

    if (middle > GBEES_HDF5_SUM_SLAB / (width + 1) || (rank == 3 && columns > GBEES_HDF5_SUM_COLUMNS)) {
        gbees_hdf5_sum_reject(file, name, "is larger than it can be");
        return;
    }
    const hsize_t fits = GBEES_HDF5_SUM_SLAB / ((width + 1) * middle) + 1, most = rank == 1        ? 1
                                                                                  : fits < size[0] ? fits
                                                                                                   : size[0];
    void *data = malloc((size_t)(most * middle * width + 1) * H5Tget_size(type));
    if (!data) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory to check it");
        return;
    }
    count[1] = middle; /* of three; the last is set below */
    for (hsize_t first = 0; first < columns && gbees_hdf5_is_open(file); first += width) {
        start[rank - 1] = first;
        count[rank - 1] = columns - first < width ? columns - first : width;
        for (hsize_t row = 0; rank > 1 && row < size[0] && gbees_hdf5_is_open(file); row += most) {
            start[0] = row;
            count[0] = size[0] - row < most ? size[0] - row : most;
            if (add_slab(set, type, rank, start, count, data, sum) < 0)
                gbees_hdf5_fail(file);
        }
        if (rank == 1 && add_slab(set, type, rank, start, count, data, sum) < 0)
            gbees_hdf5_fail(file);
    }
    free(data);
}

/* Chunk by chunk, in their order. */
static void add_parts_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t set, hid_t type, int rank,
                         const hsize_t *size)
{
    hid_t layout = H5Dget_create_plist(set);
    hsize_t chunk[GBEES_HDF5_SUM_RANK] = {0}, start[GBEES_HDF5_SUM_RANK] = {0}, count[GBEES_HDF5_SUM_RANK],
            values = 1;
    const int found = layout < 0 ? -1 : H5Pget_chunk(layout, GBEES_HDF5_SUM_RANK, chunk);
    int more = found == rank;

    if (layout >= 0)
        (void)H5Pclose(layout);
    for (int k = 0; k < rank && more; k++) {
        more = size[k] > 0 && chunk[k] > 0 && chunk[k] <= GBEES_HDF5_SUM_SLAB;
        values *= chunk[k];
    }
    void *data = more && values <= GBEES_HDF5_SUM_SLAB ? malloc((size_t)values * H5Tget_size(type)) : NULL;
    if (!data) {
        gbees_hdf5_sum_reject(file, name, "has no chunks as they can be");
        return;
    }
    while (more && gbees_hdf5_is_open(file)) {
        gbees_sha256_sum part;
        char hex[GBEES_SHA256_HEX];
        int k = rank - 1;

        for (int j = 0; j < rank; j++)
            count[j] = size[j] - start[j] < chunk[j] ? size[j] - start[j] : chunk[j];
        gbees_sha256_start(&part);
        if (add_slab(set, type, rank, start, count, data, &part) < 0)
            gbees_hdf5_fail(file);
        gbees_sha256_finish(&part, hex);
        gbees_sha256_add(sum, hex, strlen(hex));
        while (k >= 0 && start[k] + chunk[k] >= size[k])
            start[k--] = 0;
        more = k >= 0;
        if (more)
            start[k] += chunk[k];
    }
    free(data);
}

hid_t gbees_hdf5_sum_type(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);

    if (class == H5T_STRING)
        return gbees_hdf5_sum_is_variable(type) ? -1 : H5Tcopy(type);
    return class == H5T_INTEGER || class == H5T_FLOAT ? H5Tget_native_type(type, H5T_DIR_ASCEND) : -1;
}

void gbees_hdf5_sum_values_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t set, hid_t type,
                              int rank, const hsize_t *size)
{
    if (gbees_hdf5_sum_is_of_parts(file, name))
        add_parts_of(file, name, sum, set, type, rank, size);
    else
        add_values_of(file, name, sum, set, type, rank, size);
}
