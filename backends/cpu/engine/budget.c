/* budget.c - the inputs of a mass budget's control of p* (common/budget.h), from an engine of the CPU. */
#include "base/memory.h"
#include "engine.h"
#include "ranks.h"

double budget_memory_limit(double wanted)
{
    return wanted > 0 ? wanted : 0.8 * gbees_memory_of_machine();
}

void budget_steer(gbees_engine *e, double time)
{
    const double brick = (double)grid_bytes(&e->g) / ((double)e->g.capacity + 1);

    const int is_short = mass_budget_is_short(brick, e->g.count, e->memory_limit);

    mass_budget_steer(&e->budget, time, &e->run.ledger, (double)engine_bricks(e) * e->cells,
                      ranks_any(e->ranks, is_short));
}
