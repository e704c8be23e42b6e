/* hdf5_scale.c - see hdf5_scale.h. */
#include "hdf5_scale.h"
#include <hdf5_hl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 65536, LETTERS_MOST = 1 << 16 };

static int is_open(const gbees_hdf5 *file)
{
    return file->id >= 0 && file->status == GBEES_OK;
}

static void make_scale(gbees_hdf5 *file, const char *name, const char *title)
{
    hid_t scale = is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;

    if (!is_open(file))
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
    hid_t set = is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;
    hid_t scale = set >= 0 ? H5Dopen2(file->id, scale_name, H5P_DEFAULT) : -1;

    if (!is_open(file))
        return;
    if (set < 0 || scale < 0 || H5DSattach_scale(set, scale, axis) < 0)
        gbees_hdf5_fail(file);
    if (scale >= 0)
        (void)H5Dclose(scale);
    if (set >= 0)
        (void)H5Dclose(set);
}

void gbees_hdf5_letters(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts,
                        const char *dimension, const char *letters)
{
    size_t longest = 1;

    for (size_t k = 0; k < count; k++)
        longest = texts[k] && strlen(texts[k]) > longest ? strlen(texts[k]) : longest;
    char *packed = calloc(count + 1, longest);

    if (!packed) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    for (size_t k = 0; k < count; k++)
        if (texts[k])
            memcpy(packed + k * longest, texts[k], strlen(texts[k]));
    gbees_hdf5_dataset(file, name, H5T_C_S1, 2, (hsize_t[]){count, longest}, NULL, packed);
    free(packed);
    gbees_hdf5_dimension(file, letters, longest);
    gbees_hdf5_scale_attach(file, name, 0, dimension);
    gbees_hdf5_scale_attach(file, name, 1, letters);
}

void gbees_hdf5_read_letters(gbees_hdf5 *file, const char *name, size_t count, size_t letters, char *texts,
                             size_t size)
{
    const hsize_t start[] = {0, 0}, all[] = {count, letters};
    char *packed = letters > LETTERS_MOST || count > LETTERS_MOST ? NULL : calloc(count + 1, letters + 1);

    if (!packed) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory for its names");
        return;
    }
    gbees_hdf5_read(file, name, H5T_C_S1, 2, start, all, packed);
    for (size_t k = 0; k < count; k++)
        (void)snprintf(texts + k * size, size, "%.*s", (int)letters, packed + k * letters);
    free(packed);
}
