/* advance.c - time steps: kernels take them until one stops for what the host has to handle. */
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "stop_error.h"

/* The memory counts as short from where twice the bricks would take more than 90 % of it. */
void engine_steer(gbees_engine *e)
{
    const gbees_state *s = e->state;
    double brick = (double)(e->memory.used - e->captured.array.size) / ((double)e->setup.grid.capacity + 1);

    mass_budget_steer(&e->budget, s->run.clock.time, s->run.ledger.outflow + s->run.ledger.pruned,
                      2 * brick * s->count > 0.9 * (double)e->memory.total);
}

/* Grows the heap after a step that made too many bricks, or nearly so.  If one did not fit, the hash table is filled
 * again without it: the step has not been taken. */
static int grow_heap(gbees_engine *e, gbees_error *error)
{
    gbees_state *s = e->state;
    const uint32_t most = e->setup.grid.capacity - 1;
    const int did_not_fit = s->overflow != 0;

    s->overflow = 0;
    if (s->count > most)
        s->count = most;
    return engine_heap_reserve(e, s->count + (did_not_fit ? s->count / 4 : 0), did_not_fit, error);
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
        status = engine_launch_steps(e, target, error);
        if (!status)
            status = engine_stop_error(e, error);
        if (!status && s->stop == STOP_PRUNED)
            engine_steer(e);
        if (!status && (s->stop == STOP_CAPACITY || s->count > e->brick_limit))
            status = grow_heap(e, error);
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
    /* Needed cells are counted at prunes: steps since the last one have its count. */
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
