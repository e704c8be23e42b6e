/* steer.c - sets p* of a mass budget after a prune, by the rule of common/budget.h. */
#include "engine.h"

int engine_is_short(const gbees_engine *e)
{
    const double brick_bytes =
        (double)(e->memory.used - e->captured.array.size) / ((double)e->setup.grid.capacity + 1);
    const double limit = e->memory_limit > 0 ? e->memory_limit : 0.9 * (double)e->memory.total;

    return mass_budget_is_short(brick_bytes, e->state->count, limit);
}

void engine_steer(gbees_engine *e)
{
    const gbees_state *s = e->state;

    mass_budget_steer(&e->budget, s->run.clock.time, &s->run.ledger, 64.0 * s->count, engine_is_short(e));
}
