/* hdf5_util.c - creates, writes and reads datasets and attributes of numbers and strings; after a failure the
 * functions do nothing. */
#include "hdf5_util.h"
#include "hdf5_chunks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_BYTES = 4096,     /* of a dataset that is not compressed, at most, */
    COMPACT_BYTES = 1 << 15 /* of one for which that is not wanted: HDF5 has no object header of more than 64 KiB */
};

static void check(gbees_hdf5 *file, int failed)
{
    if (failed)
        gbees_hdf5_fail(file);
}

static void close_space(hid_t space)
{
    gbees_hdf5_release(space);
}

static hid_t make_space(int rank, const hsize_t *size)
{
    return rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, size, NULL);
}

/* ---- strings: of one fixed length a list, padded with 0, which every tool reads without HDF5's heap; plain ASCII is
 * said to be so, for old readers --------------------------------------------------------------------------------- */

static int are_ascii(size_t count, const char *const *texts)
{
    for (size_t i = 0; i < count; i++)
        for (const char *text = texts[i]; text && *text; text++)
            if (*text & 0x80)
                return 0;
    return 1;
}

static hid_t make_text_type(size_t length, int ascii)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    if (type < 0)
        return type;
    if (H5Tset_size(type, length) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8) < 0) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

char *gbees_hdf5_pack(size_t count, const char *const *texts, size_t *length)
{
    *length = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t own = texts[i] ? strlen(texts[i]) : 0;

        *length = own > *length ? own : *length;
    }
    char *packed = calloc(count + 1, *length);

    for (size_t i = 0; packed && i < count; i++)
        if (texts[i])
            memcpy(packed + i * *length, texts[i], strlen(texts[i]));
    return packed;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

void gbees_hdf5_group(gbees_hdf5 *file, const char *name)
{
    if (!gbees_hdf5_is_open(file))
        return;
    hid_t group = H5Gcreate2(file->id, name, H5P_DEFAULT, file->group, H5P_DEFAULT);
    check(file, group < 0 || H5Gclose(group) < 0);
}

void gbees_hdf5_alias(gbees_hdf5 *file, const char *name, const char *other)
{
    if (gbees_hdf5_is_open(file))
        check(file, H5Lcreate_soft(name, file->id, other, H5P_DEFAULT, H5P_DEFAULT) < 0);
}

/* Closes the dataset that was made before. */
static void keep_open(gbees_hdf5 *file, hid_t set, const char *name)
{
    gbees_hdf5_release(file->last);
    file->last = set;
    (void)snprintf(file->last_name, sizeof file->last_name, "%.63s", name);
}

