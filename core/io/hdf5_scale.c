/* hdf5_scale.c - makes dimension scales, attaches them to the axes of datasets, and stores lists of strings as
 * characters along such an axis. */
#include "hdf5_scale.h"
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARACTERS_MOST = 1 << 16 };

/* The open dataset of that name, which is closed with the file; scales are attached to many. -1 if there is none. */
static hid_t open_scale(gbees_hdf5 *file, const char *name)
{
    const int last = file->scale_count;

    for (int k = 0; k < last; k++)
        if (strcmp(file->scales[k].name, name) == 0)
            return file->scales[k].id;
    hid_t id = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;
    if (id < 0 || last == GBEES_HDF5_SCALES || strlen(name) >= sizeof file->scales[0].name) {
        if (id >= 0)
            (void)H5Dclose(id);
        gbees_hdf5_reject(file, GBEES_EUSAGE, "it has too many axes, or one without a name");
        return -1;
    }
    file->scales[last].id = id;
    (void)snprintf(file->scales[last].name, sizeof file->scales[last].name, "%s", name);
    file->scale_count++;
    return id;
}

static void make_scale(gbees_hdf5 *file, const char *name, const char *title)
{
    const hid_t scale = open_scale(file, name);

    if (scale >= 0 && H5DSset_scale(scale, title) < 0)
        gbees_hdf5_fail(file);
}

void gbees_hdf5_dimension(gbees_hdf5 *file, const char *name, hsize_t length)
{
    char title[96];

    gbees_hdf5_unwritten(file, name, length);
    (void)snprintf(title, sizeof title, "This is a netCDF dimension but not a netCDF variable.%10llu",
                   (unsigned long long)length);
    make_scale(file, name, title);
}

void gbees_hdf5_scale_set(gbees_hdf5 *file, const char *name)
{
    const char *last = strrchr(name, '/');

    make_scale(file, name, last ? last + 1 : name);
}

void gbees_hdf5_scale_attach(gbees_hdf5 *file, const char *name, int rank, const char *const *scales)
{
    hid_t set = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;

    if (!gbees_hdf5_is_open(file))
        return;
    if (set < 0)
        gbees_hdf5_fail(file);
    for (int k = 0; k < rank && gbees_hdf5_is_open(file); k++) {
        const hid_t scale = open_scale(file, scales[k]);

        if (scale >= 0 && H5DSattach_scale(set, scale, (unsigned)k) < 0)
            gbees_hdf5_fail(file);
    }
    if (set >= 0)
        (void)H5Dclose(set);
}

void gbees_hdf5_states(gbees_hdf5 *file, const gbees_quantity *states, size_t n)
{
    const char *names[GBEES_MAX_DIM], *units[GBEES_MAX_DIM];

    for (size_t j = 0; j < n; j++) {
        names[j] = states[j].name;
        units[j] = states[j].unit;
    }
    gbees_hdf5_dimension(file, "state", n);
    gbees_hdf5_characters(file, "state_name", n, names, "state", "state_name_letter");
    gbees_hdf5_characters(file, "state_unit", n, units, "state", "state_unit_letter");
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
    gbees_hdf5_scale_attach(file, name, 2, (const char *[]){dimension, length});
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
