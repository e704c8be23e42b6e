/* scenario_measurements.c - measurements that a scenario has from files: the folders of measurement_file.h, and the
 * tables of measurement_table.h. */
#include "base/no_memory.h"
#include "measurement_file.h"
#include "measurement_table.h"
#include "parameter_table.h"
#include "scenario.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Adds KEY: TEXT to a map that is as from the command line; 0 without memory. */
static int add_pair(gbees_node *map, const char *key, const char *text)
{
    return gbees_node_create(map, GBEES_NODE_SCALAR, map->source, 0, key) &&
           gbees_node_create(map, GBEES_NODE_SCALAR, map->source, 0, text);
}

static int set_table(gbees_scenario *scenario, const char *path, const char *function, gbees_error *error)
{
    gbees_node *map = gbees_node_create(NULL, GBEES_NODE_MAP, "--measurements", 0, NULL);
    int good = map && add_pair(map, "file", path) && (!function || add_pair(map, "function", function));
    int status = good ? gbees_scenario_take(scenario, "measurements", map, error)
                      : gbees_no_memory(error, "for the measurements");

    gbees_node_destroy(map);
    return status;
}

int gbees_scenario_measurements(gbees_scenario *scenario, const char *path, const char *function, gbees_error *error)
{
    struct stat info;

    if (stat(path, &info))
        return gbees_error_set(error, GBEES_EIO, "%s: can't be read: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return gbees_measurement_folder_read(scenario, path, function, error);
    return set_table(scenario, path, function, error);
}

int gbees_scenario_table(const gbees_node *how, const gbees_model *model, gbees_node **list, gbees_error *error)
{
    gbees_node *read = NULL;
    int status = gbees_measurement_table_read(how, model, &read, error);

    if (!status)
        status = gbees_schema_check(gbees_schema_find(NULL, "measurements"), read, "measurements", error);
    if (status)
        gbees_node_destroy(read);
    else
        *list = read;
    return status;
}

int gbees_scenario_load(gbees_scenario *scenario, const gbees_model *model, gbees_error *error)
{
    const gbees_node *how = gbees_scenario_find(scenario, "measurements");
    gbees_node *list = NULL;

    int status = gbees_parameter_tables_read(scenario, error);

    if (status || !how || how->kind != GBEES_NODE_MAP)
        return status;
    status = gbees_scenario_table(how, model, &list, error);
    if (!status && !gbees_scenario_find(scenario, "end")) {
        const gbees_node *last = gbees_node_find(list->items[list->count - 1], "time");

        status = gbees_scenario_put(scenario, "end", gbees_node_copy(NULL, last), error);
    }
    if (status) {
        gbees_node_destroy(list);
        return status;
    }
    return gbees_scenario_put(scenario, "measurements", list, error);
}
