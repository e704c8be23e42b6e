/* ranks.c - see ranks.h. */
#include "ranks.h"
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
    if (!strcmp(options->backend, "auto")) /* no GPU's grids can be shared */
        options->backend = "cpu";
    if (parallel->rank == 0)
        return;
    options->output = NULL;
    options->truth = NULL;
    options->no_output = options->quiet = 1;
    options->json = 0;
    options->progress = GBEES_PROGRESS_NONE;
}

int gbees_ranks_check(const gbees_options *options, const gbees_problem *problem, gbees_error *error)
{
    if (options->resume)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "several ranks can't go on from a checkpoint: run it without mpirun");
    if (problem && problem->accuracy > 0 && options->audit)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "several ranks can't look for an accuracy: give --set accuracy=0, or run it without "
                               "mpirun");
    return GBEES_OK;
}
