/* budget.c - the inputs of a mass budget's control of p* (common/budget.h), from an engine of the CPU. */
#include "engine.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The machine's memory in bytes; infinity if it is not known. */
static double physical_memory(void)
{
    double pages = (double)sysconf(_SC_PHYS_PAGES), size = (double)sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? pages * size : INFINITY;
}

double budget_memory_limit(double wanted)
{
    return wanted > 0 ? wanted : 0.8 * physical_memory();
}

void budget_steer(gbees_engine *e, double time)
{
    const double brick = (double)grid_bytes(&e->g) / ((double)e->g.capacity + 1);

    const int is_short = mass_budget_is_short(brick, e->g.count, e->memory_limit);

    mass_budget_steer(&e->budget, time, gbees_ledger_lost(&e->run.ledger), (double)engine_bricks(e) * e->cells,
                      ranks_any(e->ranks, is_short));
}
