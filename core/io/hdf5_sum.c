/* hdf5_sum.c - sums each dataset as it is written and stores the sum in an attribute; a reader visits all objects
 * and attributes of the file, sums again, and compares. */
#include "hdf5_sum.h"
#include "hdf5_sum_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 8, SEEN_MOST = 256 };

static const char attribute_name[] = "sha256";

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* Adds `rows` rows of `columns` values each, block of columns by block of columns. */
static void add_table(gbees_sha256_sum *sum, size_t rows, size_t columns, size_t bytes, const char *data)
{
    for (size_t first = 0; first < columns; first += GBEES_HDF5_SUM_COLUMNS) {
        size_t left = columns - first, count = left < GBEES_HDF5_SUM_COLUMNS ? left : GBEES_HDF5_SUM_COLUMNS;

        if (count == columns)
            gbees_sha256_add(sum, data, rows * columns * bytes);
        else
            for (size_t i = 0; i < rows; i++)
                gbees_sha256_add(sum, data + (i * columns + first) * bytes, count * bytes);
    }
}

static void add_values(gbees_sha256_sum *sum, size_t bytes, int rank, const hsize_t *size, const void *data)
{
    size_t columns = rank > 0 ? (size_t)size[rank - 1] : 1, rows = 1;

    for (int k = 0; k < rank - 1; k++)
        rows *= (size_t)size[k];
    add_table(sum, rows, columns, bytes, data);
}

/* ---- the attribute that holds a sum ---------------------------------------------------------------------------- */

static hid_t make_sum_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    if (type >= 0)
        (void)H5Tset_size(type, GBEES_SHA256_HEX - 1);
    if (type >= 0)
        (void)H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

/* Attaches a sum to an object that is in `place`, a file or a group, or is that itself: ".". */
static void put_text(gbees_hdf5 *file, hid_t place, const char *object, const char *name,
                     const char hex[GBEES_SHA256_HEX])
{
    hid_t type = make_sum_type(), space = H5Screate(H5S_SCALAR), attribute = -1;

    if (type >= 0 && space >= 0)
        attribute = H5Acreate_by_name(place, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, hex) < 0 || H5Aclose(attribute) < 0)
        gbees_hdf5_fail(file);
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
}

static void put(gbees_hdf5 *file, hid_t place, const char *object, gbees_sha256_sum *sum)
{
    char hex[GBEES_SHA256_HEX];

    gbees_sha256_finish(sum, hex);
    put_text(file, place, object, attribute_name, hex);
}

void gbees_hdf5_sum_add(gbees_sha256_sum *sum, int of_parts, const void *data, size_t bytes)
{
    char hex[GBEES_SHA256_HEX];

    if (!of_parts) {
        gbees_sha256_add(sum, data, bytes);
        return;
    }
    gbees_sha256(data, bytes, hex);
    gbees_sha256_add(sum, hex, strlen(hex));
}

void gbees_hdf5_sum_compare(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum)
{
    char hex[GBEES_SHA256_HEX], stored[GBEES_SHA256_HEX] = "";

    if (!gbees_hdf5_is_open(file))
        return;
    const char *own = gbees_hdf5_sum_is_of_parts(file, name) ? gbees_hdf5_sum_parts_name : attribute_name;
    hid_t attribute = H5Aopen_by_name(file->id, name, own, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = make_sum_type(), space = attribute < 0 ? -1 : H5Aget_space(attribute);
    gbees_sha256_finish(sum, hex);
    if (space < 0 || type < 0 || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, type, stored) < 0)
        gbees_hdf5_sum_reject(file, name, "has no checksum that can be read");
    else if (strcmp(hex, stored) != 0)
        gbees_hdf5_sum_reject(file, name, "does not have the checksum that it was written with");
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
    if (attribute >= 0)
        (void)H5Aclose(attribute);
}

/* ---- datasets that are written --------------------------------------------------------------------------------- */

void gbees_hdf5_sum_dataset(gbees_hdf5 *file, hid_t set, hid_t type, int rank, const hsize_t *size, const void *data)
{
    gbees_sha256_sum sum;

    if (!gbees_hdf5_is_open(file))
        return;
    gbees_sha256_start(&sum);
    add_values(&sum, H5Tget_size(type), rank, size, data);
    put(file, set, ".", &sum);
}

void gbees_hdf5_sum_begin(gbees_hdf5 *file, const char *name)
{
    if (!gbees_hdf5_is_open(file))
        return;
    if (file->part_count == GBEES_HDF5_PARTS) {
        gbees_hdf5_reject(file, GBEES_EUSAGE, "too many datasets are written in parts");
        return;
    }
    gbees_hdf5_part *part = &file->part[file->part_count++];
    (void)snprintf(part->name, sizeof part->name, "%s", name);
    part->count = 0;
    gbees_sha256_start(&part->sum);
}

