/* listed_bricks.h - the bricks of a list of cells. */
#ifndef GBEES_COMMON_LISTED_BRICKS_H
#define GBEES_COMMON_LISTED_BRICKS_H

#include "numerics/brick.h"
#include <gbees/problem.h>

/* Sets *list, which the caller frees, to the keys of the *count bricks that have cells of a sorted list, in
 * lexicographic order; unused components are 0. The same for any number of threads. Returns 1 if there is no memory.
 */
int listed_bricks_find(const gbees_initial_cells *cells, const gbees_shape *shape, int threads,
                       int32_t (**list)[GBEES_MAX_DIM], uint64_t *count);

/* For qsort() and bsearch(): compares two keys in lexicographic order. */
int brick_keys_compare(const void *a, const void *b);

#endif
