/* ranks_serve.c - ranks other than 0 wait for rank 0's orders and carry them out; see ranks.h. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* Does this rank's part of a command for a split grid. Its result is dropped here: all ranks have agreed on it,
 * and rank 0 returns it to the solver. */
static void take_part(gbees_engine *e, const ranks_command *command)
{
    gbees_statistics statistics;
    gbees_evidence evidence;
    gbees_marginals *marginals = NULL;
    gbees_error error = {0};

    if (ranks_settle(e, &error))
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

/* Takes the grid that rank 0 tells of. The problem of this rank is the one before with that grid; its cells are rank
 * 0's. */
static void take_grid(gbees_engine *e, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    gbees_problem *changed = &e->ranks->changed;
    ranks_grid grid;

    p->broadcast(p->context, &grid, sizeof grid);
    if (e->problem != changed)
        *changed = *e->problem;
    memcpy(changed->extent, grid.extent, sizeof grid.extent);
    memcpy(changed->mean, grid.mean, sizeof grid.mean);
    memcpy(changed->width, grid.width, sizeof grid.width);
    memcpy(changed->centre, grid.centre, sizeof grid.centre);
    memcpy(changed->rotation, grid.rotation, sizeof grid.rotation);
    memcpy(changed->parameters, grid.parameters, sizeof grid.parameters);
    changed->threshold = grid.threshold;
    (void)ranks_take_problem(e, changed, error);
}

/* Carries out an order. */
static void obey(gbees_engine *e, const ranks_command *command)
{
    gbees_error error = {0};

    e->state->run = command->run;
    e->budget = command->budget;
    e->budget.problem = e->problem;
    if (command->order == RANKS_RESTART)
        take_grid(e, &error);
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
