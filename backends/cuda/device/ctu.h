/* ctu.h - the two passes of the corner-transport-upwind scheme (paper, Algorithm 1, gathered), and the one that
 * ctu-positive has between them: two cells a lane. */
#ifndef GBEES_CUDA_CTU_H
#define GBEES_CUDA_CTU_H

#include "device/inspect.h"
#include "numerics/ctu.h"

#ifndef GBEES_DIVERGENCE
#define GBEES_DIVERGENCE 0
#endif

/* A cell some cells from another (`local`: its coordinate) along an axis, as a place in rows: the brick's own, its
 * neighbours', and, where bricks are one cell wide, theirs. */
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

GBEES_NUM number cell_face_velocity(const gbees_setup *m, const position *base, int cell, int axis, int face,
                                    double time)
{
    position x[DIM];

    face_point(m, base, cell, axis, face, x);
    return velocity(m, x, axis, time);
}

/* Cells that a lane works on at once: two in a row, unless bricks are one cell wide. */
GBEES_NUM int pair_cells(int axis)
{
    return axis_bits(axis) ? 2 : 1;
}

/* A pair's first cell, and its coordinate along the axis: in bricks two cells wide the compiler knows that it is 0.
 */
GBEES_NUM int pair_local(int axis, int pair)
{
    const int pairs = axis_edge(axis) / pair_cells(axis);

    return pair % pairs * pair_cells(axis);
}

GBEES_NUM int pair_cell(int axis, int pair)
{
    const int pairs = axis_edge(axis) / pair_cells(axis);

    return line_cell(axis, pair / pairs) + (pair_local(axis, pair) << axis_shift(axis));
}

/* T of two cells along an axis, added to their sums. */
GBEES_NUM void transverse_pair(const gbees_setup *m, const number *p, uint32_t slot, int pair, int axis,
                               const position *base, number half_lambda, double time, number *sum)
{
    const int cells = pair_cells(axis), cell = pair_cell(axis, pair), local = pair_local(axis, pair);
    number q[4], u[3];

#pragma unroll
    for (int i = 0; i < cells + 2; i++)
        q[i] = p[cell_beside(m, slot, cell, local, axis, i - 1)];
#pragma unroll
    for (int i = 0; i <= cells; i++)
        u[i] = cell_face_velocity(m, base, cell, axis, local + i, time);
#pragma unroll
    for (int i = 0; i < cells; i++) {
        number change = GBEES_REAL_FN(gbees_ctu_transverse)(q[i], q[i + 1], q[i + 2], u[i], u[i + 1], half_lambda);

        if (GBEES_DIVERGENCE)
            change += GBEES_REAL_FN(gbees_ctu_spread)(q[i + 1], u[i], u[i + 1], half_lambda);
        sum[cell + (i << axis_shift(axis))] += change;
    }
}

/* S of all cells. */
GBEES_NUM void transverse_pass(const gbees_setup *m, const number *p, number *s, uint32_t count, const number *lambda,
                               double time)
{
    BLOCK_LOCAL number sums[BLOCK_WARPS][CELLS];
    number *sum = sums[block_warp()];
    const warp_slots slots = slots_of_warp(m, count, 1);

    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        position base[DIM];

        load_base(m, slot, base);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            sum[cell] = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            warp_sync();
            for (int pair = warp_lane(); pair < CELLS / pair_cells(j); pair += WARP_SIZE)
                transverse_pair(m, p, slot, pair, j, base, (number)0.5 * lambda[j], time, sum);
        }
        warp_sync();
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            s[(size_t)slot * CELLS + (size_t)cell] = sum[cell];
    }
}

/* The fluxes through the faces of two cells along an axis. */
GBEES_NUM void pair_fluxes(const gbees_setup *m, const number *p, const number *s, uint32_t slot, int pair, int axis,
                           const position *base, number lambda, double time, number *flux)
{
    const int cells = pair_cells(axis), cell = pair_cell(axis, pair), local = pair_local(axis, pair);
    number q[6], t[4], u[5];

#pragma unroll
    for (int i = 0; i < cells + 4; i++)
        q[i] = p[cell_beside(m, slot, cell, local, axis, i - 2)];
#pragma unroll
    for (int i = 0; i < cells + 2; i++)
        t[i] = s[cell_beside(m, slot, cell, local, axis, i - 1)];
#pragma unroll
    for (int i = 0; i < cells + 3; i++)
        u[i] = cell_face_velocity(m, base, cell, axis, local + i - 1, time);
#pragma unroll
    for (int i = 0; i <= cells; i++)
        flux[i] = GBEES_REAL_FN(gbees_ctu_flux)(q[i], q[i + 1], q[i + 2], q[i + 3], t[i], t[i + 1], u[i], u[i + 1],
                                                u[i + 2], lambda);
}

