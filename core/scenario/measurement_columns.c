/* measurement_columns.c - matches the name of each column against the model's functions and components, and checks
 * units and what must come together. */
#include "measurement_columns.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names of components ----------------------------------------------------------------------------------- */

const char *gbees_component_name(const gbees_measurement_function *function, int component,
                                 char text[GBEES_COMPONENT_TEXT])
{
    if (function->components)
        return function->components[component].name;
    if (function->size == 1)
        return function->name;
    (void)snprintf(text, GBEES_COMPONENT_TEXT, "y%d", component + 1);
    return text;
}

/* Whether the first `length` characters name a component: NAME, FUNCTION.NAME, or FUNCTION if it has one only. */
static int names(const char *word, size_t length, const gbees_measurement_function *function, int component)
{
    char text[GBEES_COMPONENT_TEXT];
    const char *name = gbees_component_name(function, component, text);
    const size_t own = strlen(name), whole = strlen(function->name);

    if (length == own && strncmp(word, name, own) == 0)
        return 1;
    if (strncmp(word, function->name, length < whole ? length : whole) != 0)
        return 0;
    return (length == whole && function->size == 1) ||
           (length == whole + 1 + own && word[whole] == '.' && strncmp(word + whole + 1, name, own) == 0);
}

static int names_all(const char *word, const gbees_measurement_function *function, int component)
{
    return names(word, strlen(word), function, component);
}

/* Whether a word is "A_B" of two components, in this order. */
static int names_pair(const char *word, const gbees_measurement_function *function, int a, int b)
{
    for (const char *c = strchr(word, '_'); c; c = strchr(c + 1, '_'))
        if (names(word, (size_t)(c - word), function, a) && names_all(c + 1, function, b))
            return 1;
    return 0;
}

/* What follows a prefix; NULL if the name has another. */
static const char *after(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : NULL;
}

/* ---- one column -------------------------------------------------------------------------------------------- */

typedef struct matching {
    gbees_columns *columns;
    const gbees_table *table;
    size_t column;
    gbees_error *error;
} matching;

static int check_unit(const matching *m, const gbees_measurement_function *function, int component)
{
    const char *unit = function->components ? function->components[component].unit : NULL;

    return unit ? gbees_table_check_unit(m->table, m->column, unit, m->error) : GBEES_OK;
}

/* Stores the column in its place, in which there may not be another. */
static int take(const matching *m, size_t *place)
{
    char words[GBEES_TABLE_WORDS];

    if (*place < m->table->columns)
        return gbees_table_column_error(m->table, m->column, m->error, "%s says the same",
                                        gbees_table_column_words(m->table, *place, words));
    *place = m->column;
    return GBEES_OK;
}

/* Takes the column for component a of a function, if it is one of its columns; *found then says so. */
static int match_component(const matching *m, int f, int a, int *found)
{
    const gbees_measurement_function *function = &m->columns->model->measurements[f];
    gbees_function_columns *of = &m->columns->functions[f];
    const char *name = m->table->name[m->column], *sigma = after(name, "sigma_"), *pair = after(name, "cov_");
    int status = GBEES_OK;

    if (names_all(name, function, a)) {
        *found = m->columns->is_value[m->column] = 1;
        status = check_unit(m, function, a);
        return status ? status : take(m, &of->value[a]);
    }
    if (sigma && names_all(sigma, function, a)) {
        *found = of->has_noise = 1;
        status = check_unit(m, function, a);
        return status ? status : take(m, &of->sigma[a]);
    }
    for (int b = 0; pair && !status && b < function->size; b++) {
        if (!names_pair(pair, function, a, b))
            continue;
        *found = 1;
        of->has_noise |= a == b;
        status = take(m, &of->covariance[a][b]);
        of->covariance[b][a] = of->covariance[a][b];
    }
    return status;
}

/* " 'time', 'x', 'z'", or the one that is nearest. */
static int unknown_column(const matching *m)
{
    const gbees_model *model = m->columns->model;
    const char *name = m->table->name[m->column], *nearest = NULL;
    char text[GBEES_COMPONENT_TEXT];
    gbees_text list = {0};

    gbees_text_add(&list, "time, function");
    for (int f = 0; f < model->measurement_count; f++)
        for (int c = 0; c < model->measurements[f].size; c++) {
            const char *component = gbees_component_name(&model->measurements[f], c, text);
            const char *both[] = {component, nearest};

            gbees_text_add(&list, ", %s", component);
            if (component != text)
                nearest = gbees_text_nearest(name, both, nearest ? 2 : 1);
        }
    char *all = gbees_text_take(&list);
    if (!all)
        return gbees_error_set(m->error, GBEES_ENOMEM, "not enough memory for the measurements");
    if (nearest)
        (void)gbees_table_column_error(m->table, m->column, m->error,
                                       "%s measures nothing of this name: did you mean '%s'?", model->name, nearest);
    else
        (void)gbees_table_column_error(m->table, m->column, m->error,
                                       "expected one of %s, or sigma_ or cov_ of these, for %s", all, model->name);
    free(all);
    return GBEES_EINPUT;
}

