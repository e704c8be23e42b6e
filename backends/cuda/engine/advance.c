/* advance.c - time steps: launches the kernels that take them, and handles the reasons for which these stop. */
#include "common/totals.h"
#include "engine.h"
#include "heap.h"
#include "launch.h"
#include "ranks.h"
#include "stop_error.h"

/* Grows the heap when its bricks are, or nearly are, too many.  If a brick did not fit, the hash table is filled
 * again without it: its step has not been taken, and inserts it again. */
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

/* Whether the grid takes more memory than the engine's options allow: the caller may want to stop. */
static int is_over_limit(const gbees_engine *e)
{
    return e->memory_limit > 0 && (double)e->memory.used > e->memory_limit;
}

/* Returns before max_steps, but not before one, when the grid has grown beyond its limit of memory.  Ranks, which
 * have to take the same number of steps, don't. */
int cuda_engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    if (ranks_follow(e))
        return 0;
    gbees_state *s = e->state;
    const uint64_t first = s->run.steps;
    uint64_t target = max_steps < UINT64_MAX - s->run.steps ? s->run.steps + max_steps : UINT64_MAX;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "advancing", error);

    s->run.clock = step_clock_load(clock, e->setup.prune_interval);
    while (!status && s->run.steps < target && s->run.clock.elapsed < s->run.clock.length) {
        if (ranks_are_due(e)) {
            status = ranks_advance(e, target, error);
            continue;
        }
        status = engine_launch_steps(e, target, error);
        if (!status)
            status = engine_stop_error(e, error);
        if (!status && s->stop == STOP_PRUNED)
            engine_steer(e);
        if (!status && (s->stop == STOP_CAPACITY || s->count > e->brick_limit)) {
            const int was_over = is_over_limit(e);

            status = grow_heap(e, error);
            if (is_over_limit(e) && !was_over && !e->ranks && s->run.steps > first)
                break;
        }
    }
    step_clock_store(&s->run.clock, clock);
    ranks_return(e);
    return status;
}

void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals)
{
    *totals = totals_of(&e->state->run, &e->budget);
    engine_add_entered(e, totals);
    ranks_get_totals(e->ranks, totals);
    totals->peak_bytes = e->memory.peak;
    if (e->ranks && e->ranks->steps == 0) /* rank 0 has had the whole grid */
        totals->imbalance = totals->ranks;
}

void cuda_engine_rank_totals(const gbees_engine *e, int most, gbees_rank_totals *all)
{
    ranks_get_each(e->ranks, most, all);
}
