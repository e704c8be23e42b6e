/* measurement_table.c - makes of each row of a table a measurement in the scenario's form, without the components
 * that were not measured. What a column stands for is in measurement_columns.c. */
#include "measurement_table.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "date.h"
#include "measurement_columns.h"
#include "schema.h"
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const gbees_node *how;
    const gbees_table *table;
    const gbees_columns *columns;
    gbees_date epoch; /* model time 0, if there is one */
    double time_unit; /* seconds; 0: there is no epoch */
    gbees_node *list;
    gbees_error *error;
} reading;

/* A row's measurement of one function. */
typedef struct row {
    size_t number;
    int function, size;
    unsigned missing;
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int is_full, has_covariance;
} row;

/* ---- nodes ------------------------------------------------------------------------------------------------- */

static gbees_node *add_scalar(gbees_node *parent, const char *text)
{
    return gbees_node_create(parent, GBEES_NODE_SCALAR, parent->source, parent->line, text);
}

static gbees_node *add_list(gbees_node *parent)
{
    return gbees_node_create(parent, GBEES_NODE_LIST, parent->source, parent->line, NULL);
}

static int add_number(gbees_node *parent, double value)
{
    char text[GBEES_NUMBER_TEXT];

    return add_scalar(parent, gbees_number_write(value, text)) != NULL;
}

/* Adds a key of `how` that holds for all rows, if it has it. */
static int copy_key(const reading *r, gbees_node *map, const char *key)
{
    const gbees_node *value = gbees_node_find(r->how, key);

    return !value || (add_scalar(map, key) && gbees_node_copy(map, value));
}

/* ---- one row ----------------------------------------------------------------------------------------------- */

static size_t value_column(const reading *r, const row *w, int component)
{
    return r->columns->functions[w->function].value[component];
}

static int add_value(const reading *r, const row *w, gbees_node *map)
{
    gbees_node *list = add_scalar(map, "value") ? add_list(map) : NULL;
    int good = list != NULL;

    for (int c = 0; good && c < w->size; c++) {
        double value;

        if (w->missing >> c & 1) {
            good = add_scalar(list, "~") != NULL;
            continue;
        }
        const int status = gbees_table_number(r->table, w->number, value_column(r, w, c), &value, r->error);
        if (status)
            return status;
        good = add_number(list, value);
    }
    return good ? GBEES_OK : gbees_no_memory(r->error, "for the measurements");
}

/* Reads a column of the noise in a row where its component was measured. */
static int read_noise(const reading *r, const row *w, size_t column, double *value)
{
    if (gbees_table_is_missing(r->table, w->number, column))
        return gbees_table_cell_error(r->table, w->number, column, r->error,
                                      "expected a number, as the component was measured, found nothing");
    return gbees_table_number(r->table, w->number, column, value, r->error);
}

static int no_noise(const reading *r, const row *w, int component)
{
    char text[GBEES_COMPONENT_TEXT];
    const gbees_measurement_function *function = &r->columns->model->measurements[w->function];

    return gbees_table_column_error(r->table, value_column(r, w, component), r->error,
                                    "its noise is not given: add a column sigma_%s, or 'covariance' in "
                                    "measurements: {file: ..., covariance: [...]}",
                                    gbees_component_name(function, component, text));
}

/* Whether the rows have a covariance by the scenario, or need none. */
static int has_common_noise(const reading *r)
{
    const gbees_node *likelihood = gbees_node_find(r->how, "likelihood");

    return gbees_node_find(r->how, "covariance") || (likelihood && strcmp(likelihood->text, "model") == 0);
}

static int read_variance(const reading *r, row *w, int c)
{
    const gbees_function_columns *f = &r->columns->functions[w->function];
    const size_t sigma = f->sigma[c], variance = f->covariance[c][c];
    const int is_sigma = sigma < r->table->columns;
    const size_t column = is_sigma ? sigma : variance;
    double value;

    if (column >= r->table->columns)
        return no_noise(r, w, c);
    const int status = read_noise(r, w, column, &value);
    if (status)
        return status;
    if (!(value > 0))
        return gbees_table_cell_error(r->table, w->number, column, r->error, "expected a number > 0, found %g",
                                      value);
    w->covariance[c * w->size + c] = is_sigma ? value * value : value;
    return GBEES_OK;
}

