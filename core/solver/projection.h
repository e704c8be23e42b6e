/* projection.h - marginals along the model's states of a density on grids that move: sums over oblique cells. */
#ifndef GBEES_SOLVER_PROJECTION_H
#define GBEES_SOLVER_PROJECTION_H

#include <gbees/gbees.h>

/* Computes the marginals of a density in `count` parts, each with its cells, on lines of at least eight entries for
 * the root of the sum of a cell's squared edges along the state. GBEES_ENOMEM. */
int gbees_projection_create(const gbees_record_mode *parts, int count, gbees_projection **projection,
                            gbees_error *error);
void gbees_projection_destroy(gbees_projection *projection);

#endif
