/* sparse_list.h - converts a list of cells to the spans of a sparse grid (sparse.h), and sorted spans to such a list.
 */
#ifndef GBEES_FRAME_SPARSE_LIST_H
#define GBEES_FRAME_SPARSE_LIST_H

#include "sparse.h"

/* Makes the cells those of a list in lexicographic order, as spans, which have their P in the list; coordinate k is
 * axis[k] of the list. Returns 1 if there is no memory. */
int gbees_sparse_from_list(const gbees_initial_cells *list, const int *axis, gbees_sparse *cells);

/* Replaces a list by those cells of the sorted spans with P of at least `least`; coordinate k is axis[k] of the list.
 * Adds the P of the others to *dropped. Returns 1, with the list as it was, if there is no memory. */
int gbees_sparse_to_list(const gbees_sparse *cells, const int *axis, double least, gbees_initial_cells *list,
                         double *dropped);

#endif