/* What they change in the two cells, added up; with shares each is no more than the cell that it leaves can serve. */
GBEES_NUM void flux_pair(const gbees_setup *m, const number *p, const number *s, const number *share, uint32_t slot,
                         int pair, int axis, const position *base, number lambda, double time, number *change)
{
    const int cells = pair_cells(axis), cell = pair_cell(axis, pair);
    number flux[3];

    pair_fluxes(m, p, s, slot, pair, axis, base, lambda, time, flux);
    if (GBEES_LIMITED) {
        const int local = pair_local(axis, pair);
        number part[4];

#pragma unroll
        for (int i = 0; i < cells + 2; i++)
            part[i] = share[cell_beside(m, slot, cell, local, axis, i - 1)];
#pragma unroll
        for (int i = 0; i <= cells; i++)
            flux[i] *= flux[i] > 0 ? part[i] : part[i + 1];
    }
#pragma unroll
    for (int i = 0; i < cells; i++)
        change[cell + (i << axis_shift(axis))] += lambda * (flux[i] - flux[i + 1]);
}

/* What of two cells flows out along an axis, on both sides, added up. */
GBEES_NUM void outgoing_pair(const gbees_setup *m, const number *p, const number *s, uint32_t slot, int pair,
                             int axis, const position *base, number lambda, double time, number *outgoing)
{
    const int cells = pair_cells(axis), cell = pair_cell(axis, pair);
    number flux[3];

    pair_fluxes(m, p, s, slot, pair, axis, base, lambda, time, flux);
#pragma unroll
    for (int i = 0; i < cells; i++)
        outgoing[cell + (i << axis_shift(axis))] +=
            lambda * (GBEES_REAL_FN(gbees_most)(flux[i + 1], 0) - GBEES_REAL_FN(gbees_least)(flux[i], 0));
}

/* ctu-positive: the part of its fluxes that each cell can serve. */
GBEES_NUM void limiter_pass(const gbees_setup *m, const number *p, const number *s, number *share, uint32_t count,
                            const number *lambda, double time)
{
    BLOCK_LOCAL number sums[BLOCK_WARPS][CELLS];
    number *outgoing = sums[block_warp()];
    const warp_slots slots = slots_of_warp(m, count, 1);

    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        position base[DIM];

        load_base(m, slot, base);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            outgoing[cell] = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            warp_sync();
            for (int pair = warp_lane(); pair < CELLS / pair_cells(j); pair += WARP_SIZE)
                outgoing_pair(m, p, s, slot, pair, j, base, lambda[j], time, outgoing);
        }
        warp_sync();
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;

            share[at] = GBEES_REAL_FN(gbees_ctu_share)(p[at], outgoing[cell]);
        }
    }
}

/* The new density; returns what was clipped. `share`: of ctu-positive. */
GBEES_NUM int64_t flux_pass(const gbees_setup *m, const number *p, const number *s, const number *share, number *next,
                            uint32_t count, const number *lambda, double time)
{
    BLOCK_LOCAL number changes[BLOCK_WARPS][CELLS];
    number *change = changes[block_warp()];
    const warp_slots slots = slots_of_warp(m, count, 1);
    int64_t clipped = 0;

    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        position base[DIM];

        load_base(m, slot, base);
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE)
            change[cell] = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            warp_sync();
            for (int pair = warp_lane(); pair < CELLS / pair_cells(j); pair += WARP_SIZE)
                flux_pair(m, p, s, share, slot, pair, j, base, lambda[j], time, change);
        }
        warp_sync();
        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            const size_t at = (size_t)slot * CELLS + (size_t)cell;
            number moved = change[cell] + p[at], kept = moved < least_number() ? 0 : moved;

            next[at] = kept;
            clipped += gbees_fixed((double)(kept - moved));
        }
    }
    return clipped;
}

#endif
