/* table_datasets.c - datasets as lines of text, in the child process; see table_datasets.h. */
#include "table_datasets.h"
#include "base/text.h"
#include "results/hdf5/hdf5_util.h"
#include "yaml_tree.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, CELL_BYTES = 128 };

/* A dataset: numbers, NaN where nothing was measured, or strings. */
typedef struct column {
    char name[NAME_BYTES], unit[NAME_BYTES];
    double *number;
    char *text; /* [rows][CELL_BYTES] */
} column;

typedef struct loading {
    gbees_hdf5 file;
    column column[GBEES_TABLE_COLUMNS];
    size_t columns, rows;
} loading;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
refuse(loading *l, const char *name, const char *format, ...)
{
    char reason[sizeof l->file.reason];
    const int begun = snprintf(reason, sizeof reason, "dataset %.64s: ", name);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason + begun, sizeof reason - (size_t)begun, format, arguments);
    va_end(arguments);
    gbees_hdf5_reject(&l->file, GBEES_EINPUT, reason);
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* Reads an attribute of one value: a string if `text`, else a number. Returns whether there is one of that kind. */
static int read_attribute(hid_t set, const char *name, char *text, double *number)
{
    hid_t attribute = H5Aexists(set, name) > 0 ? H5Aopen(set, name, H5P_DEFAULT) : -1;

    if (attribute < 0)
        return 0;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    int found = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;

    if (text)
        found = found && class == H5T_STRING && gbees_hdf5_strings(attribute, 1, type, 1, text, NAME_BYTES) == 0;
    else
        found = found && (class == H5T_INTEGER || class == H5T_FLOAT) &&
                H5Aread(attribute, H5T_NATIVE_DOUBLE, number) >= 0;
    gbees_hdf5_release(space);
    gbees_hdf5_release(type);
    (void)H5Aclose(attribute);
    return found;
}

