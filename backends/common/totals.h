/* totals.h - the clock and the totals of the contract (gbees/backend.h), from and to what both engines keep. */
#ifndef GBEES_COMMON_TOTALS_H
#define GBEES_COMMON_TOTALS_H

#include "budget.h"
#include "numerics/run_state.h"
#include <gbees/backend.h>

/* The solver's clock as the engine advances it, with prunes every `prune_interval` steps. */
gbees_step_clock step_clock_load(const gbees_clock *clock, uint32_t prune_interval);

/* Writes it back. */
void step_clock_store(const gbees_step_clock *from, gbees_clock *clock);

/* The totals of the steps since the engine was created, with the budget's p* and warnings; all others are 0. */
gbees_totals totals_of(const gbees_run_state *run, const mass_budget *budget);

#endif
