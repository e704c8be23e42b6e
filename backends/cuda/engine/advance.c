/* advance.c - time steps: the kernel goes on by itself, the host sees to what it stops for. */
#include "common/failure.h"
#include "engine.h"
#include <math.h>
#include <stdio.h>

static int fail_drift(const gbees_engine *e, uint32_t slot, double time, gbees_error *error)
{
    const size_t n = (size_t)e->setup.shape.n;
    int32_t key[GBEES_MAX_DIM];
    int known = e->api->cuMemcpyDtoH(key, e->key.at + slot * n * sizeof *key, n * sizeof *key) == CUDA_SUCCESS;

    return failure_drift(e->problem, &e->setup.shape, known ? key : NULL, time, error);
}

int engine_stop_error(const gbees_engine *e, gbees_error *error)
{
    const gbees_state *s = e->state;

    if (s->bad && s->stop != STOP_NOISE)
        return fail_drift(e, s->bad - 1, s->progress.clock.time, error);
    switch (s->stop) {
    case STOP_DRIFT:
        return fail_drift(e, s->where, s->progress.clock.time, error);
    case STOP_NOISE:
        return fail_drift(e, s->where, s->progress.clock.time + s->progress.step.size / 2, error);
    case STOP_FAR:
        return failure_far(e->problem, (int)s->where, STATE_KEY_LIMIT, error);
    case STOP_MASS:
        return failure_mass(s->progress.ledger.mass > 0 ? "zero or not finite" : "zero", s->progress.clock.time,
                            s->progress.step.size, error);
    case STOP_STEP:
        return failure_step(s->progress.clock.time, s->progress.step.size, error);
    case STOP_EMPTY:
        return failure_empty(e->setup.threshold, error);
    default:
        return 0;
    }
}

void engine_steer(gbees_engine *e)
{
    const gbees_state *s = e->state;
    double brick = (double)(e->memory.used - engine_capture_bytes(e)) / ((double)e->setup.grid.capacity + 1);

    mass_budget_steer(&e->budget, s->progress.clock.time, s->progress.ledger.outflow + s->progress.ledger.pruned,
                      2 * brick * s->count > 0.9 * (double)e->memory.total);
}

/* More slots, after a growth that found too few or nearly so. */
static int make_room(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;
    uint32_t most = e->setup.grid.capacity - 1;
    int anew = s->overflow != 0;

    s->overflow = 0;
    if (s->count > most)
        s->count = most;
    return engine_make_room(e, s->count + (anew ? s->count / 4 : 0), anew, error);
}

int cuda_engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    gbees_state *s = e->state;
    uint64_t target = max_steps < UINT64_MAX - s->progress.steps ? s->progress.steps + max_steps : UINT64_MAX;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "advancing", error);

    s->progress.clock.time = clock->time;
    s->progress.clock.elapsed = clock->elapsed;
    s->progress.clock.length = clock->length;
    s->progress.clock.leg_step = clock->leg_step;
    s->progress.clock.phase = (uint32_t)(clock->leg_step % e->setup.prune_interval);
    while (!status && s->progress.steps < target && s->progress.clock.elapsed < s->progress.clock.length) {
        char doing[64];

        (void)snprintf(doing, sizeof doing, "advancing from t = %.6g", s->progress.clock.time);
        status = engine_launch_steps(e, target, doing, error);
        if (!status)
            status = engine_stop_error(e, error);
        if (!status && s->stop == STOP_PRUNED)
            engine_steer(e);
        if (!status && (s->stop == STOP_CAPACITY || s->count > e->brick_limit))
            status = make_room(e, error);
    }
    clock->time = s->progress.clock.time;
    clock->elapsed = s->progress.clock.elapsed;
    clock->leg_step = s->progress.clock.leg_step;
    return status;
}

void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals)
{
    const gbees_state *s = e->state;

    *totals = e->totals;
    totals->steps = s->progress.steps - e->problem->steps_before;
    /* Steps since the last count of needed cells, at that count. */
    totals->cell_updates = s->progress.work.cell_updates + s->progress.work.steps * (double)s->progress.work.needed;
    totals->raw_cell_updates = s->progress.work.raw_cell_updates;
    totals->max_cells = s->progress.work.max_needed;
    totals->peak_bytes = e->memory.peak;
    totals->mass_clipped = s->progress.ledger.clipped;
    totals->mass_outflow = s->progress.ledger.outflow;
    totals->mass_pruned = s->progress.ledger.pruned;
    totals->time_step = s->progress.last_step;
    totals->threshold = e->budget.threshold;
    totals->warnings = e->budget.warnings;
    totals->threads = 0;
}
