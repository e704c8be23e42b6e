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

/* DO(with, cells, shift, log2_edge) for each axis of the bricks that gbees_shape_set() makes. */
#define EACH_AXIS(DO, with)                                                                                          \
    DO(with, 64, 0, 6)                                                                                               \
    DO(with, 64, 0, 3)                                                                                               \
    DO(with, 64, 3, 3)                                                                                               \
    DO(with, 64, 0, 2)                                                                                               \
    DO(with, 64, 2, 2)                                                                                               \
    DO(with, 64, 4, 2)                                                                                               \
    DO(with, 64, 0, 1)                                                                                               \
    DO(with, 64, 1, 1)                                                                                               \
    DO(with, 64, 2, 1)                                                                                               \
    DO(with, 64, 3, 1)                                                                                               \
    DO(with, 64, 4, 1)                                                                                               \
    DO(with, 64, 5, 1)                                                                                               \
    DO(with, 64, 6, 0)

/* One number for each of them: the case of a switch. */
#define AXIS_NUMBER(shift, log2_edge) (8 * (shift) + (log2_edge))

/* Calls CALL(a), where `a` is the brick_axis of an axis of a gbees_shape.  It is a macro because each case is a call
 * with constants, for which the compiler makes code of its own. */
#define AXIS_CASE(CALL, cells, shift, log2_edge)                                                                     \
    case AXIS_NUMBER(shift, log2_edge):                                                                              \
        CALL(((brick_axis){cells, shift, log2_edge}));                                                               \
        break;
#define FOR_AXIS(shape, axis, CALL)                                                                                  \
    switch (AXIS_NUMBER((shape)->shift[axis], (shape)->log2_edge[axis])) {                                           \
        EACH_AXIS(AXIS_CASE, CALL)                                                                                   \
    }

#endif
