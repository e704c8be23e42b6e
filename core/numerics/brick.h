/* brick.h - the shape of a brick and the sets of its cells, as bit masks (doc/method.md, "Grid, cells and bricks").
 *
 * A brick is a small dense box of 64 cells (or of 1: the paper's cell-level grid).  Its edges are powers of two, so a
 * cell's number in the brick is its local coordinates, bit by bit, axis 0 lowest; a set of cells is one 64-bit word.
 * Cell index i_j = key_j * edge_j + local_j, for negative indices too.
 */
#ifndef GBEES_NUMERICS_BRICK_H
#define GBEES_NUMERICS_BRICK_H

#include "qualifier.h"

typedef struct gbees_shape {
    int n;                      /* dimension */
    int cells;                  /* cells of a brick, 64 or 1 */
    unsigned char edge[8];      /* cells along axis j; the product is `cells` */
    unsigned char log2_edge[8]; /* base-2 logarithms of edge[] */
    unsigned char shift[8];     /* the stride along axis j, from a cell to the next, is 1 << shift[j] */
    uint64_t all;               /* the set of all cells */
    /* By direction: the cells at that side of the brick; and by how many bits a set of cells turns when it moves by
     * one cell, those that stay in the brick and those that leave it. */
    uint64_t side[2 * 8];
    uint64_t
        reach[2 * 8]; /* by direction: the cells from which a step reaches the next brick: those of `side`, or all */
    unsigned char inside[2 * 8], across[2 * 8];
    /* Of each axis (neighbour.h): the keys of its bricks are low .. high - 1; by direction: what is at that end. */
    int32_t low[8], high[8];
    unsigned char end[2 * 8];
} gbees_shape;

/* The local coordinate of a cell along an axis. */
GBEES_NUM int gbees_shape_local(const gbees_shape *shape, int cell, int axis)
{
    return (cell >> shape->shift[axis]) & (shape->edge[axis] - 1);
}

/* Sets what a shape has for both directions along axis j, of which edge and shift are set. */
GBEES_NUM void gbees_shape_set_sides(gbees_shape *shape, int j)
{
    const int stride = 1 << shape->shift[j], span = (shape->edge[j] - 1) << shape->shift[j];

    for (int up = 0; up < 2; up++) {
        const int d = 2 * j + up, end = up ? shape->edge[j] - 1 : 0;

        shape->side[d] = 0;
        for (int cell = 0; cell < shape->cells; cell++)
            shape->side[d] |= (uint64_t)(gbees_shape_local(shape, cell, j) == end) << cell;
        shape->reach[d] = shape->side[d];
        shape->inside[d] = (unsigned char)((up ? stride : 64 - stride) % 64);
        shape->across[d] = (unsigned char)((up ? 64 - span : span) % 64);
    }
}

/* Sets the shape of a brick of 64 cells (or 1) in n dimensions. The factors 2 of 64 = 2^6 are given to the axes in
 * turn: 4x4x4 cells for n = 3, 2x2x2x2x2x2 for n = 6; axes beyond the sixth have edge 1. */
GBEES_NUM void gbees_shape_set(gbees_shape *shape, int n, int cells)
{
    int bits = cells == 64 ? 6 : 0, shift = 0;

    shape->n = n;
    shape->cells = cells;
    shape->all = cells == 64 ? ~(uint64_t)0 : 1;
    for (int j = 0; j < n; j++) {
        const int log2_edge = bits / n + (j < bits % n);

        shape->log2_edge[j] = (unsigned char)log2_edge;
        shape->edge[j] = (unsigned char)(1 << log2_edge);
        shape->shift[j] = (unsigned char)shift;
        shift += log2_edge;
        gbees_shape_set_sides(shape, j);
        shape->low[j] = -2147483647 - 1;
        shape->high[j] = 2147483647;
        shape->end[2 * j] = shape->end[2 * j + 1] = 0;
    }
}

/* For a step that reaches the whole of the next brick. */
GBEES_NUM void gbees_shape_reach_far(gbees_shape *shape)
{
    for (int d = 0; d < 2 * shape->n; d++)
        shape->reach[d] = shape->all;
}

/* The key, along an axis, of the brick that contains a cell index. The shift is a division that rounds down. */
GBEES_NUM int32_t gbees_shape_key(const gbees_shape *shape, int axis, int32_t index)
{
    return index >> shape->log2_edge[axis];
}

/* The opposite of a direction. Direction 2j leads down axis j, 2j + 1 up. */
GBEES_NUM int gbees_opposite(int direction)
{
    return direction ^ 1;
}

/* The cells on the side of the brick that faces a direction. */
GBEES_NUM uint64_t gbees_shape_side(const gbees_shape *shape, int direction)
{
    return shape->side[direction];
}

/* The number of the cell beside a cell in a direction; at the brick's side it is a cell of the neighbouring brick. */
GBEES_NUM int gbees_shape_beside(const gbees_shape *shape, int cell, int direction)
{
    int axis = direction >> 1, stride = 1 << shape->shift[axis], local = gbees_shape_local(shape, cell, axis);

    if (direction & 1)
        return local == shape->edge[axis] - 1 ? cell - local * stride : cell + stride;
    return local == 0 ? cell + (shape->edge[axis] - 1) * stride : cell - stride;
}

/* Turns a set by so many bits, 0 to 63. */
GBEES_NUM uint64_t gbees_turned(uint64_t set, int by)
{
    return set << by | set >> (64 - by) % 64;
}

/* Moves a set of cells by one cell in a direction; returns those that stay in the brick. */
GBEES_NUM uint64_t gbees_shape_inside(const gbees_shape *shape, uint64_t set, int direction)
{
    return gbees_turned(set & ~shape->side[direction], shape->inside[direction]);
}

/* Moves a set of cells by one cell in a direction; returns those that leave the brick, as cells of the neighbouring
 * one.
 */
GBEES_NUM uint64_t gbees_shape_across(const gbees_shape *shape, uint64_t set, int direction)
{
    return gbees_turned(set & shape->side[direction], shape->across[direction]);
}

#endif
