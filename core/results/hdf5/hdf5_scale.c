/* hdf5_scale.c - makes dimension scales, attaches them to the axes of datasets, and stores lists of strings as
 * characters along such an axis. */
#include "hdf5_scale.h"
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARACTERS_MOST = 1 << 16 };

/* ---- scales ------------------------------------------------------------------------------------------------------
 */

/* The scale of that name, as datasets refer to it; NULL if there is none. */
static gbees_hdf5_scale *find_scale(gbees_hdf5 *file, const char *name)
{
    const int last = file->scale_count;
    gbees_hdf5_scale *made = &file->scales[last];

    for (int k = 0; k < last; k++)
        if (strcmp(file->scales[k].name, name) == 0)
            return &file->scales[k];
    if (last == GBEES_HDF5_SCALES || strlen(name) >= sizeof made->name || !gbees_hdf5_is_open(file) ||
        H5Rcreate(&made->object, file->id, name, H5R_OBJECT, -1) < 0) {
        gbees_hdf5_reject(file, GBEES_EUSAGE, "it has too many axes, or one without a name");
        return NULL;
    }
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->length = 0;
    file->scale_count++;
    return made;
}

static void make_scale(gbees_hdf5 *file, const char *name, const char *title)
{
    const hid_t set = gbees_hdf5_is_open(file) ? gbees_hdf5_open_set(file, name) : -1;

    if (gbees_hdf5_is_open(file) && (set < 0 || H5DSset_scale(set, title) < 0))
        gbees_hdf5_fail(file);
    gbees_hdf5_release(set);
}

void gbees_hdf5_dimension(gbees_hdf5 *file, const char *name, hsize_t length)
{
    char title[96];

    gbees_hdf5_unwritten(file, name, length);
    (void)snprintf(title, sizeof title, "This is a netCDF dimension but not a netCDF variable.%10llu",
                   (unsigned long long)length);
    make_scale(file, name, title);
}

/* The root's scale of that name, made if there is none; NULL if it has another length, or HDF5 fails. */
static const gbees_hdf5_scale *take_shared(gbees_hdf5 *root, const char *name, hsize_t length)
{
    const int known = root->scale_count;

    if (H5Lexists(root->id, name, H5P_DEFAULT) <= 0)
        gbees_hdf5_dimension(root, name, length);
    gbees_hdf5_scale *scale = find_scale(root, name);
    if (scale && root->scale_count > known)
        gbees_hdf5_size(root, name, 1, &scale->length);
    return scale && !root->status && scale->length == length ? scale : NULL;
}

void gbees_hdf5_shared_dimension(gbees_hdf5 *file, const char *name, hsize_t length)
{
    const gbees_hdf5_scale *scale = NULL;

    if (gbees_hdf5_is_open(file) && file->root && file->scale_count < GBEES_HDF5_SCALES)
        scale = take_shared(file->root, name, length);
    if (scale)
        file->scales[file->scale_count++] = *scale;
    else
        gbees_hdf5_dimension(file, name, length);
}

void gbees_hdf5_scale_set(gbees_hdf5 *file, const char *name)
{
    const char *last = strrchr(name, '/');

    make_scale(file, name, last ? last + 1 : name);
}

/* Writes the attribute by which HDF5 says which scale each axis has. Lists of the datasets that a scale has, which
 * H5DSattach_scale() writes anew each time, nobody reads. */
static void put_list(gbees_hdf5 *file, hid_t set, int rank, hobj_ref_t *objects)
{
    const hsize_t size = (hsize_t)rank;
    hvl_t lists[GBEES_HDF5_MAX_RANK];
    const hid_t space = H5Screate_simple(1, &size, NULL);
    const hid_t attribute =
        space < 0 ? -1 : H5Acreate2(set, "DIMENSION_LIST", file->axes, space, H5P_DEFAULT, H5P_DEFAULT);

    for (int k = 0; k < rank; k++)
        lists[k] = (hvl_t){.len = 1, .p = &objects[k]};
    if (attribute < 0 || H5Awrite(attribute, file->axes, lists) < 0)
        gbees_hdf5_fail(file);
    gbees_hdf5_release(attribute);
    gbees_hdf5_release(space);
}

void gbees_hdf5_scale_attach(gbees_hdf5 *file, const char *name, int rank, const char *const *scales)
{
    hobj_ref_t objects[GBEES_HDF5_MAX_RANK];

    for (int k = 0; k < rank && gbees_hdf5_is_open(file); k++) {
        const gbees_hdf5_scale *scale = find_scale(file, scales[k]);

        objects[k] = scale ? scale->object : 0;
    }
    if (!gbees_hdf5_is_open(file))
        return;
    const hid_t set = gbees_hdf5_open_set(file, name);
    if (set < 0)
        gbees_hdf5_fail(file);
    else
        put_list(file, set, rank, objects);
    gbees_hdf5_release(set);
}

/* ---- strings -----------------------------------------------------------------------------------------------------
 */

void gbees_hdf5_states(gbees_hdf5 *file, const gbees_quantity *states, size_t n)
{
    const char *names[GBEES_MAX_DIM], *units[GBEES_MAX_DIM];

    for (size_t j = 0; j < n; j++) {
        names[j] = states[j].name;
        units[j] = states[j].unit;
    }
    gbees_hdf5_shared_dimension(file, "state", n);
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
