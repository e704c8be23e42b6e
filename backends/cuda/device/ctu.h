/* ctu.h - the passes of the corner-transport-upwind schemes (paper, Algorithm 1, as a gather): a brick a warp.
 *
 * The passes compute the sums S of transverse fluxes of all cells; the fluxes and the new density.  Each pass adds up
 * a value for each cell of a brick in shared memory, axis by axis.  A lane works on two cells in a row along the
 * axis, which share a face.  (ctu_lines.h has the passes for six dimensions and more.)
 */
#ifndef GBEES_CUDA_CTU_H
#define GBEES_CUDA_CTU_H

#include "device/inspect.h"
#include "numerics/ctu.h"

/* The index into rows of the cell `distance` cells away from a cell along an axis; local: the latter's coordinate. It
 * is in the same brick, in a neighbour, or, where bricks are one cell wide, in the neighbour's neighbour. */
GBEES_NUM size_t cell_beside(const gbees_setup *m, uint32_t slot, int cell, int local, int axis, int distance)
{
    const int edge = axis_edge(axis);
    int from = cell + distance * (1 << axis_shift(axis));

    local += distance;
    if (local < 0) {
        slot = m->grid.neighbor[2 * axis][slot];
        from += edge << axis_shift(axis);
        if (local < -edge) {
            slot = m->grid.neighbor[2 * axis][slot];
            from += edge << axis_shift(axis);
        }
    } else if (local >= edge) {
        slot = m->grid.neighbor[2 * axis + 1][slot];
        from -= edge << axis_shift(axis);
        if (local >= 2 * edge) {
            slot = m->grid.neighbor[2 * axis + 1][slot];
            from -= edge << axis_shift(axis);
        }
    }
    return (size_t)slot * CELLS + (size_t)from;
}

/* The velocity through face `face` of the brick along an axis, across a cell. */
GBEES_NUM number cell_face_velocity(const gbees_setup *m, const position *base, int cell, int axis, int face,
                                    double time)
{
    position x[DIM];

    face_point(m, base, cell, axis, face, x);
    return velocity(m, x, axis, time);
}

/* The number of cells that a lane works on: two in a row along the axis, or one if bricks are one cell wide. */
GBEES_NUM int pair_cells(int axis)
{
    return axis_bits(axis) ? 2 : 1;
}

/* The cells of a brick that a lane works on. */
typedef struct ctu_pair {
    uint32_t slot;
    int axis, cells;      /* cells: 2 or 1, in a row along the axis */
    int cell, local;      /* the first one, and its coordinate along the axis */
    const position *base; /* the brick's */
    double time;
} ctu_pair;

/* Pair number `pair` of a brick.  In bricks two cells wide `local` is 0 for the compiler. */
GBEES_NUM ctu_pair pair_of(uint32_t slot, int axis, int pair, const position *base, double time)
{
    const int cells = pair_cells(axis), pairs = axis_edge(axis) / cells, local = pair % pairs * cells;
    ctu_pair made = {slot,  axis, cells, line_cell(axis, pair / pairs) + (local << axis_shift(axis)),
                     local, base, time};

    return made;
}

/* The rows that passes read; s is that of the first pass. */
typedef struct ctu_rows {
    const number *p, *s;
} ctu_rows;

/* Adds the transverse fluxes T along the axis to the sums of a pair. */
GBEES_NUM void add_transverse(const gbees_setup *m, const ctu_rows *rows, const ctu_pair *pair, number half_lambda,
                              number *sum)
{
    const int cells = pair->cells, axis = pair->axis;
    number q[4], u[3];

#pragma unroll
    for (int i = 0; i < cells + 2; i++)
        q[i] = rows->p[cell_beside(m, pair->slot, pair->cell, pair->local, axis, i - 1)];
#pragma unroll
    for (int i = 0; i <= cells; i++)
        u[i] = cell_face_velocity(m, pair->base, pair->cell, axis, pair->local + i, pair->time);
#pragma unroll
    for (int i = 0; i < cells; i++) {
        sum[pair->cell + (i << axis_shift(axis))] +=
            GBEES_REAL_FN(gbees_ctu_transverse)(q[i], q[i + 1], q[i + 2], u[i], u[i + 1], half_lambda);
    }
}

