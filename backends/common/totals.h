/* totals.h - the clock and the totals of the contract (gbees/backend.h), from and to what both engines keep. */
#ifndef GBEES_COMMON_TOTALS_H
#define GBEES_COMMON_TOTALS_H

#include "budget.h"
#include "numerics/progress.h"
#include <gbees/backend.h>

/* The solver's clock as the engine advances it, with prunes every `prune_interval` steps. */
gbees_step_clock clock_take(const gbees_clock *clock, uint32_t prune_interval);

/* Writes it back. */
void clock_give(const gbees_step_clock *from, gbees_clock *clock);

/* The totals of the steps since the engine was created, with the budget's p* and warnings; all others are 0. */
gbees_totals totals_of(const gbees_progress *progress, const mass_budget *budget);

#endif
