/* scenario_output.c - what a scenario's key `output` says; see gbees/scenario.h. */
#include "base/numbers.h"
#include "scenario.h"
#include <stdlib.h>
#include <string.h>

/* Takes the times of a list that are not ignored, in their order. */
static int take_times(const gbees_scenario *scenario, const gbees_node *list, double end, gbees_output *output,
                      gbees_error *error)
{
    output->times = calloc(list->count + 1, sizeof *output->times);
    if (!output->times)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the times of the densities");
    for (size_t i = 0; i < list->count; i++) {
        const double time = gbees_node_number(list->items[i]);

        if (gbees_scenario_leaves_out(scenario, list->items[i]))
            continue;
        if (time > end)
            return gbees_node_error(list->items[i], error, "output: densities: time %s is later than the end, %.10g",
                                    list->items[i]->text, end);
        output->times[output->time_count++] = time;
    }
    if (output->time_count == 0)
        return gbees_node_error(list, error, "output: densities: no time is up to the end, %.10g", end);
    qsort(output->times, output->time_count, sizeof *output->times, gbees_compare_numbers);
    output->densities = GBEES_DENSITIES_AT_TIMES;
    return GBEES_OK;
}

static int take_densities(const gbees_scenario *scenario, const gbees_node *node, double end, gbees_output *output,
                          gbees_error *error)
{
    if (node->kind == GBEES_NODE_LIST)
        return take_times(scenario, node, end, output, error);
    output->every = gbees_node_every(node);
    output->densities = strcmp(node->text, "last") == 0   ? GBEES_DENSITIES_LAST
                        : strcmp(node->text, "none") == 0 ? GBEES_DENSITIES_NONE
                                                          : GBEES_DENSITIES_ALL;
    return GBEES_OK;
}

int gbees_output_create(const gbees_scenario *scenario, double end, gbees_output **output, gbees_error *error)
{
    const gbees_node *densities = gbees_scenario_find(scenario, "output.densities");
    const gbees_node *moments = gbees_scenario_find(scenario, "output.moments");
    const gbees_node *files = gbees_scenario_find(scenario, "output.files");
    gbees_output *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a run's output");
    made->every_step = moments && strcmp(moments->text, "every step") == 0;
    made->records_apart = files && strcmp(files->text, "records") == 0;
    const int status = densities ? take_densities(scenario, densities, end, made, error) : GBEES_OK;
    if (status)
        gbees_output_destroy(made);
    else
        *output = made;
    return status;
}

void gbees_output_destroy(gbees_output *output)
{
    if (!output)
        return;
    free(output->times);
    free(output);
}
