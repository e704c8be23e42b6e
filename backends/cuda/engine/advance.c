/* advance.c - time steps: kernels take them until one stops for what the host has to handle. */
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "stop.h"

/* The memory counts as short from where twice the bricks would take more than 90 % of it. */
void engine_steer(gbees_engine *e)
{
    const gbees_state *s = e->state;
    double brick = (double)(e->memory.used - e->captured.array.size) / ((double)e->setup.grid.capacity + 1);

    mass_budget_steer(&e->budget, s->time, s->outflow + s->pruned,
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
    uint64_t target = max_steps < UINT64_MAX - s->steps ? s->steps + max_steps : UINT64_MAX;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "advancing", error);

    s->time = clock->time;
    s->elapsed = clock->elapsed;
    s->length = clock->length;
    s->leg_step = clock->leg_step;
    s->phase = (uint32_t)(clock->leg_step % e->setup.prune_interval);
    while (!status && s->steps < target && s->elapsed < s->length) {
        status = engine_launch_steps(e, target, error);
        if (!status)
            status = engine_stop_error(e, error);
        if (!status && s->stop == STOP_PRUNED)
            engine_steer(e);
        if (!status && (s->stop == STOP_CAPACITY || s->count > e->brick_limit))
            status = grow_heap(e, error);
    }
    clock->time = s->time;
    clock->elapsed = s->elapsed;
    clock->leg_step = s->leg_step;
    return status;
}

void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals)
{
    const gbees_state *s = e->state;

    *totals = e->totals;
    totals->steps = s->steps - e->problem->steps_before;
    /* Needed cells are counted at prunes: steps since the last one have its count. */
    totals->cell_updates = s->cell_updates + s->needed_steps * (double)s->needed_count;
    totals->raw_cell_updates = s->raw_cell_updates;
    totals->max_cells = s->max_cells;
    totals->peak_bytes = e->memory.peak;
    totals->mass_clipped = s->clipped;
    totals->mass_outflow = s->outflow;
    totals->mass_pruned = s->pruned;
    totals->time_step = s->last_step;
    totals->threshold = e->budget.threshold;
    totals->warnings = e->budget.warnings;
    totals->threads = 0;
}
