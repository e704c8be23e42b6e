/* run.c - the run's totals, its errors with their time, and the change of its grid. */
#include "run.h"
#include "base/seconds.h"

gbees_totals gbees_run_totals(const gbees_solver *solver)
{
    return gbees_grid_totals(&solver->grid);
}

int gbees_run_fail(const gbees_solver *solver, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", solver->now.clock.time,
                           solver->now.leg, (unsigned long long)gbees_run_totals(solver).steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

int gbees_run_change_grid(gbees_solver *solver, const int *level, gbees_error *error)
{
    const double began = gbees_seconds_now();
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error); /* it may still use the grid */

    if (status)
        return status;
    status = gbees_grid_replace(&solver->grid, &solver->now.clock, level, &cause);
    solver->now.propagate_s += gbees_seconds_now() - began;
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    solver->slice = 0; /* steps of the new grid may take far longer */
    return GBEES_OK;
}
