/* sparse.h - a sparse grid's cells as records that are brought in order axis by axis: rows along any axis, without
 * comparisons.
 *
 * In the order with axis k last, the axes before it are k - 1, ..., 0, n - 1, ..., k + 1, the first one slowest.
 * Sorting by axis k alone, without exchanging equals, makes this the order with k + 1 last: so each axis in turn
 * becomes last by one pass over the cells.
 */
#ifndef GBEES_FRAME_SPARSE_H
#define GBEES_FRAME_SPARSE_H

#include <gbees/error.h>
#include <gbees/problem.h>

/* Parts of the cells that are taken by one thread each: always as many, so that results are the same for any number
 * of threads. */
enum { GBEES_SPARSE_PARTS = 64, GBEES_SPARSE_REACH = 1 << 28 /* the largest index */ };

typedef struct gbees_sparse_cell {
    int32_t at[GBEES_MAX_DIM];
    double p;
} gbees_sparse_cell;

typedef struct gbees_sparse {
    int n, threads, last; /* last: the axis of rows, -1 if the order is another one */
    size_t count, capacity, spare_capacity;
    gbees_sparse_cell *cell, *spare; /* spare: what the next order is written to */
} gbees_sparse;

/* Makes room for `count` cells in `spare`. Returns 1 if there is no memory. */
int gbees_sparse_reserve(gbees_sparse *cells, size_t count);
/* Makes `spare` the cells, `count` of them. */
void gbees_sparse_swap(gbees_sparse *cells, size_t count);
void gbees_sparse_close(gbees_sparse *cells);

/* The first cell of a part; that of part GBEES_SPARSE_PARTS is `count`. */
size_t gbees_sparse_first(const gbees_sparse *cells, size_t part);

/* Calls work(context, part) for each part, on all threads, or on one if the cells are few. */
void gbees_sparse_share(const gbees_sparse *cells, void (*work)(void *context, size_t part), void *context);

/* Makes an axis the last one. GBEES_ENUMERIC: the indices along an axis differ by too much; GBEES_ENOMEM. */
int gbees_sparse_turn(gbees_sparse *cells, int axis, gbees_error *error);

/* Puts the cells in order by the axes order[0], order[1], ..., the first one slowest. */
int gbees_sparse_order(gbees_sparse *cells, const int *order, gbees_error *error);

#endif
