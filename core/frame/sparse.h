/* sparse.h - a sparse grid's cells as records that are brought in order axis by axis: rows along any axis, without
 * comparisons.
 *
 * An order is a list of the axes, the slowest first; the cells of a row lie together where its axis is the last. A
 * sort by one axis that keeps equals in place makes this axis the slowest, and the others follow as they were. So
 * where the last axis k is preceded by k - 1, ..., 0, n - 1, ..., k + 1, slowest first, one sort makes k + 1 the
 * last: orders for passes by rising axes. Those for falling axes are the mirror image.
 */
#ifndef GBEES_FRAME_SPARSE_H
#define GBEES_FRAME_SPARSE_H

#include "base/pool.h"
#include <gbees/error.h>
#include <gbees/problem.h>

enum {
    GBEES_SPARSE_PARTS = 64,      /* of the cells, at most, that are taken by one thread each */
    GBEES_SPARSE_REACH = 1 << 28, /* the largest index */
};

typedef struct gbees_sparse_cell {
    int32_t at[GBEES_MAX_DIM];
    double p;
} gbees_sparse_cell;

typedef struct gbees_sparse {
    int n;
    int order[GBEES_MAX_DIM];                        /* of the cells */
    int32_t low[GBEES_MAX_DIM], high[GBEES_MAX_DIM]; /* all indices along an axis lie between them */
    gbees_pool *pool;
    size_t count, capacity, spare_capacity;
    gbees_sparse_cell *cell, *spare; /* spare: what the next order is written to */
} gbees_sparse;

/* Makes room for `count` cells in `spare`. Returns 1 if there is no memory. */
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

/* Makes an axis the last one, with the others so that the next one that follows it, a larger or a smaller one
 * (`rising`), takes one sort. GBEES_ENUMERIC: the indices along an axis differ by too much; GBEES_ENOMEM. */
int gbees_sparse_turn(gbees_sparse *cells, int axis, int rising, gbees_error *error);

/* Puts the cells in order by the axes order[0], order[1], ..., the first one slowest. */
int gbees_sparse_order(gbees_sparse *cells, const int *order, gbees_error *error);

#endif
