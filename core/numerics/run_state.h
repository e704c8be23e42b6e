/* run_state.h - an engine's clock, time step and totals in one struct, which host and device copy as a whole
 * (doc/method.md, "One step"). */
#ifndef GBEES_NUMERICS_RUN_STATE_H
#define GBEES_NUMERICS_RUN_STATE_H

#include "ledger.h"
#include "step.h"
#include "work.h"

typedef struct gbees_run_state {
    gbees_step_clock clock;
    gbees_time_step step; /* the step that is being taken */
    double last_step;     /* size of the last completed step; 0: none */
    uint64_t steps;       /* completed steps since the run's start */
    gbees_mass_ledger ledger;
    gbees_work work;
} gbees_run_state;

/* To be called after a step over so many bricks: advances the clock and counts the step and its work. The ledger is
 * updated by gbees_ledger_step(). */
GBEES_NUM void gbees_run_state_step(gbees_run_state *run, uint32_t bricks, int cells_per_brick,
                                    uint32_t prune_interval)
{
    gbees_clock_advance(&run->clock, &run->step, prune_interval);
    gbees_work_step(&run->work, bricks, cells_per_brick);
    run->last_step = run->step.size;
    run->steps++;
}

#endif
