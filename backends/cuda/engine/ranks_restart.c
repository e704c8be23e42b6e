/* ranks_restart.c - gives an engine another grid. Among ranks, rank 0 has the cells of its density; the others hear
 * of its axes and widths only, and get their bricks when the grid is divided. See ranks.h. */
#include "base/grid_fields.h"
#include "ranks.h"
#include <string.h>

/* All ranks: takes a problem; the grid is not split after it, and what has been counted begins at 0. */
static int take_problem(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    struct engine_ranks *ranks = e->ranks;

    ranks->is_split = 0;
    ranks->has_grown = 0;
    ranks->ghosts = 0;
    if (ranks->cuts.part) /* they are ones of the grid before */
        partition_destroy(&ranks->cuts);
    ranks->log = (exchange_log){0};
    ranks->bytes = ranks->waited = ranks->imbalance = ranks->steps = ranks->own_bricks = 0;
    return ranks_agree(e, engine_take_problem(e, problem, error), error);
}

int ranks_take_grid(gbees_engine *e, gbees_error *error)
{
    const gbees_parallel *p = e->ranks->parallel;
    gbees_problem *changed = &e->ranks->changed;
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
    if (!e->ranks || e->ranks->is_alone)
        return engine_take_problem(e, problem, error);
    memset(&grid, 0, sizeof grid); /* gaps included: it is sent as bytes */
    gbees_grid_fields_get(problem, &grid);
    ranks_give_order(e, RANKS_RESTART, 0);
    e->ranks->parallel->broadcast(e->ranks->parallel->context, &grid, sizeof grid);
    return take_problem(e, problem, error);
}
