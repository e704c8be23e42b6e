/* targets.c - the scenario's key `targets`: which of the model's targets are counted, and which absorb. */
#include "builder.h"
#include "scenario/scenario.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST = 256 };

static int find_target(const gbees_model *model, const char *name)
{
    int k = 0;

    while (k < model->target_count && strcmp(model->targets[k].name, name) != 0)
        k++;
    return k;
}

/* "lorenz63 has no target 'moon': it has 'wing' and 'eye'" */
static int unknown_target(const builder *b, const gbees_node *node, const char *name)
{
    const gbees_model *model = b->model;
    char list[LIST] = "none";
    size_t length = 0;

    for (int k = 0; k < model->target_count && length < sizeof list; k++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%s'",
                                   k == 0                        ? ""
                                   : k + 1 < model->target_count ? ", "
                                                                 : " and ",
                                   model->targets[k].name);
    return gbees_node_error(node, b->error, "targets: %s has no target '%s': it has %s", model->name, name, list);
}

/* g of a target at a point of the grid's axes, at the start. */
static double value_at(const gbees_problem *problem, int function, const double *y)
{
    const double zero[1] = {0}, *offset[GBEES_MAX_DIM];
    double x[GBEES_MAX_DIM], value = NAN;

    for (int j = 0; j < GBEES_MAX_DIM; j++)
        offset[j] = zero;
    gbees_problem_point(problem, y, x);
    gbees_problem_own_functions(problem)->target_d(function, 1, problem->start, x, offset, problem->parameters,
                                                   &value);
    return value;
}

/* Refuses a g that is not a number at the start, and an absorbing target that holds all of it. */
static int check_start(const builder *b, const gbees_node *node, const gbees_target *target)
{
    const gbees_problem *problem = b->problem;
    const int parts = problem->gaussian_count ? problem->gaussian_count : 1;
    const char *name = b->model->targets[target->function].name;
    int inside = 0;

    for (int g = 0; g < parts && !problem->cells; g++) {
        const double value =
            value_at(problem, target->function, problem->gaussian_count ? problem->gaussians[g].mean : problem->mean);

        if (!isfinite(value))
            return gbees_node_error(node, b->error, "targets.%s: its function is not finite at the initial mean",
                                    name);
        inside += value < 0;
    }
    if (target->kind != GBEES_TARGET_ABSORB || inside < parts)
        return GBEES_OK;
    return gbees_node_error(node, b->error,
                            "targets.%s: it holds the initial mean, so that most has entered before the start: give "
                            "'count', or another mean",
                            name);
}

/* Refuses what can't absorb. */
static int check_absorbing(const builder *b, const gbees_node *node, const char *name)
{
    const gbees_problem *problem = b->problem;
    const char *what = NULL; /* does not go with targets that absorb on a grid */

    if (problem->moving)
        what = "a grid that moves";
    else if (!gbees_scheme_is_split(problem->numerics.scheme))
        what = "the scheme ctu";
    else if (gbees_problem_noise(problem) && !gbees_problem_noise_in_sweeps(problem))
        what = "noise that is not added in sweeps (a full Q, or another scheme than split5 and split7)";
    if (what && !gbees_problem_is_exact(problem))
        return gbees_node_error(node, b->error,
                                "targets.%s: %s does not go with a target that absorbs: give 'count', or another "
                                "choice",
                                name, what);
    if (problem->smooth)
        return gbees_node_error(builder_find(b, "smooth"), b->error,
                                "smooth: what is left of a density that a target absorbs is not smoothed: give "
                                "'smooth: no', or 'count' for %s",
                                name);
    return GBEES_OK;
}

/* The entry "targets.NAME" of one of the model's targets; NULL: there is none. */
static const gbees_node *find_entry(const builder *b, int function)
{
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(b->scenario, &count);

    for (size_t i = 0; i < count; i++) {
        const char *name = gbees_scenario_part(entries[i].key, "targets");

        if (name && strcmp(name, b->model->targets[function].name) == 0)
            return entries[i].value;
    }
    return NULL;
}

static int add_target(const builder *b, int function, const gbees_node *node)
{
    gbees_problem *problem = b->problem;
    const gbees_target target = {function, (gbees_target_kind)gbees_schema_choice(NULL, "targets", node)};
    const int status =
        target.kind == GBEES_TARGET_ABSORB ? check_absorbing(b, node, b->model->targets[function].name) : GBEES_OK;

    if (status || check_start(b, node, &target))
        return (int)b->error->status;
    problem->targets[problem->target_count++] = target;
    return GBEES_OK;
}

int builder_set_targets(builder *b)
{
    size_t count;
    const gbees_entry *entries = gbees_scenario_entries(b->scenario, &count);
    int status = GBEES_OK;

    for (size_t i = 0; i < count; i++) {
        const char *name = gbees_scenario_part(entries[i].key, "targets");

        if (name && find_target(b->model, name) == b->model->target_count)
            return unknown_target(b, entries[i].value, name);
    }
    for (int k = 0; k < b->model->target_count && !status; k++) {
        const gbees_node *node = find_entry(b, k);

        status = node && strcmp(node->text, "off") != 0 ? add_target(b, k, node) : GBEES_OK;
    }
    return status;
}
