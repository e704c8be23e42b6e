/* ranks_restart.c - gives an engine another grid. Among ranks, rank 0 has the cells of its density; the others hear
 * of its axes and widths only, and get their bricks when the grid is divided. See ranks.h. */
#include "base/grid_fields.h"
#include "ranks.h"
#include <string.h>

/* All ranks: takes a problem; the grid is not split after it, and what has been counted begins at 0. */
static int take_problem(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    engine_ranks *ranks = e->ranks;
    split_grid *split = e->split;

    split->is_split = 0;
    split->has_grown = 0;
    split->ghosts = 0;
    ranks_restart(ranks); /* cuts are ones of the grid before */
    return ranks_agree(e->ranks, engine_take_problem(e, problem, error), error);
}

int ranks_take_grid(gbees_engine *e, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    gbees_problem *changed = &e->split->changed;
    gbees_grid_fields grid;

    p->broadcast(p->context, &grid, sizeof grid);
    if (e->problem != changed)
        *changed = *e->problem;
    gbees_grid_fields_set(changed, &grid);
    return take_problem(e, changed, error);
}

int cuda_engine_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    const int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "taking another grid", error);
    gbees_grid_fields grid;

    if (status)
        return status;
    if (!e->ranks || e->split->is_alone)
        return engine_take_problem(e, problem, error);
    memset(&grid, 0, sizeof grid); /* gaps included: it is sent as bytes */
    gbees_grid_fields_get(problem, &grid);
    ranks_give_order(e, RANKS_RESTART, 0);
    e->ranks->parallel->broadcast(e->ranks->parallel->context, &grid, sizeof grid);
    return take_problem(e, problem, error);
}
