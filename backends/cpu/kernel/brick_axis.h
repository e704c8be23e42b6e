/* brick_axis.h - how an axis lies in a brick, and the dispatch to code that is compiled for it. */
#ifndef GBEES_CPU_BRICK_AXIS_H
#define GBEES_CPU_BRICK_AXIS_H

#include "target.h"

/* Bits shift .. shift + log2_edge - 1 of a cell's number in its brick are its local coordinate along the axis.  A
 * brick has 64 cells or 1. */
typedef struct brick_axis {
    int cells, shift, log2_edge;
} brick_axis;

/* Cells of a brick along the axis. */
INLINE int edge_of(brick_axis a)
{
    return 1 << a.log2_edge;
}

INLINE int cells_of_plane(brick_axis a)
{
    return a.cells >> a.log2_edge;
}

/* Calls CALL(a) with `a` of an axis of a gbees_shape.  Each combination that gbees_shape_set() makes is a call of its
 * own with constants, which the compiler specialises: a function can't do that. */
#define AXIS_CASE(bit, edge, CALL)                                                                                   \
    case 8 * (bit) + (edge):                                                                                         \
        CALL(((brick_axis){64, bit, edge}));                                                                         \
        break;
#define FOR_AXIS(shape, axis, CALL)                                                                                  \
    switch ((shape)->cells == 1 ? 63 : 8 * (shape)->shift[axis] + (shape)->log2_edge[axis]) {                        \
    case 63:                                                                                                         \
        CALL(((brick_axis){1, 0, 0}));                                                                               \
        break;                                                                                                       \
        AXIS_CASE(0, 6, CALL)                                                                                        \
        AXIS_CASE(0, 3, CALL)                                                                                        \
        AXIS_CASE(3, 3, CALL)                                                                                        \
        AXIS_CASE(0, 2, CALL)                                                                                        \
        AXIS_CASE(2, 2, CALL)                                                                                        \
        AXIS_CASE(4, 2, CALL)                                                                                        \
        AXIS_CASE(0, 1, CALL)                                                                                        \
        AXIS_CASE(1, 1, CALL)                                                                                        \
        AXIS_CASE(2, 1, CALL)                                                                                        \
        AXIS_CASE(3, 1, CALL)                                                                                        \
        AXIS_CASE(4, 1, CALL)                                                                                        \
        AXIS_CASE(5, 1, CALL)                                                                                        \
    default:                                                                                                         \
        CALL(((brick_axis){64, 6, 0}));                                                                              \
        break;                                                                                                       \
    }

#endif
