/* run_fixture.h - runs a shipped model with the CPU backend, from its default scenario and some settings. */
#ifndef GBEES_TESTS_RUN_FIXTURE_H
#define GBEES_TESTS_RUN_FIXTURE_H

#include <check.h>
#include <gbees/gbees.h>

typedef struct run_result {
    gbees_statistics statistics;
    gbees_totals totals;
} run_result;

/* The last record before the first measurement. */
static inline int run_keep(void *context, const gbees_record *record, gbees_error *error)
{
    run_result *result = context;

    (void)error;
    if (record->leg == 0)
        *result = (run_result){record->statistics, record->totals};
    return 0;
}

/* settings: "KEY=VALUE", ..., NULL. */
static inline run_result run_model(const char *name, const char *const *settings)
{
    const gbees_engine_options options = {.threads = 1};
    gbees_registry *registry = NULL;
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    run_result result = {0};
    const gbees_observer observer = {.context = &result, .record = run_keep};
    gbees_error error = {GBEES_OK, ""};
    int status = gbees_registry_create(NULL, &registry, &error);

    if (!status)
        status = gbees_registry_model(registry, name, &model, &error);
    if (!status)
        status = gbees_registry_backend(registry, "cpu", &backend, &error);
    if (!status)
        status = gbees_scenario_create(model->scenarios[0].text, name, &scenario, &error);
    for (; !status && *settings; settings++)
        status = gbees_scenario_set(scenario, *settings, &error);
    if (!status)
        status = gbees_problem_create(model, scenario, &problem, &error);
    if (!status)
        status = gbees_solver_create(problem, backend, &options, &solver, &error);
    if (!status)
        status = gbees_solver_run(solver, &observer, &error);
    ck_assert_msg(status == GBEES_OK, "%s", error.text);
    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return result;
}

#endif
