/* budget.h - p* from a mass budget: the user gives the mass that may be lost in a unit of time (doc/method.md, "The
 * mass budget").
 *
 * At each prune p* is multiplied with clamp(sqrt(wanted rate / measured rate), 1/2, 2), rates of loss through faces
 * and by pruning since the prune before; where p* is near the mean P of a cell it rises more slowly.  The wanted rate is
 * the budget, corrected for what was spent too much or too little so far.
 *
 * Warnings for a budget that is not kept: memory does not allow it; p* has been lowered in vain.
 */
#ifndef GBEES_COMMON_BUDGET_H
#define GBEES_COMMON_BUDGET_H

#include <gbees/backend.h>

enum { BUDGET_OCTAVES = 64 };

/* The mass of the initial density by the size of its cells: [k] in cells with 2^-(k + 1) <= P < 2^-k, the last one
 * all smaller ones. */
typedef struct budget_spectrum {
    double mass[BUDGET_OCTAVES];
} budget_spectrum;

/* The state of the controller. */
typedef struct mass_budget {
    const gbees_problem *problem;
    double threshold;  /* p*: the problem's own if it has no budget */
    double before;     /* mass lost before the engine began */
    double time, lost; /* at the last prune */
    int in_vain;       /* consecutive prunes that have found the budget exceeded */
    double worst;      /* the largest rate of loss that they have measured */
    unsigned warnings; /* GBEES_WARNING_BUDGET_... */
} mass_budget;

/* Adds a cell. */
void budget_spectrum_add(budget_spectrum *spectrum, double p);

/* Sets the first p*: that of the problem's cells, or the largest power of two below which cells hold less than a
 * hundredth of a unit time's budget, and less than half of the whole run's. */
void mass_budget_start(mass_budget *budget, const gbees_problem *problem, const budget_spectrum *spectrum);

/* Whether a grid of so many bricks has no memory to double until the next prune. limit: bytes that it may take. */
int mass_budget_is_short(double brick_bytes, uint32_t bricks, double limit);

/* Sets p* at a prune. lost_here: all mass lost since the engine began; cells: of all bricks; short_of_memory: p* has to
 * rise. */
void mass_budget_steer(mass_budget *budget, double time, double lost_here, double cells, int short_of_memory);

#endif
