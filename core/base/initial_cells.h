/* initial_cells.h - lists of cells: the density of one grid, as another begins with it. */
#ifndef GBEES_BASE_INITIAL_CELLS_H
#define GBEES_BASE_INITIAL_CELLS_H

#include <gbees/problem.h>

/* The sum of P of a list. */
double gbees_initial_cells_sum(const gbees_initial_cells *cells);
/* Allocates the arrays of an empty list for `count` cells, of which it has none yet. Returns 1 if there is no memory.
 */
int gbees_initial_cells_reserve(gbees_initial_cells *cells, int n, size_t count);

#endif
