/* hdf5_sum.c - see hdf5_sum.h. */
#include "hdf5_sum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_MOST = 3, DEPTH_MOST = 8, TEXTS_MOST = 1 << 16, SLAB = 1 << 21, SEEN_MOST = 64 };

static const char attribute_name[] = "sha256";

static void reject(gbees_hdf5 *file, const char *name, const char *what)
{
    char reason[200];

    (void)snprintf(reason, sizeof reason, "%.120s %s: the file is damaged", name, what);
    gbees_hdf5_reject(file, GBEES_EINPUT, reason);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void add_texts(gbees_sha256_sum *sum, size_t count, char *const *texts)
{
    for (size_t i = 0; i < count; i++)
        gbees_sha256_add(sum, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
}

/* Strings of variable length: gbees writes none, and reads those of other programs. */
static int is_variable(hid_t type)
{
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

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

static void put(gbees_hdf5 *file, const char *object, gbees_sha256_sum *sum)
{
    char hex[GBEES_SHA256_HEX];
    hid_t type = make_sum_type(), space = H5Screate(H5S_SCALAR), attribute = -1;

    gbees_sha256_finish(sum, hex);
    if (type >= 0 && space >= 0)
        attribute =
            H5Acreate_by_name(file->id, object, attribute_name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, hex) < 0 || H5Aclose(attribute) < 0)
        gbees_hdf5_fail(file);
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
}

void gbees_hdf5_sum_compare(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum)
{
    char hex[GBEES_SHA256_HEX], stored[GBEES_SHA256_HEX] = "";

    if (!gbees_hdf5_is_open(file))
        return;
    hid_t attribute = H5Aopen_by_name(file->id, name, attribute_name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = make_sum_type(), space = attribute < 0 ? -1 : H5Aget_space(attribute);
    gbees_sha256_finish(sum, hex);
    if (space < 0 || type < 0 || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, type, stored) < 0)
        reject(file, name, "has no checksum that can be read");
    else if (strcmp(hex, stored) != 0)
        reject(file, name, "does not have the checksum that it was written with");
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
    if (attribute >= 0)
        (void)H5Aclose(attribute);
}

/* ---- datasets that are written --------------------------------------------------------------------------------- */

void gbees_hdf5_sum_dataset(gbees_hdf5 *file, const char *name, hid_t type, int rank, const hsize_t *size,
                            const void *data)
{
    gbees_sha256_sum sum;

    if (!gbees_hdf5_is_open(file))
        return;
    gbees_sha256_start(&sum);
    add_values(&sum, H5Tget_size(type), rank, size, data);
    put(file, name, &sum);
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
    gbees_sha256_start(&part->sum);
}

void gbees_hdf5_sum_part(gbees_hdf5 *file, const char *name, size_t bytes, int rank, const hsize_t *count,
                         const void *data)
{
    for (int k = 0; k < file->part_count; k++)
        if (strcmp(file->part[k].name, name) == 0)
            add_values(&file->part[k].sum, bytes, rank, count, data);
}

/* ---- datasets that are read ------------------------------------------------------------------------------------ */

static void add_texts_of(gbees_hdf5 *file, const char *name, gbees_sha256_sum *sum, hid_t from, int is_attribute,
                         hid_t type, hssize_t count)
{
    char **texts = count < 0 || count > TEXTS_MOST ? NULL : calloc((size_t)count + 1, sizeof *texts);

    if (!texts) {
        reject(file, name, "has more strings than it can have");
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
    hsize_t start[RANK_MOST] = {0}, count[RANK_MOST] = {0}, middle = rank == 3 ? size[1] : 1;

    if (middle > SLAB || (rank == 3 && columns > GBEES_HDF5_SUM_COLUMNS)) {
        reject(file, name, "is larger than it can be");
        return;
    }
    const hsize_t fits = SLAB / ((width + 1) * middle) + 1, most = rank == 1 ? 1 : fits < size[0] ? fits : size[0];
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

/* The type in memory of numbers and of strings of fixed length; -1: another type. */
static hid_t type_in_memory(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);

    if (class == H5T_STRING)
        return is_variable(type) ? -1 : H5Tcopy(type);
    return class == H5T_INTEGER || class == H5T_FLOAT ? H5Tget_native_type(type, H5T_DIR_ASCEND) : -1;
}

static void check_values(gbees_hdf5 *file, const char *name, hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hid_t native = type >= 0 ? type_in_memory(type) : -1;
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t size[RANK_MOST] = {0};
    gbees_sha256_sum sum;

    gbees_sha256_start(&sum);
    if (type < 0 || rank < 1 || rank > RANK_MOST || H5Sget_simple_extent_dims(space, size, NULL) < 0)
        reject(file, name, "has no shape of gbees's");
    else if (is_variable(type))
        add_texts_of(file, name, &sum, set, 0, type, H5Sget_simple_extent_npoints(space));
    else if (native < 0)
        reject(file, name, "has no type of gbees's");
    else
        add_values_of(file, name, &sum, set, native, rank, size);
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
        reject(file, name, "is missing");
    if (set >= 0)
        (void)H5Dclose(set);
}

/* ---- all objects, in the order of their names ------------------------------------------------------------------ */

typedef struct walk {
    gbees_hdf5 *file;
    gbees_sha256_sum sum;
    int values, depth;
    haddr_t seen[SEEN_MOST]; /* objects of several names that have been visited */
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
    hid_t native = type_in_memory(type);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t bytes = native < 0 ? 0 : H5Tget_size(native);

    if (is_variable(type)) {
        add_texts_of(w->file, name, &w->sum, attribute, 1, type, count);
    } else if (native >= 0) {
        char *data =
            bytes == 0 || count < 0 || (size_t)count > SLAB / bytes ? NULL : malloc((size_t)count * bytes + 1);

        if (!data)
            reject(w->file, name, "has more values than it can have");
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
    return H5Dget_storage_size(set) > 0 || H5Aexists(set, attribute_name) != 0;
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

/* Whether an object has been visited by another of its names. */
static int is_again(walk *w, hid_t object)
{
    H5O_info_t facts;

    if (H5Oget_info(object, &facts) < 0 || facts.rc < 2)
        return 0;
    for (int k = 0; k < w->seen_count; k++)
        if (w->seen[k] == facts.addr)
            return 1;
    if (w->seen_count < SEEN_MOST)
        w->seen[w->seen_count++] = facts.addr;
    return 0;
}

static void visit_object(walk *w, hid_t object)
{
    const H5I_type_t kind = H5Iget_type(object);

    if (is_again(w, object)) {
        gbees_sha256_add(&w->sum, "again", sizeof "again");
        gbees_sha256_add(&w->sum, w->path, strlen(w->path) + 1);
        return;
    }
    if (kind == H5I_DATASET)
        visit_dataset(w, object);
    if (gbees_hdf5_is_open(w->file) && H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, w) < 0)
        gbees_hdf5_fail(w->file);
    if (kind == H5I_GROUP && gbees_hdf5_is_open(w->file) &&
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, w) < 0)
        gbees_hdf5_fail(w->file);
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    walk *w = context;
    const size_t length = strlen(w->path);

    if (info->type != H5L_TYPE_HARD || w->depth == DEPTH_MOST || length + strlen(name) + 2 > sizeof w->path) {
        reject(w->file, name, "is no dataset or group of gbees's");
        return -1;
    }
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0) {
        gbees_hdf5_fail(w->file);
        return -1;
    }
    w->depth++;
    (void)snprintf(w->path + length, sizeof w->path - length, "/%s", name);
    visit_object(w, object);
    w->path[length] = '\0';
    w->depth--;
    (void)H5Oclose(object);
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
        put(file, file->part[k].name, &file->part[k].sum);
    if (gbees_hdf5_is_open(file))
        walk_all(file, 0, &sum);
    if (gbees_hdf5_is_open(file))
        put(file, "/", &sum);
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
