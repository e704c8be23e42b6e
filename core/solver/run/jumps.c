/* jumps.c - takes a run's density through the jumps that a leg begins with. */
#include "base/seconds.h"
#include "record/instants.h"
#include "run.h"
#include "solver/grid/jump.h"
#include "solver/problem/frame.h"

/* "instant 2 (shift) at t = 1": numbers count from 1. */
static int fail_jump(const gbees_solver *solver, int number, int status, const gbees_error *cause, gbees_error *error)
{
    const gbees_instant *instant = &solver->problem->instants[number - 1];

    return gbees_error_set(error, (gbees_status)status, "instant %d (%s) at t = %.6g (leg %d, step %llu): %s", number,
                           gbees_instant_name(solver->problem, instant), instant->time, solver->now.leg,
                           (unsigned long long)gbees_run_totals(solver).steps, cause->text);
}

/* Applies a jump: by the backend, or to the cells of its grid, which records must no longer use. */
static int apply(gbees_solver *solver, const gbees_instant *instant, gbees_error *error)
{
    if (solver->backend->jump)
        return solver->backend->jump(solver->grid.engine, &solver->now.clock, instant, error);
    return solver->problem->moving
               ? gbees_moving_jump(&solver->now.moving, &solver->grid, &solver->now.clock, instant, error)
               : gbees_grid_jump(&solver->grid, &solver->now.clock, instant, error);
}

/* Sets the statistics before the leg's measurements to those after its jumps: in the axes of find_statistics() in
 * records.c. */
static int note_statistics(gbees_solver *solver, gbees_error *error)
{
    gbees_statistics *now = &solver->now.statistics;
    const int status = gbees_grid_statistics(&solver->grid, &solver->now.clock, now, error);

    if (status || !solver->problem->moving)
        return status;
    gbees_problem moved = *gbees_grid_problem(&solver->grid);
    gbees_frame_place(&solver->now.moving.frame, &moved);
    gbees_frame_statistics(&moved, now);
    return GBEES_OK;
}

static int jump(gbees_solver *solver, int number, gbees_error *error)
{
    const double began = gbees_seconds_now();
    gbees_event event = {.jump = number, .time = solver->now.clock.time};
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error);

    if (status)
        return status;
    status = apply(solver, &solver->problem->instants[number - 1], &cause);
    if (!status)
        status = note_statistics(solver, &cause);
    solver->now.propagate_s += gbees_seconds_now() - began;
    if (status)
        return fail_jump(solver, number, status, &cause, error);
    solver->slice = 0; /* steps of another grid may take far longer */
    return solver->observer->jump && !solver->smoothed ? gbees_notifier_post(solver->notifier, &event, error)
                                                       : GBEES_OK;
}

int gbees_run_jumps(gbees_solver *solver, gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->now.leg];
    int status = GBEES_OK;

    for (; !status && solver->now.jumps < leg->first_instant + leg->instant_count; solver->now.jumps += !status)
        status = jump(solver, solver->now.jumps + 1, error);
    return status;
}
