/* sparse.h - a sparse grid's cells as spans, neighbours along one axis that share all other indices. Indices stand
 * with the spans alone, so that a cell takes little more memory than its P, and a sort moves spans, not cells: by
 * counting, axis by axis.
 */
#ifndef GBEES_FRAME_SPARSE_H
#define GBEES_FRAME_SPARSE_H

#include "base/pool.h"
#include <gbees/error.h>
#include <gbees/problem.h>

enum {
    GBEES_SPARSE_PARTS = 64, /* of the cells, at most, that are taken by one thread each */
};

typedef struct gbees_sparse_span {
    int32_t at[GBEES_MAX_DIM]; /* indices of the first cell; 0 beyond the grid's axes */
    uint32_t length;           /* cells, > 0 */
    const double *p;           /* [length], once the spans are sorted */
} gbees_sparse_span;

/* The spans that one thread makes, and the P of their cells, one span after the other. Aligned, so that no two
 * threads write to one cache line. */
typedef struct gbees_sparse_part {
    _Alignas(128) gbees_sparse_span *span;
    size_t span_count, span_capacity;
    const double *p;                       /* `own`, or an array of the caller's */
    double *own, *last;                    /* last: those of the spans before, which may still be read */
    size_t count, capacity, last_capacity; /* cells */
} gbees_sparse_part;

typedef struct gbees_sparse {
    int n, axis;                                     /* axes; the one that spans lie along */
    int32_t low[GBEES_MAX_DIM], high[GBEES_MAX_DIM]; /* all indices along an axis lie between them */
    gbees_pool *pool;
    size_t parts, count; /* parts with spans, one after the other; cells in all */
    gbees_sparse_part part[GBEES_SPARSE_PARTS];
    size_t span_count, span_capacity, spare_capacity;
    gbees_sparse_span *span, *spare; /* all spans, sorted; what the next order is written to */
} gbees_sparse;

void gbees_sparse_close(gbees_sparse *cells);

/* The number of parts: so that each has some thousand cells; it depends on their number alone, so that results are
 * the same for any number of threads. */
size_t gbees_sparse_parts(const gbees_sparse *cells);
/* The first sorted span of a part; that of the part after the last is `span_count`. */
size_t gbees_sparse_first(const gbees_sparse *cells, size_t part);

/* Empties a part; the P of its spans stay until it is emptied again. */
void gbees_sparse_empty(gbees_sparse_part *part);
/* Reserves memory in a part for so many spans and cells more. Returns 1 if there is no memory. */
int gbees_sparse_reserve(gbees_sparse_part *part, size_t span_count, size_t count);

/* Joins the parts' spans in the order of their indices along an axis, then along the next, and so on for `count`
 * axes, none of which they lie along; spans with the same index stay in their order. GBEES_ENUMERIC: the indices
 * differ by too much; GBEES_ENOMEM. */
int gbees_sparse_sort(gbees_sparse *cells, const int *axes, int count, gbees_error *error);

/* Returns an error, GBEES_ENUMERIC, if the indices along an axis differ by too much. */
int gbees_sparse_check_range(const gbees_sparse *cells, int axis, gbees_error *error);

#endif
