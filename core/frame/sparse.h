/* sparse.h - a sparse grid's cells as records that are brought in order axis by axis: rows along any axis, without
 * comparisons.
 */
#ifndef GBEES_FRAME_SPARSE_H
#define GBEES_FRAME_SPARSE_H

#include "base/pool.h"
#include <gbees/error.h>
#include <gbees/problem.h>

enum {
    GBEES_SPARSE_PARTS = 64, /* of the cells, at most, that are taken by one thread each */
};

typedef struct gbees_sparse_cell {
    int32_t at[GBEES_MAX_DIM];
    double p;
} gbees_sparse_cell;

typedef struct gbees_sparse {
    int n;
    int32_t low[GBEES_MAX_DIM], high[GBEES_MAX_DIM]; /* all indices along an axis lie between them */
    gbees_pool *pool;
    size_t count, capacity, spare_capacity;
    gbees_sparse_cell *cell, *spare; /* spare: what the next order is written to */
} gbees_sparse;

/* Reserves memory for `count` cells in `spare`. Returns 1 if there is no memory. */
int gbees_sparse_reserve(gbees_sparse *cells, size_t count);
/* Makes `spare` the cells, `count` of them. */
void gbees_sparse_swap(gbees_sparse *cells, size_t count);
void gbees_sparse_close(gbees_sparse *cells);

/* The number of parts: so that each has some thousand cells; it depends on their number alone, so that results are
 * the same for any number of threads. */
size_t gbees_sparse_parts(const gbees_sparse *cells);
/* The first cell of a part; that of the part after the last is `count`. */
size_t gbees_sparse_first(const gbees_sparse *cells, size_t part);
/* Calls work(context, part) for each part, on the pool's threads. */
void gbees_sparse_for_parts(const gbees_sparse *cells, void (*work)(void *context, size_t part), void *context);

/* Puts the cells in the order of their indices along an axis; those with the same one stay in their order.
 * GBEES_ENUMERIC: the indices differ by too much; GBEES_ENOMEM. */
int gbees_sparse_sort(gbees_sparse *cells, int axis, gbees_error *error);

#endif
