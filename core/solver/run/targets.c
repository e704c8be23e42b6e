/* targets.c - what a record says of the problem's targets. */
#include "record/targets.h"
#include "run.h"
#include <math.h>
#include <string.h>

int gbees_run_check_targets(const gbees_problem *problem, const gbees_backend *backend,
                            const gbees_engine_options *options, gbees_error *error)
{
    if (!gbees_problem_absorbs(problem))
        return GBEES_OK;
    if (!backend->absorbs)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "targets do not absorb on grids of the backend '%s': give --backend cpu, 'frame: "
                               "lagrangian', or 'count'",
                               backend->name);
    if (options && options->parallel && !backend->exact)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "several ranks can't share a grid with targets that absorb: run it without mpirun, or "
                               "give 'count'");
    return GBEES_OK;
}

static int absorbs(const gbees_problem *problem, int k)
{
    return problem->targets[k].kind == GBEES_TARGET_ABSORB;
}

/* Finds what is inside by all cells of the grid, and what has entered by the totals. */
static int count_cells(gbees_solver *solver, const gbees_record *record, gbees_target_state *state,
                       gbees_error *error)
{
    const gbees_problem *problem = record->problem;
    const gbees_totals totals = gbees_run_totals(solver);
    gbees_target_sums sums = {.problem = problem, .time = solver->now.clock.time};
    int counts = 0, status = GBEES_OK;

    for (int k = 0; k < problem->target_count; k++)
        counts |= !absorbs(problem, k);
    if (counts)
        status = solver->backend->cells(solver->grid.engine, 0, gbees_target_sums_add, &sums, error);
    if (sums.wrong)
        return gbees_target_fail(problem, sums.wrong - 1, solver->now.clock.time, error);
    for (int k = 0; k < problem->target_count && !status; k++)
        state[k] = (gbees_target_state){.probability = absorbs(problem, k)
                                                           ? totals.mass_entered[k] - solver->now.entered_before[k]
                                                           : gbees_target_sums_inside(&sums, k),
                                        .bound = NAN};
    return status;
}

int gbees_run_targets(gbees_solver *solver, gbees_record *record, gbees_error *error)
{
    const double past = solver->now.clock.time - solver->now.targets_time;
    const int status = solver->backend->targets
                           ? solver->backend->targets(solver->grid.engine, &solver->now.clock, record->targets, error)
                           : count_cells(solver, record, record->targets, error);

    if (status)
        return status;
    for (int k = 0; k < record->problem->target_count; k++)
        record->targets[k].rate = record->number > 0 && past > 0
                                      ? (record->targets[k].probability - solver->now.targets[k].probability) / past
                                      : NAN;
    memcpy(solver->now.targets, record->targets, sizeof solver->now.targets);
    solver->now.targets_time = solver->now.clock.time;
    return GBEES_OK;
}
