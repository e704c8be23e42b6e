/* grid_state.h - saves the grid of a run to a checkpoint, and loads it from one. */
#ifndef GBEES_SOLVER_GRID_GRID_STATE_H
#define GBEES_SOLVER_GRID_GRID_STATE_H

#include "base/checkpoint.h"
#include "regrid.h"

/* The grid of a run, but for its engine, as plain data. */
typedef struct gbees_grid_state {
    int level[GBEES_MAX_DIM];
    gbees_totals before;
    gbees_grid_change change;
} gbees_grid_state;

/* *state has to be all zeros, gaps included: it is saved as bytes. */
void gbees_grid_get_state(const gbees_grid *grid, gbees_grid_state *state);
/* In place of gbees_grid_open(): makes an engine in the state of a checkpoint, on the grid of `state`. GBEES_EUSAGE:
 * the backend can't. */
int gbees_grid_load(gbees_grid *grid, const gbees_grid_state *state, const gbees_checkpoint *checkpoint,
                    gbees_error *error);

#endif
