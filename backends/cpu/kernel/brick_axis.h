/* brick_axis.h - how an axis's coordinate is a part of a cell's number, and the call of code that is compiled for
 * each axis. */
#ifndef GBEES_CPU_BRICK_AXIS_H
#define GBEES_CPU_BRICK_AXIS_H

#include "target.h"

/* An axis of a brick of `cells` cells, 64 or 1: bits shift .. shift + log2_edge - 1 of a cell's number are its
 * coordinate along the axis. */
typedef struct brick_axis {
    int cells, shift, log2_edge;
} brick_axis;

/* Cells of a brick along the axis. */
INLINE int edge_of(brick_axis a)
{
    return 1 << a.log2_edge;
}

/* Cells of a plane across the axis. */
INLINE int cells_of_plane(brick_axis a)
{
    return a.cells >> a.log2_edge;
}

/* Calls CALL(a), where `a` is the brick_axis of an axis of a gbees_shape.  It is a macro because each combination
 * that gbees_shape_set() makes is a call with constants, for which the compiler makes code of its own. */
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

/* The same by one call, whose code is for all combinations: slower, but compiled once. */
#define FOR_AXIS_AT_RUN_TIME(shape, axis, CALL)                                                                      \
    CALL(((brick_axis){(shape)->cells, (shape)->shift[axis], (shape)->log2_edge[axis]}));

#endif
