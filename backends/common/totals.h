/* totals.h - converts between the clock and the totals that a backend exchanges with the solver (gbees/backend.h) and
 * the ones that an engine keeps (numerics/run_state.h); the limit of a fixed time step. */
#ifndef GBEES_COMMON_TOTALS_H
#define GBEES_COMMON_TOTALS_H

#include "budget.h"
#include "numerics/run_state.h"
#include <gbees/backend.h>

/* Returns the solver's clock as an engine advances it, with a prune every `prune_interval` steps of a leg. */
gbees_step_clock step_clock_load(const gbees_clock *clock, uint32_t prune_interval);

/* Sets the solver's clock to the engine's. */
void step_clock_store(const gbees_step_clock *from, gbees_clock *clock);

/* Returns the largest Courant number that a fixed time step may have (gbees_step_exceeds()): 1, or 0, for no limit,
 * without a fixed step. */
double fixed_step_limit(const gbees_numerics *numerics);

/* Returns the totals since the engine was created, with the budget's p* and warnings. Fields that depend on the
 * backend, as its memory, are 0. */
gbees_totals totals_of(const gbees_run_state *run, const mass_budget *budget);

#endif
