/* grid_state.c - see grid_state.h. */
#include "grid_state.h"
#include <string.h>

void gbees_grid_get_state(const gbees_grid *grid, gbees_grid_state *state)
{
    const gbees_problem *problem = grid->regridded;

    memcpy(state->level, grid->level, sizeof state->level);
    state->lost = grid->lost;
    state->before = grid->before;
    if (!problem)
        return;
    state->replaced = 1;
    memcpy(state->extent, problem->extent, sizeof state->extent);
    memcpy(state->parameters, problem->parameters, sizeof state->parameters);
    memcpy(state->centre, problem->centre, sizeof state->centre);
    memcpy(state->rotation, problem->rotation, sizeof state->rotation);
    memcpy(state->mean, problem->mean, sizeof state->mean);
    memcpy(state->width, problem->width, sizeof state->width);
    state->threshold = problem->threshold;
    state->cells.mass = problem->cells->mass;
    state->cells.time = problem->cells->time;
    state->cells.steps = problem->cells->steps;
    state->cells.lost = problem->cells->lost;
    state->cells.threshold = problem->cells->threshold;
}

/* Makes the problem of a grid that is not the run's. */
static int make_problem(const gbees_problem *from, const gbees_grid_state *state, gbees_problem **problem,
                        gbees_error *error)
{
    gbees_initial_cells cells = state->cells;
    int status = gbees_grid_make_problem(from, &cells, problem, error);

    if (status)
        return status;
    gbees_problem *made = *problem;
    memcpy(made->extent, state->extent, sizeof state->extent);
    memcpy(made->parameters, state->parameters, sizeof state->parameters);
    memcpy(made->centre, state->centre, sizeof state->centre);
    memcpy(made->rotation, state->rotation, sizeof state->rotation);
    memcpy(made->mean, state->mean, sizeof state->mean);
    memcpy(made->width, state->width, sizeof state->width);
    made->threshold = state->threshold;
    return GBEES_OK;
}

int gbees_grid_load(gbees_grid *grid, const gbees_grid_state *state, gbees_state_source *source, void *context,
                    gbees_error *error)
{
    if (!grid->backend->load)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the backend '%s' can't go on from a checkpoint: use --backend cpu",
                               grid->backend->name);
    memcpy(grid->level, state->level, sizeof grid->level);
    grid->lost = state->lost;
    grid->before = state->before;
    int status = state->replaced ? make_problem(grid->problem, state, &grid->regridded, error) : GBEES_OK;
    return status
               ? status
               : grid->backend->load(gbees_grid_problem(grid), &grid->options, source, context, &grid->engine, error);
}
