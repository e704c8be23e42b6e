/* totals.h - the clock and the totals of the contract (gbees/backend.h), from and to what both engines keep; the
 * limit of a fixed time step. */
#ifndef GBEES_COMMON_TOTALS_H
#define GBEES_COMMON_TOTALS_H

#include "budget.h"
#include "numerics/run_state.h"
#include <gbees/backend.h>

/* The solver's clock as the engine advances it, with prunes every `prune_interval` steps. */
gbees_step_clock step_clock_load(const gbees_clock *clock, uint32_t prune_interval);

/* Writes it back. */
void step_clock_store(const gbees_step_clock *from, gbees_clock *clock);

/* The largest Courant number that a fixed time step may have (gbees_step_exceeds): what steps chosen by `courant` may
 * have, but never below 1. Returns 0, for any, without a fixed step and in the modes of the reference codes, which do
 * not check theirs. */
double fixed_step_limit(const gbees_numerics *numerics);

/* The totals of the steps since the engine was created, with the budget's p* and warnings; all others are 0. */
gbees_totals totals_of(const gbees_run_state *run, const mass_budget *budget);

#endif
