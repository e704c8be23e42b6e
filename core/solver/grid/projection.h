/* projection.h - marginals along the model's states of a density on a grid that moves: sums over oblique cells. */
#ifndef GBEES_SOLVER_GRID_PROJECTION_H
#define GBEES_SOLVER_GRID_PROJECTION_H

#include <gbees/gbees.h>

/* Computes the marginals of a record's cells, on lines of at least eight entries for the root of the sum of a cell's
 * squared edges along the state. GBEES_ENOMEM. */
int gbees_projection_create(const gbees_problem *problem, const gbees_cells *cells, gbees_projection **projection,
                            gbees_error *error);
void gbees_projection_destroy(gbees_projection *projection);

#endif
