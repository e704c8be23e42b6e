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
        return fail_drift(e, s->bad - 1, s->run.clock.time, error);
    switch (s->stop) {
    case STOP_DRIFT:
        return fail_drift(e, s->where, s->run.clock.time, error);
    case STOP_NOISE:
        return fail_drift(e, s->where, s->run.clock.time + s->run.step.size / 2, error);
    case STOP_FAR:
        return failure_far(e->problem, (int)s->where, STATE_KEY_LIMIT, error);
    case STOP_MASS:
        return failure_mass(s->run.ledger.mass > 0 ? "zero or not finite" : "zero", s->run.clock.time,
                            s->run.step.size, error);
    case STOP_STEP:
        return failure_step(s->run.clock.time, s->run.step.size, error);
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

    mass_budget_steer(&e->budget, s->run.clock.time, s->run.ledger.outflow + s->run.ledger.pruned,
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
    uint64_t target = max_steps < UINT64_MAX - s->run.steps ? s->run.steps + max_steps : UINT64_MAX;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "advancing", error);

    s->run.clock.time = clock->time;
    s->run.clock.elapsed = clock->elapsed;
    s->run.clock.length = clock->length;
    s->run.clock.leg_step = clock->leg_step;
    s->run.clock.phase = (uint32_t)(clock->leg_step % e->setup.prune_interval);
    while (!status && s->run.steps < target && s->run.clock.elapsed < s->run.clock.length) {
        char doing[64];

        (void)snprintf(doing, sizeof doing, "advancing from t = %.6g", s->run.clock.time);
        status = engine_launch_steps(e, target, doing, error);
        if (!status)
            status = engine_stop_error(e, error);
        if (!status && s->stop == STOP_PRUNED)
            engine_steer(e);
        if (!status && (s->stop == STOP_CAPACITY || s->count > e->brick_limit))
            status = make_room(e, error);
    }
    clock->time = s->run.clock.time;
    clock->elapsed = s->run.clock.elapsed;
    clock->leg_step = s->run.clock.leg_step;
    return status;
}

void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals)
{
    const gbees_state *s = e->state;

    *totals = e->totals;
    totals->steps = s->run.steps - e->problem->steps_before;
    /* Steps since the last count of needed cells, at that count. */
    totals->cell_updates = s->run.work.cell_updates + s->run.work.steps * (double)s->run.work.needed;
    totals->raw_cell_updates = s->run.work.raw_cell_updates;
    totals->max_cells = s->run.work.max_needed;
    totals->peak_bytes = e->memory.peak;
    totals->mass_clipped = s->run.ledger.clipped;
    totals->mass_outflow = s->run.ledger.outflow;
    totals->mass_pruned = s->run.ledger.pruned;
    totals->time_step = s->run.last_step;
    totals->threshold = e->budget.threshold;
    totals->warnings = e->budget.warnings;
    totals->threads = 0;
}
