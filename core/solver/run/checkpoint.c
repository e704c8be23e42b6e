/* checkpoint.c - a run's state as a checkpoint, and back: its grid, and where it stands. */
#include "base/gaps.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "run.h"
#include <stdlib.h>
#include <string.h>

/* Struct by struct: gcc 12 loses count of a large struct's gaps, and clears bytes of members in their place. Neither
 * the whole nor gbees_moving has gaps of its own. */
static void clear_gaps(gbees_solver_state *state)
{
    GBEES_CLEAR_GAPS(&state->grid);
    GBEES_CLEAR_GAPS(&state->moving.frame);
    GBEES_CLEAR_GAPS(&state->moving.fits);
    GBEES_CLEAR_GAPS(&state->moving.shape);
    GBEES_CLEAR_GAPS(&state->moving.noise);
    GBEES_CLEAR_GAPS(&state->recorded);
    GBEES_CLEAR_GAPS(&state->evidence);
}

/* Whether the machine has the memory for a copy of what the engine holds. Systems that grant more memory than they
 * have would kill the program while the copy is written. */
static int has_memory(const gbees_solver *solver)
{
    return (double)gbees_run_totals(solver).peak_bytes < gbees_memory_available();
}

int gbees_run_pass(gbees_solver *solver, gbees_state_sink *sink, void *to, gbees_error *error)
{
    gbees_solver_state state = solver->now;

    memset(&state.grid, 0, sizeof state.grid);
    gbees_grid_get_state(&solver->grid, &state.grid);
    state.wall_s = gbees_seconds_now() - solver->began_s;
    clear_gaps(&state);
    if (sink(to, "run", 1, sizeof state, &state))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");
    return solver->backend->save(solver->grid.engine, sink, to, error);
}

/* Passes the run's state and the audit's samples to a sink: a gbees_checkpoint_source. */
static int pass_all(void *context, gbees_state_sink *sink, void *to, gbees_error *error)
{
    gbees_solver *solver = context;
    const int status = gbees_run_pass(solver, sink, to, error);

    return status || !solver->observer->audit ? status : gbees_audit_save(solver->observer->audit, sink, to, error);
}

void gbees_run_drop(gbees_checkpoint *copy)
{
    if (copy)
        gbees_checkpoint_clear(copy);
    free(copy);
}

int gbees_run_copy(gbees_solver *solver, gbees_checkpoint **copy, gbees_error *error)
{
    *copy = has_memory(solver) ? calloc(1, sizeof **copy) : NULL;
    if (!*copy)
        return GBEES_OK;
    const int status = gbees_run_pass(solver, gbees_checkpoint_add, *copy, error);
    if (status) {
        gbees_run_drop(*copy);
        *copy = NULL;
    }
    return status == GBEES_ENOMEM ? GBEES_OK : status;
}

int gbees_run_checkpoint(gbees_solver *solver, gbees_error *error)
{
    gbees_checkpoint uncopied = {.rest = pass_all, .rest_context = solver};
    gbees_event event = {.time = solver->now.clock.time};
    gbees_error cause = {0};

    if (!solver->observer->checkpoint || !solver->backend->save)
        return GBEES_OK;
    int status = gbees_run_copy(solver, &event.checkpoint, &cause); /* steps go on while it is written */
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    if (event.checkpoint)
        return gbees_notifier_post(solver->notifier, &event, error);
    status = gbees_notifier_checkpoint(solver->notifier, &uncopied, error);
    gbees_checkpoint_clear(&uncopied); /* of what the observer has added */
    return status;
}

gbees_checkpoint *gbees_run_keep(gbees_solver *solver)
{
    const gbees_observer *observer = solver->observer;
    gbees_checkpoint *kept = NULL;
    gbees_error ignored;

    if (solver->backend->exact && !solver->smoothed && observer->checkpoint && observer->cancelled &&
        gbees_run_copy(solver, &kept, &ignored))
        return NULL;
    return kept;
}

int gbees_run_release(gbees_solver *solver, gbees_checkpoint *kept, int status)
{
    gbees_event event = {.time = solver->now.clock.time, .checkpoint = kept};
    gbees_error ignored;

    if (kept && status == GBEES_ECANCELLED)
        (void)gbees_notifier_post(solver->notifier, &event, &ignored);
    else
        gbees_run_drop(kept);
    return status;
}

int gbees_run_load(gbees_solver *solver, const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                   gbees_error *error)
{
    gbees_grid *grid = &solver->grid;
    gbees_solver_state state;
    int status = gbees_checkpoint_copy(checkpoint, "run", 1, sizeof state, &state, error);

    if (!status && (state.leg < 0 || state.leg >= solver->schedule->leg_count || state.number < 0))
        status = gbees_error_set(error, GBEES_EINPUT, "the checkpoint does not fit this run: it is in leg %d of %d",
                                 state.leg, solver->schedule->leg_count);
    *grid = (gbees_grid){.backend = solver->backend, .options = *options, .problem = solver->problem};
    if (!status)
        status = gbees_grid_load(grid, &state.grid, checkpoint, error);
    if (status)
        return status;
    solver->now = state;
    solver->resumed = state.number > 0;
    return GBEES_OK;
}
