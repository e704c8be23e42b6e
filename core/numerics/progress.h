/* progress.h - how far an engine has come: its clock, its step, and its totals, as one struct that is assigned as a
 * whole (doc/method.md, "One step"). */
#ifndef GBEES_NUMERICS_PROGRESS_H
#define GBEES_NUMERICS_PROGRESS_H

#include "ledger.h"
#include "step.h"
#include "work.h"

typedef struct gbees_progress {
    gbees_step_clock clock;
    gbees_time_step step; /* the one that is being taken */
    double last_step;     /* size of the last one that was done; 0: none */
    uint64_t steps;       /* done since the run's start */
    gbees_ledger ledger;
    gbees_work work;
} gbees_progress;

/* The chosen step has been done, over so many bricks: advances the clock, counts the step and its work. The ledger
 * has an entry of its own (gbees_ledger_step). */
GBEES_NUM void gbees_progress_step(gbees_progress *progress, uint32_t bricks, int cells_per_brick,
                                   uint32_t prune_interval)
{
    gbees_clock_advance(&progress->clock, &progress->step, prune_interval);
    gbees_work_step(&progress->work, bricks, cells_per_brick);
    progress->last_step = progress->step.size;
    progress->steps++;
}

#endif
