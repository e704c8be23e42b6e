/* updates.c - applies a run's measurements, on a finer grid where they need one. */
#include "base/seconds.h"
#include "run.h"
#include "solver/grid/refine.h"
#include "solver/grid/resolve.h"
#include <math.h>

/* "measurement 2 (z) at t = 1": numbers count from 1, as the files measurement1.txt ... do. */
static int fail_update(const gbees_solver *solver, int number, int status, const gbees_error *cause,
                       gbees_error *error)
{
    const gbees_measurement *measurement = &solver->problem->measurements[number - 1];
    const char *name = solver->problem->model->measurements[measurement->function].name;

    if (status != GBEES_EUNSUPPORTED)
        return gbees_run_fail(solver, status, cause, error);
    return gbees_error_set(error, GBEES_EUNSUPPORTED, "measurement %d (%s) at t = %.6g (leg %d, step %llu): %s",
                           number, name, measurement->time, solver->now.leg,
                           (unsigned long long)gbees_run_totals(solver).steps, cause->text);
}

/* If the problem asks for that: makes the grid finer if it would not resolve the density after this measurement, and
 * else as wide again as resolves it well, where earlier measurements have made it finer. */
static int resolve_update(gbees_solver *solver, const gbees_measurement *measurement, gbees_error *error)
{
    const gbees_problem *problem = gbees_grid_problem(&solver->grid);
    const int most = GBEES_REFINE_MOST / 2, *now = solver->grid.level;
    const double time = solver->now.clock.time;
    int level[GBEES_MAX_DIM], power[GBEES_MAX_DIM], sign = 1;
    gbees_statistics prior;
    gbees_error cause = {0};

    if (!problem->regrid_auto)
        return GBEES_OK;
    const int status = gbees_grid_statistics(&solver->grid, &solver->now.clock, &prior, &cause);
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    if (!gbees_resolve(problem, &prior, measurement, time,
                       gbees_resolve_cells_most(problem, solver->grid.options.memory_bytes), power)) {
        if (!gbees_resolve_coarser(problem, &prior, measurement, time, now, power))
            return GBEES_OK;
        sign = -1;
    }
    for (int j = 0; j < problem->dimension; j++) {
        level[j] = now[j] + sign * power[j];
        level[j] = level[j] < most ? level[j] : most;
    }
    return gbees_run_change_grid(solver, level, error);
}

/* Applies a measurement to the density as it is. */
static int apply(gbees_solver *solver, const gbees_measurement *measurement, gbees_evidence *evidence,
                 gbees_error *error)
{
    const gbees_grid *grid = &solver->grid;
    int status = GBEES_OK;

    if (solver->problem->moving)
        status = gbees_moving_place(&solver->now.moving, grid, solver->now.clock.time, error);
    return status ? status : grid->backend->update(grid->engine, &solver->now.clock, measurement, evidence, error);
}

/* On a grid that moves: before a measurement replaces cells that would not resolve what it leaves, and after it
 * (NULL) those that no longer fit. */
static int refit(gbees_solver *solver, const gbees_measurement *measurement, gbees_error *error)
{
    gbees_moving *moving = &solver->now.moving;
    const gbees_clock *clock = &solver->now.clock;
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error); /* it may still use the engine */

    if (status)
        return status;
    status = measurement ? gbees_moving_sharpen(moving, &solver->grid, clock, measurement, &cause)
                         : gbees_moving_restart(moving, &solver->grid, clock, &cause);
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

int gbees_run_update(gbees_solver *solver, int number, gbees_error *error)
{
    const gbees_measurement *measurement = &solver->problem->measurements[number - 1];
    gbees_event event = {.number = number, .time = solver->now.clock.time};
    gbees_error cause = {0};
    int status =
        solver->problem->moving ? refit(solver, measurement, error) : resolve_update(solver, measurement, error);

    if (status)
        return status;
    const double began = gbees_seconds_now(), total = solver->now.evidence.total;
    status = apply(solver, measurement, &event.evidence, &cause);
    solver->now.propagate_s += gbees_seconds_now() - began;
    if (status)
        return fail_update(solver, number, status, &cause, error);
    if (solver->problem->moving)
        status = refit(solver, NULL, error);
    if (status)
        return status;
    const gbees_totals totals = gbees_run_totals(solver);
    memcpy(solver->now.entered_before, totals.mass_entered, sizeof solver->now.entered_before);
    event.evidence.total = total + event.evidence.log_evidence;
    if (!solver->backend->certify) {
        event.evidence.sampled = event.evidence.sampled_error = NAN;
        event.evidence.total_sampled = event.evidence.total_error = NAN;
    }
    solver->now.evidence = event.evidence;
    solver->now.updates++;
    return solver->observer->update || solver->observer->audit ? gbees_notifier_post(solver->notifier, &event, error)
                                                               : GBEES_OK;
}
