/* ranks.c - opens the communicator if a launcher of MPI has started the process. Rank 0 sends each run as the text
 * of its scenario; the other ranks make the same problem of it and serve. */
#include "ranks.h"
#include "one_run.h"
#include <stdlib.h>
#include <string.h>

/* Whether a launcher of MPI programs has started this process. */
static int was_launched(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
        if (getenv(variables[k]))
            return 1;
    return 0;
}

int gbees_ranks_join(gbees_ranks *ranks, const gbees_options *options, gbees_registry *registry, gbees_error *error)
{
    const int is_auto = !strcmp(options->ranks, "auto");
    const gbees_parallel_module *module = NULL;
    gbees_error why = {0};

    if (!strcmp(options->ranks, "off") || (is_auto && !was_launched()))
        return GBEES_OK;
    int status = gbees_registry_parallel(registry, is_auto ? "mpi" : options->ranks, &module, &why);
    if (status)
        return gbees_error_set(
            error, (gbees_status)status,
            "mpirun can't share this run among its processes: %s; --ranks off has each of them run "
            "by itself",
            why.text);
    status = module->open(&ranks->parallel, error);
    if (!status)
        ranks->module = module;
    return status;
}

void gbees_ranks_leave(gbees_ranks *ranks)
{
    if (ranks->module)
        ranks->module->close(&ranks->parallel);
    ranks->module = NULL;
}

void gbees_ranks_adapt(const gbees_parallel *parallel, gbees_options *options)
{
    options->parallel = parallel;
    if (parallel->rank == 0)
        return;
    options->output = NULL;
    options->truth = NULL;
    options->no_output = options->quiet = 1;
    options->json = 0;
    options->progress = GBEES_PROGRESS_NONE;
}

/* ---- runs of an accuracy ---- */

int gbees_ranks_send_run(const gbees_parallel *parallel, const gbees_setup *setup, gbees_error *error)
{
    const char *text = gbees_scenario_text(setup->scenario);
    uint64_t size = text ? strlen(text) + 1 : 0;

    if (!text)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    parallel->broadcast(parallel->context, &size, sizeof size);
    parallel->broadcast(parallel->context, (char *)text, (size_t)size); /* rank 0's is read */
    return gbees_parallel_agree(parallel, gbees_check_memory(setup, error), error);
}

void gbees_ranks_end_runs(const gbees_parallel *parallel)
{
    uint64_t none = 0;

    parallel->broadcast(parallel->context, &none, sizeof none);
}

/* Makes the problem of a run from the text of its scenario. */
static int make_problem(const char *text, gbees_setup *setup, gbees_error *error)
{
    int status = gbees_scenario_create(text, "the scenario", &setup->scenario, error);

    if (!status)
        status = gbees_problem_create(setup->model, setup->scenario, &setup->problem, error);
    return status ? status : gbees_check_memory(setup, error);
}

/* Serves one of the runs. Rank 0 reports what fails, and goes on or ends. */
static void serve_run(const gbees_options *options, const gbees_setup *command, const char *text)
{
    const gbees_engine_options engine = gbees_one_run_engine(options);
    gbees_setup setup = *command;
    gbees_error failure = {0};

    setup.scenario = NULL;
    setup.problem = NULL;
    int status = gbees_parallel_agree(options->parallel, make_problem(text, &setup, &failure), &failure);
    if (!status)
        status = gbees_parallel_agree(options->parallel, status, &failure); /* with gbees_one_run_open() */
    if (!status)
        (void)gbees_solver_serve(setup.problem, setup.backend, &engine, &failure);
    gbees_problem_destroy(setup.problem);
    gbees_scenario_destroy(setup.scenario);
}

void gbees_ranks_serve_runs(const gbees_options *options, const gbees_setup *setup)
{
    const gbees_parallel *parallel = options->parallel;

    for (;;) {
        uint64_t size = 0;

        parallel->broadcast(parallel->context, &size, sizeof size);
        if (size == 0)
            return;
        char *text = malloc((size_t)size);
        if (!text) /* rank 0 sends it */
            parallel->abort(parallel->context, EXIT_FAILURE, "out of memory for the text of a scenario");
        parallel->broadcast(parallel->context, text, (size_t)size);
        serve_run(options, setup, text);
        free(text);
    }
}
