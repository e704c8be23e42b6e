/* budget.c - p* from a mass budget: the user says how much may be lost, not how small a cell may be.
 *
 * At each prune p* is multiplied with clamp(sqrt(wanted rate / measured rate), 1/2, 2), rates of loss through faces
 * and by pruning since the prune before.  The wanted rate is the budget, corrected for what was spent too much or too
 * little so far.
 */
#include "engine.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static double physical_memory(void)
{
    double pages = (double)sysconf(_SC_PHYS_PAGES), size = (double)sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? pages * size : INFINITY;
}

static double lost(const gbees_engine *e)
{
    return e->totals.mass_outflow + e->totals.mass_pruned;
}

/* The mass of the initial density in cells with less than a p*. */
static double mass_below(const gbees_engine *e, double threshold)
{
    double sum = 0;

    for (uint32_t k = 0; k < e->g.count; k++)
        for (int cell = 0; cell < e->cells; cell++) {
            double p = engine_p(e, (size_t)e->g.used[k] * (size_t)e->cells + (size_t)cell);

            sum += p < threshold ? p : 0;
        }
    return sum;
}

/* The first p*: the largest power of two with a hundredth of a unit time's budget below it at the start. */
void budget_start(gbees_engine *e)
{
    const gbees_problem *problem = e->problem;

    e->spent = (spending){.time = problem->start, .memory = 0.8 * physical_memory()};
    if (!(problem->mass_budget > 0))
        return;
    e->steered = ldexp(1, -10);
    while (e->steered > 1e-18 && mass_below(e, e->steered) > 0.01 * problem->mass_budget)
        e->steered /= 2;
}

/* What should be lost from now on in a unit of time: a tenth of the run is given to even out what went before. */
static double wanted_rate(const gbees_engine *e, double time)
{
    const gbees_problem *problem = e->problem;
    double budget = problem->mass_budget, span = 0.1 * (problem->end - problem->start);
    double rate = budget + (budget * (time - problem->start) - lost(e)) / span;

    return fmin(fmax(rate, budget / 4), budget * 4);
}

/* Room for a grid that doubles until the next prune? */
static int is_short_of_memory(const gbees_engine *e)
{
    double brick = (double)grid_bytes(&e->g) / ((double)e->g.capacity + 1);

    return 2 * brick * e->g.count > e->spent.memory;
}

void budget_steer(gbees_engine *e, double time)
{
    double elapsed = time - e->spent.time, since = lost(e) - e->spent.lost;

    if (!(e->problem->mass_budget > 0) || !(elapsed > 0))
        return;
    double rate = since / elapsed, wanted = wanted_rate(e, time);
    double factor = rate > 0 ? fmin(fmax(sqrt(wanted / rate), 0.5), 2) : 2;
    if (is_short_of_memory(e)) {
        e->totals.budget_missed = 1;
        factor = 2;
    }
    e->steered = fmin(fmax(e->steered * factor, 1e-18), 1e-2);
    e->spent.time = time;
    e->spent.lost = lost(e);
}
