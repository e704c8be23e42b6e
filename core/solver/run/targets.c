/* targets.c - what a record says of the problem's targets. */
#include "record/targets.h"
#include "run.h"
#include <math.h>
#include <string.h>

/* Finds what is inside by all cells of the grid. */
static int count_cells(gbees_solver *solver, const gbees_record *record, gbees_target_state *state,
                       gbees_error *error)
{
    gbees_target_sums sums = {.problem = record->problem, .time = solver->clock.time};
    const int status = solver->backend->cells(solver->grid.engine, 0, gbees_target_sums_add, &sums, error);

    if (sums.wrong)
        return gbees_target_fail(record->problem, sums.wrong - 1, solver->clock.time, error);
    for (int k = 0; k < record->problem->target_count && !status; k++)
        state[k] =
            (gbees_target_state){.probability = sums.mass > 0 ? sums.inside[k] / sums.mass : NAN, .bound = NAN};
    return status;
}

int gbees_run_targets(gbees_solver *solver, gbees_record *record, gbees_error *error)
{
    const double past = solver->clock.time - solver->targets_time;
    const int status = solver->backend->targets
                           ? solver->backend->targets(solver->grid.engine, &solver->clock, record->targets, error)
                           : count_cells(solver, record, record->targets, error);

    if (status)
        return status;
    for (int k = 0; k < record->problem->target_count; k++)
        record->targets[k].rate = record->number > 0 && past > 0
                                      ? (record->targets[k].probability - solver->targets[k].probability) / past
                                      : NAN;
    memcpy(solver->targets, record->targets, sizeof solver->targets);
    solver->targets_time = solver->clock.time;
    return GBEES_OK;
}
