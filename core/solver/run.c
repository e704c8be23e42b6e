/* run.c - see run.h. */
#include "run.h"
#include <time.h>

/* A slice: the steps of one call to the backend. It lasts about SLICE_S seconds, so that a cancellation is noticed
 * soon. */
#define SLICE_S 0.15
#define SLICE_MOST 100000     /* steps of a slice, at most */
#define SLICE_FIRST 100       /* of the first one, at most */
#define SLICE_CELLS_PER_S 4e6 /* assumed of the backend for the first one */

double gbees_run_now_s(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

gbees_totals gbees_run_totals(const gbees_solver *solver)
{
    return gbees_modes_totals(&solver->modes);
}

int gbees_run_fail(const gbees_solver *solver, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", solver->clock.time,
                           solver->leg, (unsigned long long)gbees_run_totals(solver).steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

static uint64_t whole_slice(double steps, uint64_t most)
{
    return steps < 1 ? 1 : steps > (double)most ? most : (uint64_t)steps;
}

gbees_grid *gbees_run_grid(gbees_solver *solver)
{
    return &solver->modes.mode[0]->grid;
}

uint64_t gbees_run_first_slice(const gbees_density_mode *mode)
{
    const double cells = (double)gbees_grid_totals(&mode->grid).max_cells;

    return cells > 0 ? whole_slice(SLICE_S * SLICE_CELLS_PER_S / cells, SLICE_FIRST) : 1;
}

/* Sets the length of the next slice from the time that this one took. It grows by at most 4, or, if the slice was
 * very short, to what would take SLICE_S / 16: starting a slice costs a GPU some time, but steps get slower as the
 * grid grows. */
void gbees_run_adapt_slice(gbees_density_mode *mode, double took_s)
{
    const double steps = (double)mode->slice, times = SLICE_S / took_s;

    mode->slice = whole_slice(steps * (times < 4 ? times : times < 4 * 16 ? 4 : times / 16), SLICE_MOST);
}

int gbees_run_change_frame(gbees_solver *solver, gbees_density_mode *mode, gbees_error *error)
{
    const double began = gbees_run_now_s();
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error); /* it may still use the engine */

    if (status)
        return status;
    status = gbees_moving_replace(&mode->moving, &mode->grid, &mode->clock, &cause);
    solver->propagate_s += gbees_run_now_s() - began;
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

int gbees_run_change_grid(gbees_solver *solver, const int *level, gbees_error *error)
{
    const double began = gbees_run_now_s();
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error); /* it may still use the grid */

    if (status)
        return status;
    status = gbees_grid_replace(gbees_run_grid(solver), &solver->clock, level, &cause);
    solver->propagate_s += gbees_run_now_s() - began;
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    solver->modes.mode[0]->slice =
        gbees_run_first_slice(solver->modes.mode[0]); /* steps of the new grid may take far longer */
    return GBEES_OK;
}