/* Reads the noise of the components that were measured; others have variance 1, which is not looked at. */
static int read_covariance(const reading *r, row *w)
{
    const gbees_function_columns *f = &r->columns->functions[w->function];
    int status = GBEES_OK;

    w->has_covariance = f->has_noise;
    for (int a = 0; a < w->size && !f->has_noise && !has_common_noise(r); a++)
        if (!(w->missing >> a & 1))
            return no_noise(r, w, a);
    for (int a = 0; !status && a < w->size && f->has_noise; a++) {
        w->covariance[a * w->size + a] = 1;
        if (w->missing >> a & 1)
            continue;
        status = read_variance(r, w, a);
        for (int b = 0; !status && b < a; b++) {
            double value;

            if (f->covariance[a][b] >= r->table->columns || w->missing >> b & 1)
                continue;
            status = read_noise(r, w, f->covariance[a][b], &value);
            w->covariance[a * w->size + b] = w->covariance[b * w->size + a] = status ? 0 : value;
            w->is_full = 1;
        }
    }
    return status;
}

static int add_covariance(const reading *r, const row *w, gbees_node *map)
{
    if (!w->has_covariance)
        return copy_key(r, map, "covariance");
    gbees_node *list = add_scalar(map, "covariance") ? add_list(map) : NULL;
    int good = list != NULL;

    for (int a = 0; good && a < w->size; a++) {
        gbees_node *line = w->is_full ? add_list(list) : list;

        good = line != NULL;
        for (int b = w->is_full ? 0 : a; good && b < (w->is_full ? w->size : a + 1); b++)
            good = add_number(line, w->covariance[a * w->size + b]);
    }
    return good;
}

/* Adds a map that errors name by the row's line. */
static gbees_node *add_map(const reading *r, size_t number)
{
    return gbees_node_create(r->list, GBEES_NODE_MAP, r->table->path, r->table->line[number], NULL);
}

/* Reads a row's time: a number, or, if there is an epoch, a date. */
static int read_time(const reading *r, size_t number, double *time)
{
    const size_t column = r->columns->time;
    const char *cell = r->table->cell[number * r->table->columns + column];
    gbees_date date;
    const int is_date = gbees_date_read(cell, &date);

    if (r->time_unit > 0 && (!is_date || date.has_zone != r->epoch.has_zone))
        return gbees_table_cell_error(r->table, number, column, r->error,
                                      "expected a date %s zone, as the epoch has, found '%s'",
                                      r->epoch.has_zone ? "with a" : "without a", cell);
    if (r->time_unit > 0) {
        *time = gbees_date_between(&r->epoch, &date) / r->time_unit;
        return GBEES_OK;
    }
    if (is_date)
        return gbees_table_cell_error(r->table, number, column, r->error,
                                      "expected a time of the model, a number, found a date, '%s': say which date is "
                                      "time 0, in measurements: {file: ..., epoch: %.10s, time_unit: SECONDS}",
                                      cell, cell);
    return gbees_table_number(r->table, number, column, time, r->error);
}

/* Sets the epoch and the unit of time. */
static int set_epoch(reading *r)
{
    const gbees_node *epoch = gbees_node_find(r->how, "epoch"), *unit = gbees_node_find(r->how, "time_unit");

    if (unit && !epoch)
        return gbees_node_error(unit, r->error, "measurements: time_unit: it is of dates: give an epoch, too");
    if (!epoch)
        return GBEES_OK;
    if (!gbees_date_read(epoch->text, &r->epoch))
        return gbees_node_error(epoch, r->error,
                                "measurements: epoch: expected a date as 2026-01-31 or 2026-01-31T12:00:00Z, found "
                                "'%s'",
                                epoch->text);
    r->time_unit = unit ? gbees_node_number(unit) : 1;
    return GBEES_OK;
}

