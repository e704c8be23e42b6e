/* cells_marginals.h - all marginals of a record at once. */
#ifndef GBEES_RECORD_CELLS_MARGINALS_H
#define GBEES_RECORD_CELLS_MARGINALS_H

#include <gbees/gbees.h>

/* Computes the marginals of all cells, slab by slab if they are in slabs (slabs.h); planes of more than `most`
 * entries are left out. The caller frees *marginals. */
int gbees_cells_marginals(const gbees_cells *cells, uint64_t most, gbees_marginals **marginals, gbees_error *error);
/* Whether these take no more memory than the cells. */
int gbees_cells_marginals_are_small(const gbees_cells *cells, uint64_t most);

#endif
