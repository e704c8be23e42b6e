/* slice.c - the steps that a run takes between two looks at whether it is to go on; see run.h. */
#include "base/seconds.h"
#include "run.h"

/* A slice lasts about SLICE_S seconds. */
#define SLICE_S 0.15
#define SLICE_MOST 100000     /* steps of a slice, at most */
#define SLICE_FIRST 100       /* of the first one, at most */
#define SLICE_CELLS_PER_S 4e6 /* assumed of the backend for the first one */

static uint64_t whole_slice(double steps, uint64_t most)
{
    return steps < 1 ? 1 : steps > (double)most ? most : (uint64_t)steps;
}

/* Steps of the first slice, from the number of cells; 1 if the backend does not count them. */
static uint64_t first_slice(const gbees_grid *grid)
{
    const double cells = (double)gbees_grid_totals(grid).max_cells;

    return cells > 0 ? whole_slice(SLICE_S * SLICE_CELLS_PER_S / cells, SLICE_FIRST) : 1;
}

/* Sets the length of the next slice from the steps that this one has taken, which the end of the interval may have
 * cut short, and their time. It grows by at most 4, or, if the slice was very short, to what would take SLICE_S / 16:
 * starting a slice costs a GPU some time, but steps get slower as the grid grows. */
static void adapt_slice(gbees_solver *solver, uint64_t taken, double took_s)
{
    const double steps = (double)taken, times = SLICE_S / took_s;

    solver->slice = whole_slice(steps * (times < 4 ? times : times < 4 * 16 ? 4 : times / 16), SLICE_MOST);
}

/* Takes the steps of one call to the backend. */
static int advance(gbees_solver *solver, gbees_error *error)
{
    gbees_clock *clock = &solver->now.clock;
    const double elapsed = clock->elapsed, began = gbees_seconds_now();
    const uint64_t before = clock->leg_step;

    if (solver->slice == 0)
        solver->slice = first_slice(&solver->grid);
    const uint64_t steps = solver->observer->step ? 1 : solver->slice;
    const int status = solver->problem->moving
                           ? gbees_moving_advance(&solver->now.moving, &solver->grid, clock, steps, error)
                           : solver->backend->advance(solver->grid.engine, clock, steps, error);

    if (!status && !(clock->elapsed > elapsed))
        return gbees_error_set(error, GBEES_ENUMERIC, "time stands still; the time step has become too small for it");
    adapt_slice(solver, clock->leg_step - before, gbees_seconds_now() - began);
    return status;
}

int gbees_run_slice(gbees_solver *solver, gbees_error *error)
{
    const double began = gbees_seconds_now();
    gbees_error cause = {0};
    int status = advance(solver, &cause), observer_status = GBEES_OK;

    if (!status && solver->problem->moving && !gbees_moving_fits(&solver->now.moving)) {
        observer_status = gbees_notifier_finish(solver->notifier, error); /* it may still use the cells */
        if (!observer_status)
            status = gbees_moving_replace(&solver->now.moving, &solver->grid, &solver->now.clock, &cause);
    }
    solver->now.propagate_s += gbees_seconds_now() - began;
    return status ? gbees_run_fail(solver, status, &cause, error) : observer_status;
}
