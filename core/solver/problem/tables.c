/* tables.c - the scenario's key `tables`: parameters that follow data. */
#include "base/text.h"
#include "builder.h"
#include "driven.h"
#include "scenario/scenario.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One table that is being read. */
typedef struct reading {
    const builder *b;
    const char *name;
    const gbees_node *map, *time, *value;
    gbees_parameter_table *table;
    double *numbers; /* [3 * rows]: times, values, slopes */
} reading;

static int find_parameter(const builder *b, const gbees_node *node, const char *name, int *parameter)
{
    const gbees_model *model = b->model;
    const char *nearest = NULL;

    for (int k = 0; k < model->parameter_count; k++) {
        if (strcmp(model->parameters[k].name, name) == 0) {
            *parameter = k;
            return GBEES_OK;
        }
        nearest = builder_nearer(name, model->parameters[k].name, nearest);
    }
    return gbees_node_error(node, b->error, "tables: %s has no parameter '%s'%s%s%s", model->name, name,
                            nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Refuses a parameter that has a value, too. */
static int check_once(const reading *r)
{
    gbees_text key = {0};

    gbees_text_add(&key, "parameters.%s", r->name);
    char *text = gbees_text_take(&key);
    const gbees_node *other = text ? builder_find(r->b, text) : NULL;

    free(text);
    return other ? gbees_node_error(other, r->b->error, "parameters.%s: it follows a table: leave one of the two out",
                                    r->name)
                 : GBEES_OK;
}

/* Refuses lists that are no table. */
static int check_lists(const reading *r)
{
    const size_t rows = r->time ? r->time->count : 0;

    if (!r->time || !r->value || r->time->kind != GBEES_NODE_LIST || r->value->kind != GBEES_NODE_LIST)
        return gbees_node_error(
            r->map, r->b->error,
            "tables.%s: expected a file, or {file: FILE.csv, ...}, or {time: [...], value: [...]}", r->name);
    if (r->value->count != rows)
        return gbees_node_error(r->value, r->b->error,
                                "tables.%s: value: expected as many numbers as times, %zu, found %zu", r->name, rows,
                                r->value->count);
    if (rows < 2 || rows > GBEES_MAX_TABLE_ROWS)
        return gbees_node_error(r->time, r->b->error, "tables.%s: expected 2 to %d rows, found %zu", r->name,
                                GBEES_MAX_TABLE_ROWS, rows);
    return GBEES_OK;
}

/* Reads and checks the rows. */
static int read_rows(const reading *r)
{
    const gbees_parameter *parameter = &r->b->model->parameters[r->table->parameter];
    const int is_bounded = parameter->min != 0 || parameter->max != 0;
    const size_t rows = r->time->count;

    for (size_t i = 0; i < rows; i++) {
        const double time = gbees_node_number(r->time->items[i]), value = gbees_node_number(r->value->items[i]);

        if (i > 0 && !(time > r->numbers[i - 1]))
            return gbees_node_error(r->time->items[i], r->b->error,
                                    "tables.%s: expected a time after %g, that of the row before, found %s", r->name,
                                    r->numbers[i - 1], r->time->items[i]->text);
        if (is_bounded && (value < parameter->min || value > parameter->max))
            return gbees_node_error(r->value->items[i], r->b->error,
                                    "tables.%s: expected a number from %g to %g, found %s", r->name, parameter->min,
                                    parameter->max, r->value->items[i]->text);
        r->numbers[i] = time;
        r->numbers[rows + i] = value;
    }
    return GBEES_OK;
}

/* The slope at a row between two secants, as F. N. Fritsch and J. Butland (SIAM J. Sci. Stat. Comput. 5, 1984) have
 * it: their weighted harmonic mean, 0 at an extremum. h: the rows' distances. */
static double slope_between(double below, double above, double h_below, double h_above)
{
    if (!(below * above > 0))
        return 0;
    const double w = h_below + 2 * h_above, v = 2 * h_below + h_above;
    return (w + v) / (w / below + v / above);
}

/* The slope at an end by the three rows there, with the sign of the secant, at most three times it. */
static double slope_at_end(double near, double next, double h_near, double h_next)
{
    const double slope = ((2 * h_near + h_next) * near - h_near * next) / (h_near + h_next);

    if (!(slope * near > 0))
        return 0;
    return near * next <= 0 && fabs(slope) > 3 * fabs(near) ? 3 * near : slope;
}

static void set_slopes(const double *time, const double *value, size_t rows, double *slope)
{
    for (size_t i = 1; i + 1 < rows; i++) {
        const double below = time[i] - time[i - 1], above = time[i + 1] - time[i];

        slope[i] = slope_between((value[i] - value[i - 1]) / below, (value[i + 1] - value[i]) / above, below, above);
    }
    const size_t last = rows - 1;
    const double first_secant = (value[1] - value[0]) / (time[1] - time[0]);
    const double last_secant = (value[last] - value[last - 1]) / (time[last] - time[last - 1]);
    if (rows == 2) {
        slope[0] = slope[1] = first_secant;
        return;
    }
    slope[0] =
        slope_at_end(first_secant, (value[2] - value[1]) / (time[2] - time[1]), time[1] - time[0], time[2] - time[1]);
    slope[last] = slope_at_end(last_secant, (value[last - 1] - value[last - 2]) / (time[last - 1] - time[last - 2]),
                               time[last] - time[last - 1], time[last - 1] - time[last - 2]);
}

static int read_table(const builder *b, const gbees_entry *entry, const char *name, gbees_parameter_table *table)
{
    reading r = {.b = b, .name = name, .map = entry->value, .table = table};
    int status = find_parameter(b, entry->value, name, &table->parameter);

    if (!status)
        status = check_once(&r);
    if (r.map->kind == GBEES_NODE_MAP) {
        r.time = gbees_node_find(r.map, "time");
        r.value = gbees_node_find(r.map, "value");
    }
    if (!status)
        status = check_lists(&r);
    if (status)
        return status;
    table->rows = r.time->count;
    r.numbers = calloc(3 * table->rows, sizeof *r.numbers);
    if (!r.numbers)
        return builder_no_memory(b);
    table->time = r.numbers; /* frees all three */
    table->value = r.numbers + table->rows;
    status = read_rows(&r);
    const gbees_node *kind = gbees_node_find(r.map, "interpolation");
    if (status || !kind || strcmp(kind->text, "cubic") != 0)
        return status;
    table->interpolation = GBEES_INTERPOLATION_CUBIC;
    table->slope = r.numbers + 2 * table->rows;
    set_slopes(table->time, table->value, table->rows, r.numbers + 2 * table->rows);
    return GBEES_OK;
}

int builder_set_tables(builder *b)
{
    gbees_problem *problem = b->problem;
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(b->scenario, &count);
    int status = GBEES_OK;

    for (size_t i = 0; i < count && !status; i++) {
        const char *name = gbees_scenario_part(entries[i].key, "tables");
        gbees_parameter_table *tables = (gbees_parameter_table *)problem->tables;

        if (!name)
            continue;
        if (problem->table_count == GBEES_MAX_TABLES)
            return gbees_node_error(entries[i].value, b->error, "tables: expected at most %d", GBEES_MAX_TABLES);
        if (!tables)
            problem->tables = tables = calloc(GBEES_MAX_TABLES, sizeof *tables);
        status = tables ? read_table(b, &entries[i], name, &tables[problem->table_count++]) : builder_no_memory(b);
    }
    if (status || problem->table_count == 0)
        return status;
    status = gbees_driven_create(problem, b->error);
    b->model = problem->model;
    return status;
}

int builder_check_tables(builder *b)
{
    const gbees_problem *problem = b->problem;

    for (int k = 0; k < problem->table_count; k++) {
        const gbees_parameter_table *table = &problem->tables[k];
        const char *name = b->model->parameters[table->parameter].name;
        const double first = table->time[0], last = table->time[table->rows - 1];

        if (first > problem->start || last < problem->end)
            return gbees_error_set(
                b->error, GBEES_EINPUT,
                "tables.%s: it has times from %g to %g, the run goes from %g to %g: give it rows for "
                "all of the run",
                name, first, last, problem->start, problem->end);
    }
    return GBEES_OK;
}
