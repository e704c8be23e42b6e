/* projection.h - marginals along the model's states of a density on grids that move: sums over oblique cells. */
#ifndef GBEES_SOLVER_PROJECTION_H
#define GBEES_SOLVER_PROJECTION_H

#include <gbees/gbees.h>

/* Computes the marginals of a density in `count` parts, each with its cells, on lines of entries that are an eighth
 * of the longest edge of any cell along the state. P of a cell is spread as the projection of its parallelepiped, so
 * that the marginal is smoothed by a cell's width and shows no pattern of the grid. GBEES_ENOMEM; GBEES_ENUMERIC: a
 * line would have more than 2^26 entries. */
int gbees_projection_create(const gbees_record_mode *parts, int count, gbees_projection **projection,
                            gbees_error *error);
void gbees_projection_destroy(gbees_projection *projection);

#endif