gbees_hdf5_part *gbees_hdf5_sum_parts(gbees_hdf5 *file, const char *name)
{
    for (int k = 0; k < file->part_count; k++)
        if (strcmp(file->part[k].name, name) == 0)
            return &file->part[k];
    return NULL;
}

void gbees_hdf5_sum_part(gbees_hdf5_part *parts, const char hex[GBEES_SHA256_HEX])
{
    memcpy(parts->last, hex, GBEES_SHA256_HEX);
    gbees_sha256_add(&parts->sum, hex, GBEES_SHA256_HEX - 1);
    parts->count++;
}

/* Stores the sum of one chunk, or that of the sums of several. */
static void put_parts(gbees_hdf5 *file, gbees_hdf5_part *parts)
{
    char hex[GBEES_SHA256_HEX];

    gbees_sha256_finish(&parts->sum, hex);
    if (parts->count == 1)
        put_text(file, file->id, parts->name, attribute_name, parts->last);
    else
        put_text(file, file->id, parts->name, gbees_hdf5_sum_parts_name, hex);
}

/* ---- datasets that are read ------------------------------------------------------------------------------------ */

static void check_values(gbees_hdf5 *file, const char *name, hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hid_t native = type >= 0 ? gbees_hdf5_sum_type(type) : -1;
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t size[GBEES_HDF5_SUM_RANK] = {0};
    gbees_sha256_sum sum;

    gbees_sha256_start(&sum);
    if (type < 0 || rank < 1 || rank > GBEES_HDF5_SUM_RANK || H5Sget_simple_extent_dims(space, size, NULL) < 0)
        gbees_hdf5_sum_reject(file, name, "has no shape of gbees's");
    else if (gbees_hdf5_sum_is_variable(type))
        gbees_hdf5_sum_texts_of(file, name, &sum, set, 0, type, H5Sget_simple_extent_npoints(space));
    else if (native < 0)
        gbees_hdf5_sum_reject(file, name, "has no type of gbees's");
    else
        gbees_hdf5_sum_values_of(file, name, &sum, set, native, rank, size);
    gbees_hdf5_sum_compare(file, name, &sum);
    if (native >= 0)
        (void)H5Tclose(native);
    if (type >= 0)
        (void)H5Tclose(type);
    if (space >= 0)
        (void)H5Sclose(space);
}

void gbees_hdf5_sum_check_dataset(gbees_hdf5 *file, const char *name)
{
    hid_t set = gbees_hdf5_is_open(file) ? H5Dopen2(file->id, name, H5P_DEFAULT) : -1;

    if (set >= 0)
        check_values(file, name, set);
    else
        gbees_hdf5_sum_reject(file, name, "is missing");
    if (set >= 0)
        (void)H5Dclose(set);
}

/* ---- all objects, in the order of their names ------------------------------------------------------------------ */

typedef struct walk {
    gbees_hdf5 *file;
    gbees_sha256_sum sum;
    int values, depth;
    haddr_t seen[SEEN_MOST]; /* objects that have been visited */
    int seen_count;
    char path[256];
} walk;

/* "kind path name: class bytes size size ..." and a newline. */
static void add_head(walk *w, const char *kind, const char *name, hid_t type, hid_t space)
{
    char text[512];
    hsize_t size[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    int length = snprintf(text, sizeof text, "%s %s %.100s: %d %zu", kind, w->path, name, (int)H5Tget_class(type),
                          H5Tget_size(type));

    for (int k = 0; k < rank && length > 0 && (size_t)length < sizeof text; k++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %llu", (unsigned long long)size[k]);
    gbees_sha256_add(&w->sum, text, strlen(text) + 1);
}

/* Values of numbers and strings; of other types, dimension scales, the head alone. */
static void add_attribute_values(walk *w, const char *name, hid_t attribute, hid_t type, hid_t space)
{
    hid_t native = gbees_hdf5_sum_type(type);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t bytes = native < 0 ? 0 : H5Tget_size(native);

    if (gbees_hdf5_sum_is_variable(type)) {
        gbees_hdf5_sum_texts_of(w->file, name, &w->sum, attribute, 1, type, count);
    } else if (native >= 0) {
        char *data = bytes == 0 || count < 0 || (size_t)count > GBEES_HDF5_SUM_SLAB / bytes
                         ? NULL
                         : malloc((size_t)count * bytes + 1);

        if (!data)
            gbees_hdf5_sum_reject(w->file, name, "has more values than it can have");
        else if (H5Aread(attribute, native, data) < 0)
            gbees_hdf5_fail(w->file);
        else
            gbees_sha256_add(&w->sum, data, (size_t)count * bytes);
        free(data);
    }
    if (native >= 0)
        (void)H5Tclose(native);
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    walk *w = context;

    (void)info;
    if (w->depth == 0 && strcmp(name, attribute_name) == 0)
        return 0;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute), space = attribute < 0 ? -1 : H5Aget_space(attribute);
    if (type < 0 || space < 0) {
        gbees_hdf5_fail(w->file);
    } else {
        add_head(w, "attribute", name, type, space);
        add_attribute_values(w, name, attribute, type, space);
    }
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
    if (attribute >= 0)
        (void)H5Aclose(attribute);
    return w->file->status ? -1 : 0;
}

/* A dimension has no values and no checksum of them. */
static int has_values(hid_t set)
{
    return H5Dget_storage_size(set) > 0 || H5Aexists(set, attribute_name) != 0 ||
           H5Aexists(set, gbees_hdf5_sum_parts_name) != 0;
}

static void visit_dataset(walk *w, hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);

    if (type < 0 || space < 0)
        gbees_hdf5_fail(w->file);
    else
        add_head(w, "dataset", "", type, space);
    if (w->values && gbees_hdf5_is_open(w->file) && has_values(set))
        check_values(w->file, w->path, set);
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context);

