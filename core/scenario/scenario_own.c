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
        status = gbees_scenario_merge(scenario, defaults, error);
    gbees_scenario_destroy(defaults);
    return status;
}
