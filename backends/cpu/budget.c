/* budget.c - p* from a mass budget: the user says how much may be lost, not how small a cell may be.
 *
 * At each prune p* is multiplied with clamp(sqrt(wanted rate / measured rate), 1/2, 2), rates of loss through faces
 * and by pruning since the prune before.  The wanted rate is the budget, corrected for what was spent too much or too
 * little so far.
 *
 * Two things are said of a budget that is not held: that memory does not allow it, and that p* is lowered in vain.
 */
#include "engine.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const double LOWEST = 1e-18, HIGHEST = 1e-2; /* p* */

/* p* is lowered in vain after so many prunes in a row that have found more than MARGIN times the budget lost, if at
 * the end this is still more than half of the most among them. */
enum { IN_VAIN = 8 };
static const double MARGIN = 1.6;

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
    while (e->steered > LOWEST && mass_below(e, e->steered) > 0.01 * problem->mass_budget)
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

/* Called with the rate that the p* so far has led to. */
static void watch_floor(gbees_engine *e, double rate)
{
    spending *spent = &e->spent;

    if (!(rate > MARGIN * e->problem->mass_budget)) {
        spent->in_vain = 0;
        return;
    }
    spent->worst = spent->in_vain == 0 ? rate : fmax(spent->worst, rate);
    spent->in_vain++;
    if (e->steered <= LOWEST || (spent->in_vain > IN_VAIN && rate > spent->worst / 2))
        e->totals.warnings |= GBEES_WARNING_BUDGET_FLOOR;
}

void budget_steer(gbees_engine *e, double time)
{
    const gbees_problem *problem = e->problem;
    double elapsed = time - e->spent.time, since = lost(e) - e->spent.lost;

    /* What an update prunes is spent, but at no rate. */
    if (!(problem->mass_budget > 0) || !(elapsed > 1e-9 * (problem->end - problem->start))) {
        e->spent.lost = lost(e);
        return;
    }
    double rate = since / elapsed, wanted = wanted_rate(e, time);
    watch_floor(e, rate);
    double factor = rate > 0 ? fmin(fmax(sqrt(wanted / rate), 0.5), 2) : 2;
    if (is_short_of_memory(e)) {
        e->totals.warnings |= GBEES_WARNING_BUDGET_MEMORY;
        factor = 2;
    }
    e->steered = fmin(fmax(e->steered * factor, LOWEST), HIGHEST);
    e->spent.time = time;
    e->spent.lost = lost(e);
}
