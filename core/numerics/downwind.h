/* downwind.h - what active cells need beside them (paper, section 3.3): the neighbour across a face in each direction
 * in which probability leaves them, and the one across an edge in each two such directions along different axes.
 * Growth inserts the bricks in which such cells are absent, and prunes keep those that have one.
 *
 * A pair of directions is d and f: with f == d it leads across a face; else f is along a later axis than d, and the
 * pair leads across an edge.
 */
#ifndef GBEES_NUMERICS_DOWNWIND_H
#define GBEES_NUMERICS_DOWNWIND_H

#include "brick.h"

/* Whether two directions are a pair. */
GBEES_NUM int gbees_is_pair(int d, int f)
{
    return f == d || f >> 1 > d >> 1;
}

/* Sets *d and *f to pair number `pair`, 0 .. 2 n n - 1, in n dimensions. Number own * n + axis stands for direction
 * `own` and one along `axis`: the one with the same sign if `axis` is the later axis of the two, else the one with
 * the opposite sign, so that each pair has one number. */
GBEES_NUM void gbees_pair(int n, int pair, int *d, int *f)
{
    const int own = pair / n, axis = pair % n, later = own >> 1 < axis;
    const int other = own >> 1 == axis ? own : 2 * axis + (later ? own & 1 : 1 - (own & 1));

    *d = later ? own : other;
    *f = later ? other : own;
}

/* Those of some cells of a brick from which probability leaves in a direction. flow: the cells from which it leaves
 * that way; sides: only those count from which it leaves the brick in a step, too. */
GBEES_NUM uint64_t gbees_leaving(const gbees_shape *shape, uint64_t cells, uint64_t flow, int direction, int sides)
{
    return cells & flow & (sides ? shape->reach[direction] : ~(uint64_t)0);
}

/* The cells that need their neighbour in a pair of directions, out of those that probability leaves in either. */
GBEES_NUM uint64_t gbees_downwind_from(uint64_t leaving_d, uint64_t leaving_f)
{
    return leaving_d & leaving_f;
}

/* Cells downwind of others, by the brick that they are in: that of the others, its neighbours in directions d and f,
 * and the one in both. */
typedef struct gbees_downwind {
    uint64_t own, beside_d, beside_f, beyond;
} gbees_downwind;

/* The neighbours of cells in a pair of directions. With f == d there are none in `beside_f` and `beyond`. Where a
 * step reaches further, the cells at the side of the next brick are among them, so that it stays. */
GBEES_NUM gbees_downwind gbees_downwind_of(const gbees_shape *shape, uint64_t cells, int d, int f)
{
    const uint64_t far = cells && shape->reach[d] != shape->side[d] ? shape->side[d] : 0;
    gbees_downwind to = {gbees_shape_inside(shape, cells, d), gbees_shape_across(shape, cells | far, d), 0, 0};

    if (f != d) {
        to.beside_f = gbees_shape_across(shape, to.own, f);
        to.beyond = gbees_shape_across(shape, to.beside_d, f);
        to.own = gbees_shape_inside(shape, to.own, f);
        to.beside_d = gbees_shape_inside(shape, to.beside_d, f);
    }
    return to;
}

/* The directions in which probability leaves some cells of a brick, and the cells: leaving[count], direction[count].
 */
typedef struct gbees_outflow {
    uint64_t leaving[2 * 8 + 1];
    unsigned char direction[2 * 8 + 1];
    int count;
} gbees_outflow;

/* Sets *out for `cells`; flow[2n], sides: see gbees_leaving(); flow = NULL: from all cells in all directions. */
GBEES_NUM void gbees_outflow_set(const gbees_shape *shape, uint64_t cells, const uint64_t *flow, int sides,
                                 gbees_outflow *out)
{
    out->count = 0;
    for (int d = 0; d < 2 * shape->n; d++) {
        out->leaving[out->count] = gbees_leaving(shape, cells, flow ? flow[d] : shape->all, d, sides);
        out->direction[out->count] = (unsigned char)d;
        out->count += out->leaving[out->count] != 0;
    }
}

/* The cells that need their neighbour in directions number i and k of an outflow; none, if these are no pair. */
GBEES_NUM uint64_t gbees_outflow_pair(const gbees_outflow *out, int i, int k)
{
    return gbees_is_pair(out->direction[i], out->direction[k]) ? gbees_downwind_from(out->leaving[i], out->leaving[k])
                                                               : 0;
}

#endif