/* Adds the measurement of a row and a function, unless all of it is missing. */
static int add_measurement(const reading *r, size_t number, int function)
{
    const gbees_measurement_function *f = &r->columns->model->measurements[function];
    row w = {.number = number, .function = function, .size = f->size};

    for (int c = 0; c < w.size; c++)
        if (value_column(r, &w, c) >= r->table->columns ||
            gbees_table_is_missing(r->table, number, value_column(r, &w, c)))
            w.missing |= 1u << c;
    if (w.missing == (1u << w.size) - 1)
        return GBEES_OK;
    int status = read_covariance(r, &w);
    if (status)
        return status;
    gbees_node *map = add_map(r, number);
    double time;
    status = read_time(r, number, &time);
    if (status)
        return status;
    if (!map || !add_scalar(map, "time") || !add_number(map, time) || !add_scalar(map, "function") ||
        !add_scalar(map, f->name))
        return gbees_no_memory(r->error, "for the measurements");
    status = add_value(r, &w, map);
    if (status)
        return status;
    return add_covariance(r, &w, map) && copy_key(r, map, "likelihood") && copy_key(r, map, "degrees_of_freedom")
               ? GBEES_OK
               : gbees_no_memory(r->error, "for the measurements");
}

/* Fails where a row of one function has a value of another. */
static int check_others(const reading *r, size_t number, int function)
{
    for (size_t k = 0; k < r->table->columns; k++)
        if (r->columns->is_value[k] && !gbees_columns_is_of(r->columns, k, function) &&
            !gbees_table_is_missing(r->table, number, k))
            return gbees_table_cell_error(r->table, number, k, r->error,
                                          "expected nothing, as it is not of the row's function '%s'",
                                          r->columns->model->measurements[function].name);
    return GBEES_OK;
}

static int read_row(const reading *r, size_t number)
{
    const gbees_columns *columns = r->columns;
    int function = columns->only, status = GBEES_OK;

    if (columns->function < r->table->columns)
        status = gbees_columns_row_function(columns, r->table, number, &function, r->error);
    if (!status && function >= 0)
        status = check_others(r, number, function);
    for (int f = 0; !status && f < columns->model->measurement_count; f++)
        if (function < 0 || f == function)
            status = add_measurement(r, number, f);
    return status;
}

/* ---- all rows ---------------------------------------------------------------------------------------------- */

static int check_times(const reading *r)
{
    const size_t column = r->columns->time;
    double before = 0, time = 0;

    for (size_t i = 0; i < r->table->rows; i++, before = time) {
        const int status = read_time(r, i, &time);

        if (status)
            return status;
        if (i > 0 && time < before)
            return gbees_table_order_error(r->table, i, column, before, time, r->error);
    }
    return GBEES_OK;
}

static int read_rows(const reading *r)
{
    int status = check_times(r);

    for (size_t i = 0; !status && i < r->table->rows; i++)
        status = read_row(r, i);
    if (!status && r->list->count == 0)
        status = gbees_error_set(r->error, GBEES_EINPUT, "%s: nothing was measured: all values are missing",
                                 r->table->path);
    return status;
}

int gbees_measurement_table_read(const gbees_node *how, const gbees_model *model, gbees_node **list,
                                 gbees_error *error)
{
    const gbees_node *function = gbees_node_find(how, "function");
    gbees_table *table = NULL;
    gbees_columns *columns = NULL;
    gbees_node *made = NULL;
    int status = gbees_table_read(gbees_node_find(how, "file")->text, &table, error);

    if (!status)
        status = gbees_columns_create(table, model, function, &columns, error);
    if (!status) {
        made = gbees_node_create(NULL, GBEES_NODE_LIST, table->path, table->header, NULL);
        reading r = {.how = how, .table = table, .columns = columns, .list = made, .error = error};

        status = made ? set_epoch(&r) : gbees_no_memory(error, "for the measurements");
        if (!status)
            status = read_rows(&r);
    }
    gbees_columns_destroy(columns);
    gbees_table_destroy(table);
    if (status)
        gbees_node_destroy(made);
    else
        *list = made;
    return status;
}
