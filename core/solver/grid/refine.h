/* refine.h - a list of cells on a grid that is finer or coarser by a power of two along each axis (doc/method.md,
 * "Regridding").
 *
 * A cell that is halved gives its two halves what a polynomial of fourth degree has in them, whose averages over the
 * cell and its two neighbours on each side are those of the list (Harten's conservative interpolation, fifth order);
 * absent cells hold 0. Neither half gets less than 0, and both add up to the cell. Two cells that are merged are
 * added. Values at centres become averages before, along the axis at hand, and values at the new centres after it:
 * else their variance would be wrong by a part of a cell's.
 */
#ifndef GBEES_SOLVER_GRID_REFINE_H
#define GBEES_SOLVER_GRID_REFINE_H

#include <gbees/gbees.h>

/* Changes a list of cells in `n` dimensions, in lexicographic order, to a grid whose cells are 2^change[j] times
 * narrower along axis j (wider if it is negative); |change[j]| <= GBEES_REFINE_MOST. Cell i becomes the cells
 * i 2^change ... (i + 1) 2^change - 1. The list stays in lexicographic order and has no cell with P = 0. It is the
 * same for every number of threads (0: as many as there are processors). */
int gbees_refine(gbees_initial_cells *cells, int n, const int *change, gbees_cell_values values, int threads,
                 gbees_error *error);

enum { GBEES_REFINE_MOST = 20 }; /* from a grid 1024 times coarser than the first to one 1024 times finer */

#endif
