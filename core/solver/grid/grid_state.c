/* grid_state.c - saves the change from the scenario's grid, and the levels of its axes; loads them,
 * makes the changed problem, and has the backend load its engine. */
#include "grid_state.h"
#include "next_grid.h"
#include <string.h>

void gbees_grid_get_state(const gbees_grid *grid, gbees_grid_state *state)
{
    memcpy(state->level, grid->level, sizeof state->level);
    state->before = grid->before;
    if (grid->regridded)
        gbees_grid_get_change(grid->regridded, &state->change);
}

/* Has the other ranks make their parts of the engine. */
static int send_grid(const gbees_grid *grid, gbees_error *error)
{
    if (grid->regridded)
        return gbees_next_grid_send(grid->options.parallel, grid->regridded, error);
    gbees_next_grid_send_first(grid->options.parallel);
    return GBEES_OK;
}

int gbees_grid_load(gbees_grid *grid, const gbees_grid_state *state, const gbees_checkpoint *checkpoint,
                    gbees_error *error)
{
    if (!grid->backend->load)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "the backend '%s' can't go on from a checkpoint: use --backend cpu",
                               grid->backend->name);
    memcpy(grid->level, state->level, sizeof grid->level);
    grid->before = state->before;
    gbees_initial_cells none = {0};
    int status = state->change.grid.is_set
                     ? gbees_grid_make_changed(grid->problem, &state->change, &none, &grid->regridded, error)
                     : GBEES_OK;
    if (!status && grid->options.parallel)
        status = send_grid(grid, error);
    return status ? status
                  : grid->backend->load(gbees_grid_problem(grid), &grid->options, gbees_checkpoint_find,
                                        (void *)(uintptr_t)checkpoint, &grid->engine, error);
}
