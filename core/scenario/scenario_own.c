/* scenario_own.c - scenarios that a model has in its card. */
#include "scenario.h"
#include <gbees/scenario.h>
#include <stdio.h>
#include <string.h>

const gbees_model_scenario *gbees_scenario_find_own(const gbees_model *model, const char *name)
{
    for (int k = 0; k < model->scenario_count; k++)
        if (!strcmp(model->scenarios[k].name, name))
            return &model->scenarios[k];
    return NULL;
}

/* Whether a scenario has a key that a grid which moves can't have, or has of itself. */
static int is_of_a_grid_at_rest(const gbees_scenario *scenario)
{
    static const char *const keys[] = {"bound", "mode", "regrid", "rotate", "time_step"};

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (gbees_scenario_find(scenario, keys[k]))
            return 1;
    return 0;
}

/* Cuts a list of the model's own scenario to its first n entries. */
static int cut(gbees_scenario *own, const gbees_entry *entry, size_t n, gbees_error *error)
{
    gbees_node *list = gbees_node_create(NULL, GBEES_NODE_LIST, entry->value->source, entry->value->line, NULL);

    for (size_t i = 0; list && i < n; i++)
        if (!gbees_node_copy(list, entry->value->items[i])) {
            gbees_node_destroy(list);
            list = NULL;
        }
    return gbees_scenario_put(own, entry->key, list, error);
}

/* Cuts the lists that go on by '...' to the dimension that a scenario asks for, where it is smaller. */
static int fit_lists(gbees_scenario *own, const gbees_scenario *scenario, gbees_error *error)
{
    const gbees_node *dimension = gbees_scenario_find(scenario, "dimension");
    const size_t n = dimension ? (size_t)gbees_node_number(dimension) : 0;
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(own, &count);
    int status = GBEES_OK;

    for (size_t k = 0; n > 0 && k < count && !status; k++) {
        const gbees_node *list = entries[k].value;

        if (list->kind == GBEES_NODE_LIST && list->count > n + 1 && gbees_node_is_dots(list->items[list->count - 1]))
            status = cut(own, &entries[k], n, error);
    }
    return status;
}

int gbees_scenario_merge_own(gbees_scenario *scenario, const gbees_model *model, const char *name, gbees_error *error)
{
    const gbees_model_scenario *own = name ? gbees_scenario_find_own(model, name) : model->scenarios;
    gbees_scenario *defaults = NULL;
    char source[256];

    if (!own || model->scenario_count < 1)
        return gbees_error_set(error, GBEES_EINPUT, "%s has no scenario '%s' of its own", model->name,
                               name ? name : "default");
    (void)snprintf(source, sizeof source, "the %s%s of %s", name ? "scenario " : "default scenario", name ? name : "",
                   model->name);
    int status = gbees_scenario_create(own->text, source, &defaults, error);
    if (!status && gbees_scenario_find(defaults, "frame") && is_of_a_grid_at_rest(scenario))
        status = gbees_scenario_set(defaults, "frame=fixed", error);
    if (!status)
        status = fit_lists(defaults, scenario, error);
    if (!status)
        status = gbees_scenario_merge(scenario, defaults, error);
    gbees_scenario_destroy(defaults);
    return status;
}

int gbees_scenario_unroll(gbees_scenario *scenario, const gbees_model *model, gbees_error *error)
{
    int circles = 0, walls = 0;

    for (int j = 0; model->ranges && j < model->dim_max; j++) {
        circles += model->ranges[j].period > 0;
        walls += model->ranges[j].at[0] != GBEES_END_OPEN || model->ranges[j].at[1] != GBEES_END_OPEN;
    }
    return circles == 0 || walls > 0 || gbees_scenario_find(scenario, "states")
               ? GBEES_OK
               : gbees_scenario_set(scenario, "states=lines", error);
}
