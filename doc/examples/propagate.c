/* propagate.c - propagates the default scenario of a model, and prints one line a record.
 *
 *     cc $(pkg-config --cflags gbees) propagate.c -o propagate $(pkg-config --libs gbees)
 *     ./propagate lorenz63
 */
#include <gbees/gbees.h>
#include <stdio.h>

/* gbees_solver_run() calls this for each record, which is valid during the call. Not GBEES_OK: the run stops. */
static int print_record(void *context, const gbees_record *record, gbees_error *error)
{
    (void)context, (void)error;
    printf("t = %-5g %6llu cells, mean of %s %.4g\n", record->time, (unsigned long long)record->statistics.cells,
           record->problem->model->states[0].name, record->statistics.mean[0]);
    return GBEES_OK;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "lorenz63";
    const gbees_observer observer = {.record = print_record, .no_cells = 1};
    const gbees_engine_options options = {.threads = 0}; /* 0: OMP_NUM_THREADS, or as many as the machine has */
    /* The registry owns the model and the backend. All that is not const is owned by this program. */
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    gbees_registry *registry = NULL;
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    gbees_error error = {0};

    /* Each call returns 0, or a status and one line of text in `error`. && stops at the first that fails. */
    int done = !gbees_registry_create(NULL, &registry, &error) &&
               !gbees_registry_model(registry, name, &model, &error) &&
               !gbees_registry_backend(registry, "cpu", &backend, &error) &&
               !gbees_scenario_create(model->scenarios[0].text, "the default scenario", &scenario, &error) &&
               !gbees_scenario_set(scenario, "records=2", &error) &&
               !gbees_problem_create(model, scenario, &problem, &error) &&
               !gbees_solver_create(problem, backend, &options, &solver, &error) &&
               !gbees_solver_run(solver, &observer, &error);

    if (!done)
        fprintf(stderr, "propagate: %s\n", error.text);
    gbees_solver_destroy(solver); /* in the opposite order; each takes NULL */
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return done ? 0 : 1;
}
