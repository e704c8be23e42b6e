/* totals.c - copies clock, ledger and counters between the form that an engine keeps and the solver's. */
#include "totals.h"

gbees_step_clock step_clock_load(const gbees_clock *clock, uint32_t prune_interval)
{
    return (gbees_step_clock){.time = clock->time,
                              .elapsed = clock->elapsed,
                              .length = clock->length,
                              .leg_step = clock->leg_step,
                              .phase = (uint32_t)(clock->leg_step % prune_interval)};
}

void step_clock_store(const gbees_step_clock *from, gbees_clock *clock)
{
    clock->time = from->time;
    clock->elapsed = from->elapsed;
    clock->leg_step = from->leg_step;
}

double fixed_step_limit(const gbees_numerics *numerics)
{
    return numerics->time_step > 0;
}

gbees_totals totals_of(const gbees_run_state *run, const mass_budget *budget)
{
    const gbees_mass_ledger *ledger = &run->ledger;
    const gbees_work *work = &run->work;

    return (gbees_totals){.steps = run->steps - gbees_problem_steps_before(budget->problem),
                          .cell_updates = gbees_work_cell_updates(work),
                          .raw_cell_updates = work->raw_cell_updates,
                          .max_cells = work->max_needed,
                          .mass_clipped = ledger->clipped,
                          .mass_outflow = ledger->outflow,
                          .mass_pruned = ledger->pruned,
                          .mass_normalised = ledger->normalised,
                          .time_step = run->last_step,
                          .threshold = budget->threshold,
                          .warnings = budget->warnings};
}