/* Whether a dataset only numbers the rows: netCDF's dimension without values, or an integer index as pandas has. */
static int is_index(hid_t set, const char *name, H5T_class_t class)
{
    static const char dimension[] = "This is a netCDF dimension but not a netCDF variable";
    char text[NAME_BYTES] = "";

    if (!read_attribute(set, "CLASS", text, NULL) || strcmp(text, "DIMENSION_SCALE") != 0)
        return 0;
    if (read_attribute(set, "NAME", text, NULL) && strncmp(text, dimension, sizeof dimension - 1) == 0)
        return 1;
    return class == H5T_INTEGER && strcmp(name, "time") != 0 && strcmp(name, "function") != 0;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* Applies the conventions of netCDF: values that stand for none, and packed numbers. */
static void decode(const loading *l, hid_t set, double *value)
{
    static const double unwritten = 9.969209968386869e+36; /* netCDF's fill value of float and double */
    double fill = NAN, missing = NAN, scale = 1, offset = 0;

    (void)read_attribute(set, "_FillValue", NULL, &fill);
    (void)read_attribute(set, "missing_value", NULL, &missing);
    (void)read_attribute(set, "scale_factor", NULL, &scale);
    (void)read_attribute(set, "add_offset", NULL, &offset);
    for (size_t i = 0; i < l->rows; i++)
        if (value[i] == fill || value[i] == missing || value[i] == unwritten)
            value[i] = NAN;
        else
            value[i] = scale * value[i] + offset;
}

static void read_values(loading *l, hid_t set, hid_t type, column *c)
{
    const int is_text = H5Tget_class(type) == H5T_STRING;
    const size_t bytes = is_text ? CELL_BYTES : sizeof *c->number;
    void *data = calloc(l->rows, bytes);

    if (!data || (is_text && !H5Tis_variable_str(type) && H5Tget_size(type) > GBEES_TABLE_BYTES / l->rows)) {
        free(data);
        gbees_hdf5_reject(&l->file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    if (is_text) {
        c->text = data;
        if (gbees_hdf5_strings(set, 0, type, l->rows, c->text, CELL_BYTES))
            gbees_hdf5_fail(&l->file);
        return;
    }
    c->number = data;
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        gbees_hdf5_fail(&l->file);
    else
        decode(l, set, data);
}

/* Whether a dataset has one axis, and as many rows as the first one; refuses it otherwise. */
static int has_shape(loading *l, hid_t set, const char *name)
{
    hid_t space = H5Dget_space(set);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t rows = 0;

    if (rank == 1)
        (void)H5Sget_simple_extent_dims(space, &rows, NULL);
    gbees_hdf5_release(space);
    if (rank != 1)
        refuse(l, name, "expected one axis, the rows, found %d axes", rank);
    else if (rows == 0 || rows > GBEES_TABLE_BYTES / 8)
        refuse(l, name, "expected 1 to %d rows, found %llu", GBEES_TABLE_BYTES / 8, (unsigned long long)rows);
    else if (l->columns > 0 && rows != l->rows)
        refuse(l, name, "expected %zu rows, as dataset %.64s has, found %llu", l->rows, l->column[0].name,
               (unsigned long long)rows);
    l->rows = (size_t)rows;
    return l->file.status == GBEES_OK;
}

static void read_column(loading *l, hid_t set, const char *name)
{
    hid_t type = H5Dget_type(set);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);

    if (!gbees_hdf5_is_inside(set))
        refuse(l, name, "its values are not in the file itself");
    else if (is_index(set, name, class))
        ;
    else if (class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_STRING)
        refuse(l, name, "expected numbers or strings");
    else if (strlen(name) >= NAME_BYTES || strpbrk(name, "\n\r"))
        refuse(l, name, "its name is no column's");
    else if (l->columns == GBEES_TABLE_COLUMNS)
        refuse(l, name, "more than %d datasets", GBEES_TABLE_COLUMNS);
    else if (has_shape(l, set, name)) {
        column *c = &l->column[l->columns++];

        (void)snprintf(c->name, sizeof c->name, "%s", name);
        (void)read_attribute(set, "units", c->unit, NULL);
        read_values(l, set, type, c);
    }
    gbees_hdf5_release(type);
}

/* Takes a member of the root group: datasets, and neither groups nor links to other places. */
static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    loading *l = context;
    hid_t object = info->type == H5L_TYPE_HARD ? H5Oopen(group, name, H5P_DEFAULT) : -1;

    if (info->type == H5L_TYPE_HARD && object < 0)
        gbees_hdf5_fail(&l->file);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
        read_column(l, object, name);
    gbees_hdf5_release(object);
    return l->file.status ? 1 : 0;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static void add_line(gbees_text *text, char *line)
{
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    gbees_text_add(text, "%s\n", line);
}

static void add_cell(gbees_text *text, const column *c, size_t row)
{
    char word[GBEES_NUMBER_TEXT];

    if (c->text)
        add_line(text, c->text + row * CELL_BYTES);
    else if (isnan(c->number[row]))
        gbees_text_add(text, "\n");
    else if (isinf(c->number[row]))
        gbees_text_add(text, "%s\n", c->number[row] > 0 ? "inf" : "-inf");
    else
        gbees_text_add(text, "%s\n", gbees_number_write(c->number[row], word));
}

static void write_lines(loading *l, gbees_table_lines *lines)
{
    gbees_text text = {0};

    for (size_t k = 0; k < l->columns; k++)
        add_line(&text, l->column[k].name);
    for (size_t k = 0; k < l->columns; k++)
        add_line(&text, l->column[k].unit);
    for (size_t i = 0; i < l->rows && text.length <= GBEES_TABLE_BYTES; i++)
        for (size_t k = 0; k < l->columns; k++)
            add_cell(&text, &l->column[k], i);
    if (text.length > GBEES_TABLE_BYTES)
        gbees_hdf5_reject(&l->file, GBEES_EINPUT, "more than 64 MiB as text: not a table of this kind");
    *lines = (gbees_table_lines){.columns = l->columns, .rows = l->rows, .length = text.length};
    lines->text = gbees_text_take(&text);
    if (!lines->text)
        gbees_hdf5_reject(&l->file, GBEES_ENOMEM, "not enough memory");
}

int gbees_table_datasets_load(const char *path, gbees_table_lines *lines, gbees_error *error)
{
    loading *l = calloc(1, sizeof *l);

    if (!l)
        return gbees_error_set(error, GBEES_ENOMEM, "%s: not enough memory to read it", path);
    int status = gbees_hdf5_open(path, &l->file, error);
    if (status) {
        free(l);
        return status;
    }
    *lines = (gbees_table_lines){0};
    if (!l->file.status && H5Literate(l->file.id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, l) < 0)
        gbees_hdf5_fail(&l->file);
    if (!l->file.status && l->columns == 0)
        gbees_hdf5_reject(&l->file, GBEES_EINPUT,
                          "expected datasets in its root group, time and what was measured, found none");
    if (!l->file.status)
        write_lines(l, lines);
    for (size_t k = 0; k < l->columns; k++) {
        free(l->column[k].number);
        free(l->column[k].text);
    }
    status = gbees_hdf5_close(&l->file, error);
    free(l);
    if (status) {
        free(lines->text);
        lines->text = NULL;
    }
    return status;
}