/* The number of an object that has been visited by another of its names, counted from 0; else -1. */
static int find_again(walk *w, haddr_t address)
{
    for (int k = 0; k < w->seen_count; k++)
        if (w->seen[k] == address)
            return k;
    if (w->seen_count < SEEN_MOST)
        w->seen[w->seen_count++] = address;
    return -1;
}

static void visit_object(walk *w, hid_t object)
{
    const H5I_type_t kind = H5Iget_type(object);

    if (kind == H5I_DATASET)
        visit_dataset(w, object);
    if (gbees_hdf5_is_open(w->file) && H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, w) < 0)
        gbees_hdf5_fail(w->file);
    if (kind == H5I_GROUP && gbees_hdf5_is_open(w->file) &&
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, w) < 0)
        gbees_hdf5_fail(w->file);
}

static void visit_named(walk *w, hid_t group, const char *name)
{
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);

    if (object < 0) {
        gbees_hdf5_fail(w->file);
        return;
    }
    w->depth++;
    visit_object(w, object);
    w->depth--;
    (void)H5Oclose(object);
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    walk *w = context;
    const size_t length = strlen(w->path);

    if (info->type != H5L_TYPE_HARD || w->depth == DEPTH_MOST || length + strlen(name) + 2 > sizeof w->path) {
        gbees_hdf5_sum_reject(w->file, name, "is no dataset or group of gbees's");
        return -1;
    }
    (void)snprintf(w->path + length, sizeof w->path - length, "/%s", name);
    const int again = find_again(w, info->u.address);
    if (again >= 0) {
        char text[512];
        const int length_of = snprintf(text, sizeof text, "again %s: %d", w->path, again);

        gbees_sha256_add(&w->sum, text, (size_t)length_of + 1);
    } else
        visit_named(w, group, name);
    w->path[length] = '\0';
    return w->file->status ? -1 : 0;
}

static void walk_all(gbees_hdf5 *file, int values, gbees_sha256_sum *sum)
{
    walk w = {.file = file, .values = values};
    hid_t root = H5Gopen2(file->id, "/", H5P_DEFAULT);

    gbees_sha256_start(&w.sum);
    if (root < 0)
        gbees_hdf5_fail(file);
    else
        visit_object(&w, root);
    if (root >= 0)
        (void)H5Gclose(root);
    *sum = w.sum;
}

void gbees_hdf5_sum_finish(gbees_hdf5 *file)
{
    gbees_sha256_sum sum;

    for (int k = 0; k < file->part_count && gbees_hdf5_is_open(file); k++)
        put_parts(file, &file->part[k]);
    if (gbees_hdf5_is_open(file))
        walk_all(file, 0, &sum);
    if (gbees_hdf5_is_open(file))
        put(file, file->id, "/", &sum);
}

int gbees_hdf5_is_summed(const gbees_hdf5 *file)
{
    static const char *const sets[] = {"/grid/h", "/time"};
    int summed = gbees_hdf5_is_open(file) && H5Aexists(file->id, attribute_name) > 0;

    for (size_t k = 0; k < sizeof sets / sizeof *sets && gbees_hdf5_is_open(file) && !summed; k++)
        summed = H5Lexists(file->id, sets[k], H5P_DEFAULT) > 0 &&
                 H5Aexists_by_name(file->id, sets[k], attribute_name, H5P_DEFAULT) > 0;
    return summed;
}

void gbees_hdf5_sum_check(gbees_hdf5 *file, int values)
{
    gbees_sha256_sum sum;

    if (!gbees_hdf5_is_open(file))
        return;
    walk_all(file, values, &sum);
    gbees_hdf5_sum_compare(file, "/", &sum);
}