static int match_time(const matching *m)
{
    if (strstr(m->table->unit[m->column], " since "))
        return gbees_table_column_error(m->table, m->column, m->error,
                                        "expected the model's time, found dates, '%s': write numbers, or in Python "
                                        "open the file with xarray, and give an epoch",
                                        m->table->unit[m->column]);
    return take(m, &m->columns->time);
}

static int match(const matching *m)
{
    gbees_columns *columns = m->columns;
    const char *name = m->table->name[m->column];
    int matches = 0, status = GBEES_OK;

    if (strcmp(name, "time") == 0)
        return match_time(m);
    if (strcmp(name, "function") == 0) {
        columns->function = m->column;
        return GBEES_OK;
    }
    for (int f = 0; !status && f < columns->model->measurement_count; f++) {
        int found = 0;

        for (int a = 0; !status && a < columns->model->measurements[f].size; a++)
            if (columns->only < 0 || columns->only == f)
                status = match_component(m, f, a, &found);
        matches += found;
    }
    if (status || matches > 0)
        return !status && matches > 1 && gbees_table_find(m->table, "function") == m->table->columns
                   ? gbees_table_column_error(m->table, m->column, m->error,
                                              "%d functions have it: name the function in a column 'function', or "
                                              "the column FUNCTION.%s",
                                              matches, name)
                   : status;
    return strcasecmp(name, "time") == 0 || strcasecmp(name, "t") == 0 ? match_time(m) : unknown_column(m);
}

/* ---- all columns ------------------------------------------------------------------------------------------- */

static int find_function(const gbees_model *model, const char *name)
{
    for (int f = 0; f < model->measurement_count; f++)
        if (strcmp(model->measurements[f].name, name) == 0)
            return f;
    return -1;
}

static void clear(gbees_columns *columns, size_t none)
{
    columns->time = columns->function = none;
    for (int f = 0; f < columns->model->measurement_count; f++)
        for (int a = 0; a < GBEES_MAX_DIM; a++) {
            columns->functions[f].value[a] = columns->functions[f].sigma[a] = none;
            for (int b = 0; b < GBEES_MAX_DIM; b++)
                columns->functions[f].covariance[a][b] = none;
        }
}

static int check_variances(const gbees_columns *columns, const gbees_table *table, gbees_error *error)
{
    char words[GBEES_TABLE_WORDS];

    for (int f = 0; f < columns->model->measurement_count; f++)
        for (int a = 0; a < columns->model->measurements[f].size; a++) {
            const gbees_function_columns *of = &columns->functions[f];

            if (of->sigma[a] < table->columns && of->covariance[a][a] < table->columns)
                return gbees_table_column_error(table, of->covariance[a][a], error,
                                                "%s says it already: give one of them",
                                                gbees_table_column_words(table, of->sigma[a], words));
        }
    return GBEES_OK;
}

static int set_columns(gbees_columns *columns, const gbees_table *table, const gbees_node *function,
                       gbees_error *error)
{
    int status = GBEES_OK;

    columns->only = function ? find_function(columns->model, function->text) : -1;
    if (function && columns->only < 0)
        return gbees_node_error(function, error, "measurements: function: %s has no function '%s'",
                                columns->model->name, function->text);
    for (size_t k = 0; !status && k < table->columns; k++)
        status = match(&(matching){.columns = columns, .table = table, .column = k, .error = error});
    if (!status && columns->time == table->columns)
        status = gbees_table_error(table, error, "expected a column 'time' (or 't'), found none");
    return status ? status : check_variances(columns, table, error);
}

int gbees_columns_create(const gbees_table *table, const gbees_model *model, const gbees_node *function,
                         gbees_columns **columns, gbees_error *error)
{
    gbees_columns *made = calloc(1, sizeof *made);

    if (made) {
        made->model = model;
        made->functions = calloc((size_t)model->measurement_count + 1, sizeof *made->functions);
        made->is_value = calloc(table->columns, sizeof *made->is_value);
    }
    if (!made || !made->functions || !made->is_value) {
        gbees_columns_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the measurements");
    }
    clear(made, table->columns);
    const int status = set_columns(made, table, function, error);
    if (status)
        gbees_columns_destroy(made);
    else
        *columns = made;
    return status;
}

void gbees_columns_destroy(gbees_columns *columns)
{
    if (!columns)
        return;
    free(columns->functions);
    free(columns->is_value);
    free(columns);
}

int gbees_columns_is_of(const gbees_columns *columns, size_t column, int function)
{
    for (int c = 0; c < columns->model->measurements[function].size; c++)
        if (columns->functions[function].value[c] == column)
            return 1;
    return 0;
}

int gbees_columns_row_function(const gbees_columns *columns, const gbees_table *table, size_t row, int *function,
                               gbees_error *error)
{
    const char *name = table->cell[row * table->columns + columns->function];

    *function = find_function(columns->model, name);
    if (*function >= 0 && (columns->only < 0 || columns->only == *function))
        return GBEES_OK;
    if (*function >= 0)
        return gbees_table_cell_error(table, row, columns->function, error,
                                      "expected '%s', which was asked for, found '%s'",
                                      columns->model->measurements[columns->only].name, name);
    return gbees_table_cell_error(table, row, columns->function, error, "%s has no function '%s'",
                                  columns->model->name, name);
}
