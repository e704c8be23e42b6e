/* truth_file.c - a truth from a table: the columns `time` and all states of the model; see gbees/truth.h. */
#include "table.h"
#include <gbees/gbees.h>

/* Finds the column of a state; an error if there is none or its unit differs. */
static int find_state(const gbees_table *table, const gbees_quantity *state, size_t *column, gbees_error *error)
{
    *column = gbees_table_find(table, state->name);
    if (*column == table->columns)
        return gbees_table_error(table, error, "expected a column '%s', a state of the model, found none",
                                 state->name);
    return gbees_table_check_unit(table, *column, state->unit ? state->unit : "", error);
}

static int find_columns(const gbees_table *table, const gbees_model *model, int dimension, size_t *columns,
                        gbees_error *error)
{
    int status = GBEES_OK;

    columns[dimension] = gbees_table_find(table, "time");
    if (columns[dimension] == table->columns)
        return gbees_table_error(table, error, "expected a column 'time', found none");
    for (int j = 0; !status && j < dimension; j++)
        status = find_state(table, &model->states[j], &columns[j], error);
    for (size_t k = 0; !status && k < table->columns; k++) {
        int known = 0;

        for (int j = 0; j <= dimension; j++)
            known |= columns[j] == k;
        if (!known)
            status = gbees_table_column_error(table, k, error, "expected time or a state of %s", model->name);
    }
    return status;
}

static int read_rows(const gbees_table *table, const size_t *columns, gbees_truth *truth, gbees_error *error)
{
    const size_t n = (size_t)truth->dimension;
    int status = GBEES_OK;

    for (size_t i = 0; !status && i < truth->count; i++) {
        status = gbees_table_number(table, i, columns[n], &truth->time[i], error);
        if (!status && i > 0 && truth->time[i] < truth->time[i - 1])
            status = gbees_table_order_error(table, i, columns[n], truth->time[i - 1], truth->time[i], error);
        for (size_t j = 0; !status && j < n; j++)
            status = gbees_table_number(table, i, columns[j], &truth->x[i * n + j], error);
    }
    return status;
}

int gbees_truth_read(const char *path, const gbees_model *model, int dimension, gbees_truth **truth,
                     gbees_error *error)
{
    size_t columns[GBEES_MAX_DIM + 1];
    gbees_table *table = NULL;
    gbees_truth *made = NULL;
    int status = gbees_table_read(path, &table, error);

    if (!status)
        status = find_columns(table, model, dimension, columns, error);
    if (!status)
        status = gbees_truth_create(dimension, table->rows, &made, error);
    if (!status)
        status = read_rows(table, columns, made, error);
    gbees_table_destroy(table);
    if (status)
        gbees_truth_destroy(made);
    else
        *truth = made;
    return status;
}
