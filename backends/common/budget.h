/* budget.h - p* from a mass budget: the user gives the mass that may be lost in a unit of time (doc/method.md, "The
 * mass budget").
 *
 * At each prune p* is multiplied by clamp(sqrt(wanted rate / measured rate), 1/2, 2).  The measured rate is the mass
 * that was lost through faces and by pruning since the prune before, per unit of time; the wanted rate is the budget,
 * corrected for the mass that was lost too much or too little so far.  Where p* is near the mean P of a cell it rises
 * more slowly.
 *
 * A budget that can't be kept leads to a warning: there is not memory enough for so low a p*, or a lower p* has not
 * lowered the loss.
 *
 * Without a budget p* is the problem's. If the problem lets it be raised (raise_threshold), it is doubled at each
 * prune at which the grid has no memory to double.
 */
#ifndef GBEES_COMMON_BUDGET_H
#define GBEES_COMMON_BUDGET_H

#include "numerics/ledger.h"
#include <gbees/backend.h>

enum { BUDGET_OCTAVES = 64 };

/* The mass of the initial density by the P of its cells: mass[k] is in cells with 2^-(k + 1) <= P < 2^-k; the last
 * entry has the mass in all cells with less. */
typedef struct budget_spectrum {
    double mass[BUDGET_OCTAVES];
} budget_spectrum;

/* The state of the control of p*. */
typedef struct mass_budget {
    const gbees_problem *problem;
    double threshold;  /* p*; without a budget the problem's own */
    double before;     /* mass that was lost before the engine began */
    double time, lost; /* at the last prune: the time, and the mass that was lost until then, `before` included */
    int moved;         /* 1: no prune yet since the grid moved */
    int in_vain;       /* consecutive prunes that have found the budget exceeded */
    double worst;      /* the largest rate of loss that these have measured */
    unsigned warnings; /* GBEES_WARNING_BUDGET_... */
} mass_budget;

/* Whether p* may change during a run. */
static inline int mass_budget_changes_threshold(const gbees_problem *problem)
{
    return problem->mass_budget > 0 || problem->raise_threshold;
}

/* Adds a cell with probability p. */
void budget_spectrum_add(budget_spectrum *spectrum, double p);

/* Sets the first p*. Without a budget: the problem's, or that of the record the run begins with if p* has been
 * raised. With one: that of the record, or less
 * if more has been lost than may be; else the largest power of two below which all cells together have less than a
 * hundredth of the mass that may be lost in a unit of time, and less than half of what the whole run may lose. */
void mass_budget_start(mass_budget *budget, const gbees_problem *problem, const budget_spectrum *spectrum);

/* A lower bound of the first p* of a problem with a mass budget whose initial density has at most `cells` cells. */
double mass_budget_least(const gbees_problem *problem, double cells);

/* Whether twice so many bricks of `brick_bytes` each would exceed `limit` bytes: a grid may double until the next
 * prune. */
int mass_budget_is_short(double brick_bytes, uint32_t bricks, double limit);

/* Sets p* at a prune at `time`. ledger: of the mass that was lost since the engine began, of which what goes through
 * faces is not steered for where a wall absorbs; cells: of all bricks; short_of_memory: 1 if the grid has no memory
 * to double, so that p* has to rise. */
void mass_budget_steer(mass_budget *budget, double time, const gbees_mass_ledger *ledger, double cells,
                       int short_of_memory);

#endif
