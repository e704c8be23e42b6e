/* parameter_table.c - reads tables of parameters; see parameter_table.h. */
#include "parameter_table.h"
#include "base/no_memory.h"
#include "table.h"
#include <string.h>

/* A table that is being read to a map. */
typedef struct reading {
    const char *name;      /* of the parameter */
    const gbees_node *how; /* a path, or a map with `file` */
    gbees_table *table;
    size_t time, value; /* columns */
    gbees_error *error;
} reading;

static const gbees_node *file_of(const gbees_node *how)
{
    return how->kind == GBEES_NODE_SCALAR ? how : gbees_node_find(how, "file");
}

/* Finds the column of the values. */
static int find_value(reading *r)
{
    const gbees_table *table = r->table;
    const gbees_node *column = r->how->kind == GBEES_NODE_MAP ? gbees_node_find(r->how, "column") : NULL;

    r->value = gbees_table_find(table, column ? column->text : r->name);
    if (r->value < table->columns && r->value != r->time)
        return GBEES_OK;
    if (!column && table->columns == 2) {
        r->value = 1 - r->time;
        return GBEES_OK;
    }
    return column ? gbees_node_error(column, r->error, "tables.%s: column: %s has no column '%s' of values", r->name,
                                     table->path, column->text)
                  : gbees_table_error(table, r->error,
                                      "expected a column '%s' of values of that parameter: name it in tables: {%s: "
                                      "{file: ..., column: NAME}}",
                                      r->name, r->name);
}

static int find_columns(reading *r)
{
    r->time = gbees_table_find(r->table, "time");
    if (r->time == r->table->columns)
        r->time = gbees_table_find(r->table, "t");
    if (r->time == r->table->columns)
        return gbees_table_error(r->table, r->error, "expected a column 'time'");
    return find_value(r);
}

/* Adds a column's number of each row to a list. */
static int add_column(const reading *r, size_t column, gbees_node *list)
{
    for (size_t i = 0; i < r->table->rows; i++) {
        char text[GBEES_NUMBER_TEXT];
        double value;

        if (gbees_table_is_missing(r->table, i, column))
            return gbees_table_cell_error(r->table, i, column, r->error,
                                          "expected a number, found nothing: a table has no gaps: leave the row out");
        const int status = gbees_table_number(r->table, i, column, &value, r->error);
        if (status)
            return status;
        if (!gbees_node_create(list, GBEES_NODE_SCALAR, r->table->path, r->table->line[i],
                               gbees_number_write(value, text)))
            return gbees_no_memory(r->error, "for a table");
    }
    return GBEES_OK;
}

/* Adds KEY: and returns the list for its values; NULL: no memory. */
static gbees_node *add_list(gbees_node *map, const char *key)
{
    return gbees_node_create(map, GBEES_NODE_SCALAR, map->source, map->line, key)
               ? gbees_node_create(map, GBEES_NODE_LIST, map->source, map->line, NULL)
               : NULL;
}

static int make_map(const reading *r, gbees_node *map)
{
    const gbees_node *kind = r->how->kind == GBEES_NODE_MAP ? gbees_node_find(r->how, "interpolation") : NULL;
    gbees_node *list = add_list(map, "time");
    int status = list ? add_column(r, r->time, list) : gbees_no_memory(r->error, "for a table");

    if (status)
        return status;
    list = add_list(map, "value");
    status = list ? add_column(r, r->value, list) : gbees_no_memory(r->error, "for a table");
    if (status || !kind)
        return status;
    return gbees_node_create(map, GBEES_NODE_SCALAR, map->source, map->line, "interpolation") &&
                   gbees_node_copy(map, kind)
               ? GBEES_OK
               : gbees_no_memory(r->error, "for a table");
}

static int read_map(const gbees_entry *entry, gbees_node **map, gbees_error *error)
{
    reading r = {.name = gbees_scenario_part(entry->key, "tables"), .how = entry->value, .error = error};
    const gbees_node *file = file_of(r.how);
    int status = gbees_table_read(file->text, &r.table, error);

    if (!status)
        status = find_columns(&r);
    if (!status) {
        *map = gbees_node_create(NULL, GBEES_NODE_MAP, r.table->path, r.table->header, NULL);
        status = *map ? make_map(&r, *map) : gbees_no_memory(error, "for a table");
    }
    gbees_table_destroy(r.table);
    return status;
}

int gbees_parameter_tables_read(gbees_scenario *scenario, gbees_error *error)
{
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(scenario, &count);
    int status = GBEES_OK;

    for (size_t i = 0; i < count && !status; i++) {
        gbees_node *map = NULL;

        if (!gbees_scenario_part(entries[i].key, "tables") || !file_of(entries[i].value))
            continue;
        status = read_map(&entries[i], &map, error);
        if (status)
            gbees_node_destroy(map);
        else
            status = gbees_scenario_put(scenario, entries[i].key, map, error);
    }
    return status;
}
