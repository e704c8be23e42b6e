/* jump.h - takes the density of a grid at rest through a jump of the state (doc/instants.md). */
#ifndef GBEES_SOLVER_GRID_JUMP_H
#define GBEES_SOLVER_GRID_JUMP_H

#include "regrid.h"

/* Takes the cells through a jump to a grid along the same axes, whose origin is the image of the present one's and
 * whose cells are as wide as the image and its error ask for. Records of the present grid must no longer be in use.
 */
int gbees_grid_jump(gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant, gbees_error *error);

#endif
