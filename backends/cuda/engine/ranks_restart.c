/* ranks_restart.c - gives an engine another grid. Among ranks, rank 0 has the cells of its density; the others hear
 * of its axes and widths only, and get their bricks when the grid is divided. See ranks.h. */
#include "ranks.h"
#include <string.h>

/* In what the problem of the next grid differs from the one before, but for its cells. */
typedef struct next_grid {
    int extent[GBEES_MAX_DIM];
    double mean[GBEES_MAX_DIM], width[GBEES_MAX_DIM], centre[GBEES_MAX_DIM];
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM], parameters[GBEES_PARAMETER_VALUES], threshold;
} next_grid;

static void get_grid(const gbees_problem *problem, next_grid *grid)
{
    memset(grid, 0, sizeof *grid); /* gaps included: it is sent as bytes */
    memcpy(grid->extent, problem->extent, sizeof grid->extent);
    memcpy(grid->mean, problem->mean, sizeof grid->mean);
    memcpy(grid->width, problem->width, sizeof grid->width);
    memcpy(grid->centre, problem->centre, sizeof grid->centre);
    memcpy(grid->rotation, problem->rotation, sizeof grid->rotation);
    memcpy(grid->parameters, problem->parameters, sizeof grid->parameters);
    grid->threshold = problem->threshold;
}

static void set_grid(gbees_problem *problem, const next_grid *grid)
{
    memcpy(problem->extent, grid->extent, sizeof grid->extent);
    memcpy(problem->mean, grid->mean, sizeof grid->mean);
    memcpy(problem->width, grid->width, sizeof grid->width);
    memcpy(problem->centre, grid->centre, sizeof grid->centre);
    memcpy(problem->rotation, grid->rotation, sizeof grid->rotation);
    memcpy(problem->parameters, grid->parameters, sizeof grid->parameters);
    problem->threshold = grid->threshold;
}

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
    next_grid grid;

    p->broadcast(p->context, &grid, sizeof grid);
    if (e->problem != changed)
        *changed = *e->problem;
    set_grid(changed, &grid);
    return take_problem(e, changed, error);
}

int cuda_engine_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error)
{
    const int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "taking another grid", error);
    next_grid grid;

    if (status)
        return status;
    if (!e->ranks || e->ranks->is_alone)
        return engine_take_problem(e, problem, error);
    get_grid(problem, &grid);
    ranks_give_order(e, RANKS_RESTART, 0);
    e->ranks->parallel->broadcast(e->ranks->parallel->context, &grid, sizeof grid);
    return take_problem(e, problem, error);
}
