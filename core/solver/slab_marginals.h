/* slab_marginals.h - the marginals of a record whose cells are in slabs (slabs.h). */
#ifndef GBEES_SOLVER_SLAB_MARGINALS_H
#define GBEES_SOLVER_SLAB_MARGINALS_H

#include <gbees/gbees.h>

/* Computes the marginals of all cells, slab by slab; planes of more than `most` entries are left out. The caller
 * frees *marginals. */
int gbees_slabs_marginals(const gbees_cells *cells, uint64_t most, gbees_marginals **marginals, gbees_error *error);

#endif