void gbees_hdf5_unwritten(gbees_hdf5 *file, const char *name, hsize_t length)
{
    if (!gbees_hdf5_is_open(file))
        return;
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t set =
        space < 0 ? -1 : H5Dcreate2(file->id, name, H5T_NATIVE_INT8, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    check(file, set < 0);
    keep_open(file, set, name);
    close_space(space);
}

/* Whether a dataset is stored in chunks, which have checksums: one that is written in parts, or is of several chunks
 * or not small. Others are in their object header. */
static int is_chunked(hid_t type, int rank, const hsize_t *size, const hsize_t *chunk, const void *data)
{
    size_t bytes = H5Tget_size(type);
    int several = !data;

    for (int k = 0; k < rank; k++) {
        bytes *= (size_t)size[k];
        several |= chunk && size[k] > chunk[k];
    }
    return bytes > (several ? 0 : chunk ? SMALL_BYTES : COMPACT_BYTES);
}

/* The list of properties of a dataset in chunks, which are no larger than it; numbers of a chunk that is missing are
 * read as not a number. -1: HDF5 failed. */
static hid_t make_chunks(hid_t type, int rank, const hsize_t *size, const hsize_t *chunk)
{
    const double nowhere = NAN;
    hsize_t fitted[GBEES_HDF5_MAX_RANK];
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    const int is_real = H5Tget_class(type) == H5T_FLOAT;

    for (int k = 0; k < rank; k++)
        fitted[k] = chunk && chunk[k] < size[k] ? chunk[k] : size[k];
    if (layout >= 0 && (!is_real || H5Pset_fill_value(layout, H5T_NATIVE_DOUBLE, &nowhere) >= 0) &&
        gbees_hdf5_chunks_set(layout, rank, fitted) >= 0 && H5Pset_obj_track_times(layout, 0) >= 0)
        return layout;
    gbees_hdf5_release(layout);
    return -1;
}

void gbees_hdf5_dataset_as(gbees_hdf5 *file, const char *name, hid_t in_file, hid_t type, int rank,
                           const hsize_t *size, const hsize_t *chunk, const void *data)
{
    const hsize_t start[GBEES_HDF5_MAX_RANK] = {0};

    if (!gbees_hdf5_is_open(file))
        return;
    const int chunked = is_chunked(in_file, rank, size, chunk, data);
    hid_t space = make_space(rank, size);
    hid_t layout = chunked ? make_chunks(in_file, rank, size, chunk) : file->compact;
    hid_t set =
        space < 0 || layout < 0 ? -1 : H5Dcreate2(file->id, name, in_file, space, H5P_DEFAULT, layout, H5P_DEFAULT);

    check(file, set < 0);
    if (set >= 0 && data && chunked)
        gbees_hdf5_chunks_write(file, set, type, rank, start, size, data);
    else if (set >= 0 && data)
        check(file, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0);
    keep_open(file, set, name);
    if (chunked)
        gbees_hdf5_release(layout);
    close_space(space);
}

void gbees_hdf5_dataset(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *size,
                        const hsize_t *chunk, const void *data)
{
    gbees_hdf5_dataset_as(file, name, type, type, rank, size, chunk, data);
}

void gbees_hdf5_write(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *start,
                      const hsize_t *count, const void *data)
{
    if (!gbees_hdf5_is_open(file))
        return;
    hid_t set = gbees_hdf5_open_set(file, name);
    check(file, set < 0);
    if (set >= 0)
        gbees_hdf5_chunks_write(file, set, type, rank, start, count, data);
    gbees_hdf5_release(set);
}

void gbees_hdf5_attribute(gbees_hdf5 *file, const char *object, const char *name, hid_t type, int rank,
                          const hsize_t *size, const void *data)
{
    if (!gbees_hdf5_is_open(file))
        return;
    const char *within = gbees_hdf5_within(object);
    const hid_t space = rank == 0 ? file->scalar : make_space(rank, size);
    hid_t attribute = -1;

    if (space >= 0 && strcmp(within, ".") == 0)
        attribute = H5Acreate2(file->id, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    else if (space >= 0 && file->last >= 0 && strcmp(file->last_name, within) == 0)
        attribute = H5Acreate2(file->last, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    else if (space >= 0)
        attribute = H5Acreate_by_name(file->id, within, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    check(file, attribute < 0 || H5Awrite(attribute, type, data) < 0);
    check(file, attribute >= 0 && H5Aclose(attribute) < 0);
    if (rank > 0)
        close_space(space);
}

/* One string is a scalar where rank is 0. An object NULL makes a dataset. */
static void put_texts(gbees_hdf5 *file, const char *object, const char *name, int rank, size_t count,
                      const char *const *texts)
{
    hsize_t size = count;
    size_t length;
    char *packed = gbees_hdf5_pack(count, texts, &length);
    hid_t type = packed ? make_text_type(length, are_ascii(count, texts)) : -1;

    if (!packed)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    else if (type < 0)
        gbees_hdf5_fail(file);
    else if (object)
        gbees_hdf5_attribute(file, object, name, type, rank, &size, packed);
    else
        gbees_hdf5_dataset(file, name, type, rank, &size, NULL, packed);
    gbees_hdf5_release(type);
    free(packed);
}

void gbees_hdf5_texts(gbees_hdf5 *file, const char *name, size_t count, const char *const *texts)
{
    put_texts(file, NULL, name, 1, count, texts);
}

void gbees_hdf5_attribute_text(gbees_hdf5 *file, const char *object, const char *name, const char *text)
{
    put_texts(file, object, name, 0, 1, &text);
}

void gbees_hdf5_attribute_texts(gbees_hdf5 *file, const char *object, const char *name, size_t count,
                                const char *const *texts)
{
    put_texts(file, object, name, 1, count, texts);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void reject_named(gbees_hdf5 *file, const char *name, const char *what)
{
    char reason[200];

    (void)snprintf(reason, sizeof reason, "%s %s: this is no record of gbees, or a damaged one", name, what);
    gbees_hdf5_reject(file, GBEES_EINPUT, reason);
}

/* Reads all strings, of variable or of fixed length, cut to size - 1 bytes: 0, -1 if HDF5 fails, 1 without memory. */
static int read_all_strings(hid_t set, int is_attribute, hid_t type, size_t count, char *texts, size_t size)
{
    int variable = H5Tis_variable_str(type) > 0;
    size_t length = variable ? sizeof(char *) : H5Tget_size(type);
    char *raw = calloc(count + 1, length);

    if (!raw)
        return 1;
    herr_t result = is_attribute ? H5Aread(set, type, raw) : H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw);
    for (size_t i = 0; i < count && result >= 0; i++) {
        char *text = raw + i * length;

        if (variable) {
            memcpy(&text, raw + i * length, sizeof text);
            (void)snprintf(texts + i * size, size, "%s", text ? text : "");
            (void)H5free_memory(text);
        } else {
            (void)snprintf(texts + i * size, size, "%.*s", (int)length, text);
        }
    }
    free(raw);
    return result < 0 ? -1 : 0;
}

int gbees_hdf5_is_inside(hid_t set)
{
    hid_t made = H5Dget_create_plist(set);
    H5D_layout_t layout = made < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(made);
    int inside = (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
                 H5Pget_external_count(made) == 0;

    gbees_hdf5_release(made);
    return inside;
}

static hid_t open_set(gbees_hdf5 *file, const char *name)
{
    hid_t set = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, gbees_hdf5_within(name), H5P_DEFAULT) : -1;

    if (set < 0)
        reject_named(file, name, "is missing");
    if (set < 0 || gbees_hdf5_is_inside(set))
        return set;
    reject_named(file, name, "is not in the file itself");
    (void)H5Dclose(set);
    return -1;
}

void gbees_hdf5_size(gbees_hdf5 *file, const char *name, int rank, hsize_t *size)
{
    hid_t set = open_set(file, name);

    if (set < 0)
        return;
    hid_t space = H5Dget_space(set);
    if (space < 0 || H5Sget_simple_extent_ndims(space) != rank)
        reject_named(file, name, "has the wrong shape");
    else
        check(file, H5Sget_simple_extent_dims(space, size, NULL) < 0);
    close_space(space);
    (void)H5Dclose(set);
}

void gbees_hdf5_read(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *start,
                     const hsize_t *count, void *data)
{
    hid_t set = open_set(file, name);

    if (set < 0)
        return;
    hid_t space = H5Dget_space(set);
    hid_t memory = make_space(rank, count);
    check(file, space < 0 || memory < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                    H5Dread(set, type, memory, space, H5P_DEFAULT, data) < 0);
    close_space(memory);
    close_space(space);
    (void)H5Dclose(set);
}

int gbees_hdf5_is_f32(gbees_hdf5 *file, const char *name)
{
    hid_t set = open_set(file, name), type = set < 0 ? -1 : H5Dget_type(set);
    int is_f32 = type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(float);

    gbees_hdf5_release(type);
    gbees_hdf5_release(set);
    return is_f32;
}

int gbees_hdf5_has_dataset(const gbees_hdf5 *file, const char *name)
{
    return gbees_hdf5_is_open(file) && H5Lexists(file->id, gbees_hdf5_within(name), H5P_DEFAULT) > 0;
}

int gbees_hdf5_has_attribute(const gbees_hdf5 *file, const char *name)
{
    return gbees_hdf5_is_open(file) && H5Aexists(file->id, name) > 0;
}

void gbees_hdf5_read_attribute_list(gbees_hdf5 *file, const char *name, hid_t type, size_t count, void *data)
{
    if (!gbees_hdf5_is_open(file))
        return;
    hid_t attribute = H5Aopen(file->id, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);

    if (space < 0 || H5Sget_simple_extent_npoints(space) != (hssize_t)count)
        reject_named(file, name,
                     attribute < 0 ? "is missing"
                     : count == 1  ? "is not one number"
                                   : "does not have as many numbers as it should");
    else
        check(file, H5Aread(attribute, type, data) < 0);
    close_space(space);
    gbees_hdf5_release(attribute);
}

void gbees_hdf5_read_attribute(gbees_hdf5 *file, const char *name, hid_t type, void *data)
{
    gbees_hdf5_read_attribute_list(file, name, type, 1, data);
}

/* Reads `count` strings with H5Dread or H5Aread as `set` is one or the other. */
static void read_strings(gbees_hdf5 *file, hid_t set, int is_attribute, hid_t type, size_t count, char *texts,
                         size_t size)
{
    const int result = read_all_strings(set, is_attribute, type, count, texts, size);

    if (result > 0)
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
    check(file, result < 0);
}

size_t gbees_hdf5_read_attribute_texts(gbees_hdf5 *file, const char *name, size_t most, char *texts, size_t size)
{
    hid_t attribute = gbees_hdf5_is_open(file) ? H5Aopen(file->id, name, H5P_DEFAULT) : -1;
    size_t found = 0;

    if (attribute < 0) {
        reject_named(file, name, "is missing");
        return 0;
    }
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (type < 0 || count < 0 || H5Tget_class(type) != H5T_STRING || (size_t)count > most)
        reject_named(file, name, most == 1 ? "is not one string" : "is no list of strings that could be");
    else if (count > 0)
        read_strings(file, attribute, 1, type, found = (size_t)count, texts, size);
    close_space(space);
    gbees_hdf5_release(type);
    (void)H5Aclose(attribute);
    return file->status ? 0 : found;
}

void gbees_hdf5_read_attribute_text(gbees_hdf5 *file, const char *name, char *text, size_t size)
{
    if (gbees_hdf5_read_attribute_texts(file, name, 1, text, size) == 0)
        reject_named(file, name, "is not one string");
}

void gbees_hdf5_read_texts(gbees_hdf5 *file, const char *name, size_t count, char *texts, size_t size)
{
    hid_t set = open_set(file, name);

    if (set < 0)
        return;
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space) != (hssize_t)count)
        reject_named(file, name, "has the wrong shape");
    else
        read_strings(file, set, 0, type, count, texts, size);
    close_space(space);
    gbees_hdf5_release(type);
    (void)H5Dclose(set);
}
