/* ranks_serve.c - ranks other than 0 wait for rank 0's orders and carry them out; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>

/* Does this rank's part of a command for a split grid. Its result is dropped here: all ranks have agreed on it,
 * and rank 0 returns it to the solver. */
static void take_part(gbees_engine *e, const ranks_command *command)
{
    gbees_statistics statistics;
    gbees_evidence evidence;
    gbees_marginals *marginals = NULL;
    gbees_error error = {0};

    if (ranks_link_inserted(e, &error))
        return;
    if (command->order == RANKS_STATISTICS)
        (void)engine_find_statistics(e, &statistics, &error);
    else if (command->order == RANKS_CELLS)
        (void)engine_find_cells(e, command->fraction, NULL, NULL, &error);
    else if (command->order == RANKS_MARGINALS)
        (void)engine_find_marginals(e, command->most, &marginals, &error);
    else if (command->order == RANKS_UPDATE)
        (void)engine_apply_update(e, &command->clock, &command->measurement, &evidence, &error);
    else
        (void)ranks_collect(e, &error);
    free(marginals);
}

/* Carries out an order. */
static void obey(gbees_engine *e, const ranks_command *command)
{
    gbees_error error = {0};

    e->state->run = command->run;
    e->budget = command->budget;
    e->budget.problem = e->problem;
    if (command->order == RANKS_RESTART)
        (void)ranks_take_grid(e, &error);
    else if (command->order == RANKS_SPLIT)
        (void)ranks_split(e, &error);
    else if (command->order == RANKS_STEPS)
        (void)ranks_steps(e, command->target, &error);
    else
        take_part(e, command);
}

void cuda_engine_serve(gbees_engine *e, const gbees_parallel *parallel)
{
    ranks_command command;

    for (;;) {
        ranks_tell(parallel, &command);
        if (command.order == RANKS_END)
            return;
        obey(e, &command);
    }
}
