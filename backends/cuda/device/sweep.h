/* sweep.h - sweeps of the split scheme: from one array of rows to another, a line of a brick's cells a lane.
 *
 * A line is the cells of a brick along an axis.  A lane loads it with three cells of the neighbours on each side
 * (split7: four), computes the masses that cross its faces, and stores it.  Faces between bricks are computed twice;
 * in return all lines of the grid are independent, and few bricks keep many processors busy.
 */
#ifndef GBEES_CUDA_SWEEP_H
#define GBEES_CUDA_SWEEP_H

#include "device/inspect.h"
#include "numerics/split.h"

#include "numerics/split7.h"

#ifndef GBEES_PRESERVING
#define GBEES_PRESERVING 0
#endif
#ifndef GBEES_ORDER
#define GBEES_ORDER 5
#endif

enum { PIECE_MOST = 4, BEYOND = (GBEES_ORDER + 1) / 2 }; /* cells that a face's mass depends on, on each side of it */

/* Cells of a line that are held at once: a brick's, or a part of a long one's. */
GBEES_NUM int piece_cells(int axis)
{
    return axis_edge(axis) < PIECE_MOST ? axis_edge(axis) : PIECE_MOST;
}

/* What crosses the face in the middle of 2 BEYOND cells in a row; v: velocities one face below, there, above.
 * rising: v[1] > 0; diverging: the cell that it flows from may flow out on both sides. */
GBEES_NUM number face_mass_way(const number *q, const number *v, number lambda, int rising, int diverging)
{
#if GBEES_ORDER == 7
    return GBEES_REAL_FN(gbees_split7_mass_way)(q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7], v[0], v[1], v[2],
                                                lambda, 1, rising, diverging, GBEES_PRESERVING);
#else
    return GBEES_REAL_FN(gbees_split5_mass_way)(q[0], q[1], q[2], q[3], q[4], q[5], v[0], v[1], v[2], lambda, 1,
                                                rising, diverging, GBEES_PRESERVING);
#endif
}

GBEES_NUM number face_mass(const number *q, const number *v, number lambda)
{
    return face_mass_way(q, v, lambda, v[1] > 0, 1);
}

/* The cells beyond one end of a line: out of the neighbours, or of theirs where bricks are short. Beyond the grid
 * it is the null brick's, which are 0. */
GBEES_NUM void load_beyond(const gbees_setup *m, const number *p, int axis, uint32_t slot, int cell, int up,
                           number *to)
{
    const int edge = axis_edge(axis);
    uint32_t at = slot;

#pragma unroll
    for (int i = 0; i < BEYOND; i++) {
        if (i % edge == 0)
            at = m->grid.neighbor[2 * axis + up][at];
        to[i] = p[(size_t)at * CELLS + (size_t)(cell + ((up ? i % edge : edge - 1 - i % edge) << axis_shift(axis)))];
    }
}

/* A line, or a part of a long one, with the cells beyond it on each side. */
GBEES_NUM void load_line(const gbees_setup *m, const number *p, int axis, uint32_t slot, int cell, int part,
                         number *q)
{
    const int edge = axis_edge(axis), cells = piece_cells(axis), first = part * cells;
    const number *row = p + (size_t)slot * CELLS + (size_t)cell;
    number below[BEYOND], above[BEYOND];

    if (first == 0)
        load_beyond(m, p, axis, slot, cell, 0, below);
    if (first + cells == edge)
        load_beyond(m, p, axis, slot, cell, 1, above);
#pragma unroll
    for (int i = 0; i < BEYOND; i++) {
        q[BEYOND - 1 - i] = first == 0 ? below[i] : row[(first - 1 - i) << axis_shift(axis)];
        q[cells + BEYOND + i] = first + cells == edge ? above[i] : row[(first + cells + i) << axis_shift(axis)];
    }
#pragma unroll
    for (int i = 0; i < cells; i++)
        q[BEYOND + i] = row[(first + i) << axis_shift(axis)];
}

/* Sweeps a line; returns what flowed out where it is at an end of the grid. */
GBEES_NUM number sweep_line(const gbees_setup *m, const number *p, number *next, int axis, uint32_t slot, int cell,
                            int part, number lambda, double time)
{
    const int edge = axis_edge(axis), cells = piece_cells(axis), first = part * cells;
    const uint32_t below = m->grid.neighbor[2 * axis][slot], above = m->grid.neighbor[2 * axis + 1][slot];
    const uint32_t further = edge == 1 ? m->grid.neighbor[2 * axis][below] : 0;
    number q[PIECE_MOST + 2 * BEYOND], v[PIECE_MOST + 3], mass[PIECE_MOST + 1], outflow = 0;
    number *row = next + (size_t)slot * CELLS + (size_t)cell;
    position x[DIM], base = brick_base(m, slot)[axis];

    load_line(m, p, axis, slot, cell, part, q);
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = brick_base(m, slot)[k] + cell_offset(m, k, cell_local(cell, k));
#pragma unroll
    for (int i = 0; i < cells + 3; i++) {
        const int face = first + i - 1;

        /* A face between two bricks is the lower one's: rounded once, the same for both. */
        x[axis] = face + edge <= 0 && further ? brick_base(m, further)[axis] + face_offset(m, axis, face + 2 * edge)
                  : face <= 0 && below        ? brick_base(m, below)[axis] + face_offset(m, axis, face + edge)
                  : face > edge && above      ? brick_base(m, above)[axis] + face_offset(m, axis, face - edge)
                                              : base + face_offset(m, axis, face);
        v[i] = velocity(m, x, axis, time);
    }
#pragma unroll
    for (int i = 0; i <= cells; i++)
        mass[i] = face_mass(q + i, v + i, lambda);
#pragma unroll
    for (int i = 0; i < cells; i++)
        row[(first + i) << axis_shift(axis)] = q[BEYOND + i] + (mass[i] - mass[i + 1]);
    if (first == 0 && mass[0] < 0 && !below)
        outflow = -mass[0];
    if (first + cells == edge && mass[cells] > 0 && !above)
        outflow += mass[cells];
    return outflow;
}

/* All lines along an axis: a brick's by as many lanes as it has lines, several bricks at once if they are few.  What
 * flows out is added to the lane's own sum, which rests in memory: it is seldom needed. */
GBEES_NUM void sweep_along(const gbees_setup *m, const number *p, number *next, int axis, uint32_t count,
                           number lambda, double time, int64_t *outflow)
{
    const int parts = axis_edge(axis) / piece_cells(axis), lines = (CELLS >> axis_bits(axis)) * parts;
    const int lanes = lines < WARP_SIZE ? lines : WARP_SIZE, bricks = WARP_SIZE / lanes;

    const warp_slots slots = slots_of_warp(m, count, (uint32_t)bricks);

    for (uint32_t slot = slots.from + (uint32_t)(warp_lane() / lanes); slot <= slots.last; slot += slots.stride)
#pragma unroll 1
        for (int line = warp_lane() % lanes; line < lines; line += lanes) {
            number out =
                sweep_line(m, p, next, axis, slot, line_cell(axis, line / parts), line % parts, lambda, time);

            if (out > 0)
                *outflow += gbees_fixed((double)out);
        }
}

#endif
