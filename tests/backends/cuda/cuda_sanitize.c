/* cuda_sanitize.c - a run of the CUDA engine on threads in one program, for a compiler's sanitizers
 * (test_cuda_sanitize.sh): the plugin and the backend (shim/backend.c) are linked in.
 *
 *     cuda_sanitize KEY=VALUE...    of the scenario
 */
#include <gbees/gbees.h>
#include <stdio.h>

extern const gbees_backend gbees_backend_card;
extern const gbees_model gbees_model_card;

static int show(void *context, const gbees_record *record, gbees_error *error)
{
    (void)context, (void)error;
    (void)printf("t = %g: %llu steps, %zu cells, %llu needed, mass %.9f\n", record->time,
                 (unsigned long long)record->totals.steps, gbees_cells_count(record->cells),
                 (unsigned long long)record->statistics.cells, record->statistics.mass);
    return 0;
}

int main(int argc, char **argv)
{
    const gbees_engine_options options = {.threads = 1};
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    gbees_error error = {GBEES_OK, ""};
    int status = gbees_scenario_create(gbees_model_card.scenarios[0].text, "default", &scenario, &error);

    for (int i = 1; i < argc && !status; i++)
        status = gbees_scenario_set(scenario, argv[i], &error);
    if (!status)
        status = gbees_problem_create(&gbees_model_card, scenario, &problem, &error);
    if (!status)
        status = gbees_solver_create(problem, &gbees_backend_card, &options, &solver, &error);
    if (!status)
        status = gbees_solver_run(solver, &(gbees_observer){.record = show, .concurrent = 1, .marginals = 1}, &error);
    if (status)
        (void)fprintf(stderr, "cuda_sanitize: %s\n", error.text);
    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    return status != GBEES_OK;
}
