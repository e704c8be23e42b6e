/* ranks_serve.c - ranks other than 0 wait for rank 0's orders and carry them out; see ranks.h. */
#include "ranks.h"

/* Carries out an order. Its result is dropped here: all ranks have agreed on it, and rank 0 returns it to the solver.
 */
static void obey(gbees_engine *e, ranks_command *command)
{
    gbees_statistics statistics;
    gbees_error error = {0};

    e->state->run = command->run;
    e->budget = command->budget;
    e->budget.problem = e->problem;
    if (command->order == RANKS_SPLIT)
        (void)ranks_split(e, &error);
    else if (command->order == RANKS_STEPS)
        (void)ranks_steps(e, command->target, &error);
    else if (!ranks_settle(e, &error)) {
        if (command->order == RANKS_STATISTICS)
            (void)engine_find_statistics(e, &statistics, &error);
        else
            (void)ranks_collect(e, &error);
    }
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
