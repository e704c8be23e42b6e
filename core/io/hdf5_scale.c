/* hdf5_scale.c - see hdf5_scale.h. */
#include "hdf5_scale.h"
#include <hdf5_hl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 65536, CHARACTERS_MOST = 1 << 16 };

static void make_scale(gbees_hdf5 *file, const char *name, const char *title)
{
    hid_t scale = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;

    if (!gbees_hdf5_is_open(file))
        return;
    if (scale < 0 || H5DSset_scale(scale, title) < 0)
        gbees_hdf5_fail(file);
    if (scale >= 0)
        (void)H5Dclose(scale);
}

void gbees_hdf5_dimension(gbees_hdf5 *file, const char *name, hsize_t length)
{
    int32_t *number = malloc((size_t)(length + 1) * sizeof *number);
    char title[96];

    if (!number) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    for (hsize_t k = 0; k < length; k++)
        number[k] = (int32_t)(k + 1);
    gbees_hdf5_dataset(file, name, H5T_NATIVE_INT32, 1, &length, (hsize_t[]){CHUNK}, number);
    free(number);
    (void)snprintf(title, sizeof title, "This is a netCDF dimension but not a netCDF variable.%10llu",
                   (unsigned long long)length);
    make_scale(file, name, title);
}

void gbees_hdf5_scale_set(gbees_hdf5 *file, const char *name)
{
    const char *last = strrchr(name, '/');

    make_scale(file, name, last ? last + 1 : name);
}

void gbees_hdf5_scale_attach(gbees_hdf5 *file, const char *name, unsigned axis, const char *scale_name)
{
    hid_t set = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;
    hid_t scale = set >= 0 ? H5Dopen2(file->id, scale_name, H5P_DEFAULT) : -1;

    if (!gbees_hdf5_is_open(file))
        return;
    if (set < 0 || scale < 0 || H5DSattach_scale(set, scale, axis) < 0)
        gbees_hdf5_fail(file);
    if (scale >= 0)
        (void)H5Dclose(scale);
    if (set >= 0)
        (void)H5Dclose(set);
}

void gbees_hdf5_characters(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts,
                           const char *dimension, const char *length)
{
    size_t longest;
    char *packed = gbees_hdf5_pack(count, texts, &longest);

    if (!packed) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    gbees_hdf5_dataset(file, name, H5T_C_S1, 2, (hsize_t[]){count, longest}, NULL, packed);
    free(packed);
    gbees_hdf5_dimension(file, length, longest);
    gbees_hdf5_scale_attach(file, name, 0, dimension);
    gbees_hdf5_scale_attach(file, name, 1, length);
}

void gbees_hdf5_read_characters(gbees_hdf5 *file, const char *name, size_t count, size_t length, char *texts,
                                size_t size)
{
    const hsize_t start[] = {0, 0}, all[] = {count, length};
    char *packed = length > CHARACTERS_MOST || count > CHARACTERS_MOST ? NULL : calloc(count + 1, length + 1);

    if (!packed) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for its names");
        return;
    }
    gbees_hdf5_read(file, name, H5T_C_S1, 2, start, all, packed);
    for (size_t k = 0; k < count; k++)
        (void)snprintf(texts + k * size, size, "%.*s", (int)length, packed + k * length);
    free(packed);
}
