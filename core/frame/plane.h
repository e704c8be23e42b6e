/* plane.h - a plane of a sparse grid: the cells of spans that lie side by side, as rows along the other axis. */
#ifndef GBEES_FRAME_PLANE_H
#define GBEES_FRAME_PLANE_H

#include "sparse.h"

typedef struct gbees_plane_cell {
    double p;
    int32_t at; /* its index along the row */
} gbees_plane_cell;

/* Row k has the cells from end[k - 1] (0 for the first row) to end[k], in the order of their indices, and may be
 * empty. All zero: a plane without memory. */
typedef struct gbees_plane {
    int32_t first; /* the index of row 0 along the spans */
    size_t rows, row_capacity, capacity;
    size_t *end;
    gbees_plane_cell *cell;
} gbees_plane;

/* Which cells of spans make rows. */
typedef struct gbees_plane_axes {
    int along, across; /* the axes of the spans, and of the rows */
    int32_t low, high; /* indices along the spans from one to the other */
} gbees_plane_axes;

/* Makes the plane that of `count` spans, which differ in their index across alone, and are sorted by it. Returns 1 if
 * there is no memory. */
int gbees_plane_turn(gbees_plane *plane, const gbees_plane_axes *axes, const gbees_sparse_span *span, size_t count);

/* Makes the plane one row, of spans along an axis that follow each other. Returns 1 if there is no memory. */
int gbees_plane_join(gbees_plane *plane, int axis, const gbees_sparse_span *span, size_t count);

void gbees_plane_close(gbees_plane *plane);

#endif