/* Sets flux[cells + 1] to the fluxes through the faces of a pair. */
GBEES_NUM void pair_fluxes(const gbees_setup *m, const ctu_rows *rows, const ctu_pair *pair, number lambda,
                           number *flux)
{
    const int cells = pair->cells, axis = pair->axis;
    number q[6], t[4], u[5];

#pragma unroll
    for (int i = 0; i < cells + 4; i++)
        q[i] = rows->p[cell_beside(m, pair->slot, pair->cell, pair->local, axis, i - 2)];
#pragma unroll
    for (int i = 0; i < cells + 2; i++)
        t[i] = rows->s[cell_beside(m, pair->slot, pair->cell, pair->local, axis, i - 1)];
#pragma unroll
    for (int i = 0; i < cells + 3; i++)
        u[i] = cell_face_velocity(m, pair->base, pair->cell, axis, pair->local + i - 1, pair->time);
#pragma unroll
    for (int i = 0; i <= cells; i++)
        flux[i] = GBEES_REAL_FN(gbees_ctu_flux)(q[i], q[i + 1], q[i + 2], q[i + 3], t[i], t[i + 1], u[i], u[i + 1],
                                                u[i + 2], lambda);
}

/* Adds the changes of a pair's cells by the fluxes to the sums. */
GBEES_NUM void add_fluxes(const gbees_setup *m, const ctu_rows *rows, const ctu_pair *pair, number lambda,
                          number *sum)
{
    const int cells = pair->cells, axis = pair->axis;
    number flux[3];

    pair_fluxes(m, rows, pair, lambda, flux);
#pragma unroll
    for (int i = 0; i < cells; i++)
        sum[pair->cell + (i << axis_shift(axis))] += lambda * (flux[i] - flux[i + 1]);
}

/* ---- passes ---- */

/* What a pass adds up for each cell: transverse fluxes, changes. */
enum { CTU_TRANSVERSE, CTU_FLUXES };

/* Sets sum[CELLS], in shared memory, to `what`, a constant, for all cells of a brick, added up over all axes. By a
 * warp; ends with warp_sync(). */
GBEES_NUM void sum_brick(const gbees_setup *m, int what, const ctu_rows *rows, uint32_t slot, const number *lambda,
                         double time, number *sum)
{
    position base[DIM];

    load_base(m, slot, base);
    for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
        sum[cell] = 0;
#pragma unroll
    for (int j = 0; j < DIM; j++) {
        warp_sync();
        for (int i = warp_lane(); i < CELLS / pair_cells(j); i += WARP_SIZE) {
            const ctu_pair pair = pair_of(slot, j, i, base, time);

            if (what == CTU_TRANSVERSE)
                add_transverse(m, rows, &pair, (number)0.5 * lambda[j], sum);
            else
                add_fluxes(m, rows, &pair, lambda[j], sum);
        }
    }
    warp_sync();
}

/* Computes S of all cells. */
GBEES_NUM void transverse_pass(const gbees_setup *m, const number *p, number *s, uint32_t count, const number *lambda,
                               double time)
{
    BLOCK_LOCAL number sums[BLOCK_WARPS][CELLS];
    const ctu_rows rows = {p, NULL};
    const warp_slots slots = slots_of_warp(m, count, 1);
    number *sum = sums[block_warp()];

    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        sum_brick(m, CTU_TRANSVERSE, &rows, slot, lambda, time, sum);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            s[(size_t)slot * CELLS + (size_t)cell] = sum[cell];
    }
}

/* Computes the new density, rows `next`.  Negative and denormal P become 0; returns the mass that this adds to the
 * lane's cells, in units of 2^-60. */
GBEES_NUM int64_t flux_pass(const gbees_setup *m, const ctu_rows *rows, number *next, uint32_t count,
                            const number *lambda, double time)
{
    BLOCK_LOCAL number sums[BLOCK_WARPS][CELLS];
    const warp_slots slots = slots_of_warp(m, count, 1);
    number *change = sums[block_warp()];
    int64_t clipped = 0;

    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        sum_brick(m, CTU_FLUXES, rows, slot, lambda, time, change);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            number moved = change[cell] + rows->p[at], kept = moved < least_number() ? 0 : moved;

            next[at] = kept;
            clipped += gbees_fixed((double)(kept - moved));
        }
    }
    return clipped;
}

#endif
