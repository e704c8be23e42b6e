/* world_fixture.h - a model with its default scenario and some settings as a problem, and the CPU backend beside it.
 */
#ifndef GBEES_TEST_WORLD_FIXTURE_H
#define GBEES_TEST_WORLD_FIXTURE_H

#include <check.h>
#include <gbees/gbees.h>

enum { MOST_SETTINGS = 10 };

typedef const char *settings[MOST_SETTINGS];

typedef struct world {
    gbees_registry *registry;
    const gbees_model *model;
    const gbees_backend *cpu;
    gbees_problem *problem;
    gbees_error error;
} world;

/* Returns the status of the scenario and of the problem; model and backend must be there. */
static inline int try_make(world *w, const char *name, const char *const *set)
{
    gbees_scenario *scenario = NULL;

    *w = (world){0};
    int status = gbees_registry_create(NULL, &w->registry, &w->error);
    if (!status)
        status = gbees_registry_model(w->registry, name, &w->model, &w->error);
    if (!status)
        status = gbees_registry_backend(w->registry, "cpu", &w->cpu, &w->error);
    ck_assert_msg(!status, "%s", w->error.text);
    status = gbees_scenario_create(w->model->scenarios[0].text, name, &scenario, &w->error);
    for (; !status && *set; set++)
        status = gbees_scenario_set(scenario, *set, &w->error);
    if (!status)
        status = gbees_problem_create(w->model, scenario, &w->problem, &w->error);
    gbees_scenario_destroy(scenario);
    return status;
}

static inline void end(world *w)
{
    gbees_problem_destroy(w->problem);
    gbees_registry_destroy(w->registry);
}

#endif
