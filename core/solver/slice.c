/* slice.c - the steps that a run takes between two looks at whether it is to go on; see run.h. */
#include "base/seconds.h"
#include "base/workers.h"
#include "run.h"
#include <pthread.h>

/* A slice lasts about SLICE_S seconds. */
#define SLICE_S 0.15
#define SLICE_MOST 100000     /* steps of a slice, at most */
#define SLICE_FIRST 100       /* of the first one, at most */
#define SLICE_CELLS_PER_S 4e6 /* assumed of the backend for the first one */

static uint64_t whole_slice(double steps, uint64_t most)
{
    return steps < 1 ? 1 : steps > (double)most ? most : (uint64_t)steps;
}

/* Steps of a mode's first slice, from the number of its cells; 1 if the backend does not count them. */
static uint64_t first_slice(const gbees_density_mode *mode)
{
    const double cells = (double)gbees_grid_totals(&mode->grid).max_cells;

    return cells > 0 ? whole_slice(SLICE_S * SLICE_CELLS_PER_S / cells, SLICE_FIRST) : 1;
}

/* Sets the length of the next slice from the steps that this one has taken, which the end of the interval may have
 * cut short, and their time. It grows by at most 4, or, if the slice was very short, to what would take SLICE_S / 16:
 * starting a slice costs a GPU some time, but steps get slower as the grid grows. */
static void adapt_slice(gbees_density_mode *mode, uint64_t taken, double took_s)
{
    const double steps = (double)taken, times = SLICE_S / took_s;

    mode->slice = whole_slice(steps * (times < 4 ? times : times < 4 * 16 ? 4 : times / 16), SLICE_MOST);
}

/* ---- one mode ---- */

/* What is done to a mode in a slice. */
typedef struct mode_slice {
    gbees_density_mode *mode;
    int status, observer_failed; /* the latter: `error` is the observer's, which is passed on as it is */
    gbees_error error;
} mode_slice;

/* The slices of all modes. */
typedef struct slices {
    gbees_solver *solver;
    double until;         /* modes take calls to the backend until then: one at least */
    pthread_mutex_t lock; /* of the notifier */
    mode_slice of[GBEES_MODES_MOST];
} slices;

/* Takes the steps of one call to the backend. */
static int advance(gbees_solver *solver, gbees_density_mode *mode, gbees_error *error)
{
    const double elapsed = mode->clock.elapsed, began = gbees_seconds_now();
    const uint64_t before = mode->clock.leg_step;

    if (mode->slice == 0)
        mode->slice = first_slice(mode);
    const uint64_t steps = solver->observer->step ? 1 : mode->slice;
    const int status = solver->problem->moving
                           ? gbees_moving_advance(&mode->moving, &mode->grid, &mode->clock, steps, error)
                           : solver->backend->advance(mode->grid.engine, &mode->clock, steps, error);

    if (!status && !(mode->clock.elapsed > elapsed))
        return gbees_error_set(error, GBEES_ENUMERIC, "time stands still; the time step has become too small for it");
    adapt_slice(mode, mode->clock.leg_step - before, gbees_seconds_now() - began);
    return status;
}

/* Replaces the cells of a mode whose grid moves by those that fit its density, once the notifier no longer uses them.
 */
static int replace_cells(slices *all, mode_slice *slice)
{
    gbees_density_mode *mode = slice->mode;

    (void)pthread_mutex_lock(&all->lock);
    slice->status = gbees_notifier_finish(all->solver->notifier, &slice->error);
    (void)pthread_mutex_unlock(&all->lock);
    slice->observer_failed = slice->status != GBEES_OK;
    if (!slice->status)
        slice->status = gbees_moving_replace(&mode->moving, &mode->grid, &mode->clock, &slice->error);
    return slice->status;
}

/* Advances a mode, one of several that are under way until the same time. */
static void advance_mode(void *context, size_t which)
{
    slices *all = context;
    mode_slice *slice = &all->of[which];
    gbees_density_mode *mode = slice->mode;

    do {
        slice->status = advance(all->solver, mode, &slice->error);
        if (!slice->status && all->solver->problem->moving && !gbees_moving_fits(&mode->moving))
            slice->status = replace_cells(all, slice);
    } while (!slice->status && mode->clock.elapsed < mode->clock.length && gbees_seconds_now() < all->until);
}

/* ---- all ---- */

/* How many modes have not come to the end of the interval. */
static int count_running(const gbees_modes *modes)
{
    int running = 0;

    for (int k = 0; k < modes->count; k++)
        running += modes->mode[k]->clock.elapsed < modes->mode[k]->clock.length;
    return running;
}

static int is_listed(const slices *all, size_t count, const gbees_density_mode *mode)
{
    for (size_t k = 0; k < count; k++)
        if (all->of[k].mode == mode)
            return 1;
    return 0;
}

/* Lists the modes that are to advance, those furthest behind first. */
static size_t list_modes(gbees_modes *modes, slices *all)
{
    const int running = modes->count > 1 ? count_running(modes) : 1;
    const size_t most = running > 1 ? (size_t)gbees_modes_share_threads(modes, running) : 1;

    for (size_t count = 0; count < most; count++) {
        gbees_density_mode *next = NULL;

        for (int k = 0; k < modes->count; k++)
            if (!is_listed(all, count, modes->mode[k]) &&
                (!next || modes->mode[k]->clock.elapsed < next->clock.elapsed))
                next = modes->mode[k];
        all->of[count].mode = next;
    }
    return most;
}

static void open_pool(gbees_solver *solver)
{
    const int threads = gbees_workers_threads(solver->modes.threads);

    if (!solver->pool)
        solver->pool = gbees_pool_open(threads < GBEES_MODES_MOST ? threads : GBEES_MODES_MOST);
}

int gbees_run_slice(gbees_solver *solver, gbees_error *error)
{
    const double began = gbees_seconds_now();
    slices all = {.solver = solver, .lock = PTHREAD_MUTEX_INITIALIZER};
    const size_t count = list_modes(&solver->modes, &all);
    int status = GBEES_OK;

    if (count > 1) {
        all.until = began + SLICE_S / 2;
        open_pool(solver);
    }
    gbees_pool_run(solver->pool, count, advance_mode, &all);
    solver->propagate_s += gbees_seconds_now() - began;
    if (solver->modes.count == 1)
        solver->clock = solver->modes.mode[0]->clock;
    for (size_t k = 0; k < count && !status; k++)
        if (all.of[k].observer_failed)
            status = gbees_error_set(error, (gbees_status)all.of[k].status, "%s", all.of[k].error.text);
        else if (all.of[k].status)
            status = gbees_run_fail(solver, all.of[k].status, &all.of[k].error, error);
    (void)pthread_mutex_destroy(&all.lock);
    if (!status)
        solver->clock = gbees_modes_next(&solver->modes)->clock;
    return status;
}
