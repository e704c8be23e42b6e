/* sweep.h - sweeps of the split scheme, in place, one line of cells a lane.
 *
 * A pencil is a row of bricks along an axis, from one without a lower neighbour up to one without an upper neighbour.
 * Its lines of cells along the axis share nothing, and a lane walks one of them, from face to face: six cells and
 * three velocities in registers, each brick loaded and stored once.  The rows of the next two bricks are on their way
 * from memory meanwhile.
 */
#ifndef GBEES_CUDA_SWEEP_H
#define GBEES_CUDA_SWEEP_H

#include "inspect.h"
#include "numerics/split.h"

#ifndef GBEES_PRESERVING
#define GBEES_PRESERVING 0
#endif

enum { PIECE_MOST = 8 };

/* Cells of a line that are held at once: a brick's, or a part of a long one's. */
GBEES_NUM int piece_cells(int axis)
{
    return axis_edge(axis) < PIECE_MOST ? axis_edge(axis) : PIECE_MOST;
}

/* A place on the line: a brick and the part of it. */
typedef struct line_place {
    uint32_t slot;
    int part;
} line_place;

GBEES_NUM line_place next_place(const gbees_setup *m, int axis, line_place at)
{
    line_place next = {at.slot, at.part + 1};

    if (next.part == axis_edge(axis) / piece_cells(axis)) {
        next.part = 0;
        next.slot = at.slot ? m->grid.neighbor[2 * axis + 1][at.slot] : 0;
    }
    return next;
}

GBEES_NUM size_t place_cell(int axis, line_place at, int cell)
{
    return (size_t)at.slot * CELLS + (size_t)(cell + (at.part * piece_cells(axis) << axis_shift(axis)));
}

/* The cells of a line at a place; beyond its end the null brick's, which are 0. */
GBEES_NUM void load_piece(const number *p, int axis, line_place at, int cell, number *to)
{
#pragma unroll
    for (int i = 0; i < piece_cells(axis); i++)
        to[i] = p[place_cell(axis, at, cell) + ((size_t)i << axis_shift(axis))];
}

GBEES_NUM number line_velocity(const gbees_setup *m, position *x, position base, int axis, int face, double time)
{
    x[axis] = base + (position)(m->width[axis] * (face - 0.5));
    return velocity(m, x, axis, time);
}

/* What crosses the face between cells q[2] and q[3] of six in a row. */
GBEES_NUM number face_mass(const number *q, number below, number here, number above, number lambda)
{
    return GBEES_REAL_FN(gbees_split5_mass)(q[0], q[1], q[2], q[3], q[4], q[5], below, here, above, lambda, 1,
                                            GBEES_PRESERVING);
}

/* Sweeps the line through `cell` of the brick at the pencil's lower end; returns what flowed out at its ends. */
GBEES_NUM number sweep_line(const gbees_setup *m, number *p, int axis, uint32_t slot, int cell, number lambda,
                            double time)
{
    line_place at = {slot, 0}, next = next_place(m, axis, at), after = next_place(m, axis, next);
    number here[PIECE_MOST], ahead[PIECE_MOST], later[PIECE_MOST], q[6], outflow = 0;
    number u[3], mass = 0, *last = NULL;
    int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)axis];
    position x[DIM], base = brick_base(m, axis, key);

    for (int k = 0; k < DIM; k++)
        x[k] = brick_base(m, k, m->grid.key[(size_t)slot * DIM + (size_t)k]) +
               (position)(m->width[k] * (double)cell_local(cell, k));
    load_piece(p, axis, at, cell, here);
    load_piece(p, axis, next, cell, ahead);
    q[0] = q[1] = q[2] = 0;
    u[0] = line_velocity(m, x, base, axis, -1, time);
    u[1] = line_velocity(m, x, base, axis, 0, time);
    for (;;) {
        line_place beyond = next_place(m, axis, after);

        load_piece(p, axis, after, cell, later);
#pragma unroll
        for (int i = 0; i < piece_cells(axis); i++) {
            number *to = p + place_cell(axis, at, cell) + ((size_t)i << axis_shift(axis));

            q[3] = here[i];
            q[4] = i + 1 < piece_cells(axis) ? here[i + 1] : ahead[0];
            q[5] = i + 2 < piece_cells(axis)   ? here[i + 2]
                   : i + 2 - piece_cells(axis) < piece_cells(axis) ? ahead[i + 2 - piece_cells(axis)]
                                                                  : later[0];
            u[2] = line_velocity(m, x, base, axis, at.part * piece_cells(axis) + i + 1, time);
            number through = face_mass(q, u[0], u[1], u[2], lambda);
            if (last)
                *last = q[2] + (mass - through);
            else
                outflow = through < 0 ? -through : 0;
            mass = through;
            last = to;
            q[0] = q[1];
            q[1] = q[2];
            q[2] = q[3];
            u[0] = u[1];
            u[1] = u[2];
        }
        if (!next.slot)
            break;
        if (next.slot != at.slot)
            base = brick_base(m, axis, ++key);
        at = next;
        next = after;
        after = beyond;
#pragma unroll
        for (int i = 0; i < piece_cells(axis); i++) {
            here[i] = ahead[i];
            ahead[i] = later[i];
        }
    }
    q[3] = q[4] = q[5] = 0;
    u[2] = line_velocity(m, x, base, axis, axis_edge(axis) + 1, time);
    number through = face_mass(q, u[0], u[1], u[2], lambda);
    *last = q[2] + (mass - through);
    return outflow + (through > 0 ? through : 0);
}

/* The lowest cell of line `line` across an axis. */
GBEES_NUM int line_cell(int axis, int line)
{
    int low = line & ((1 << axis_shift(axis)) - 1);

    return (line >> axis_shift(axis)) << (axis_shift(axis) + axis_bits(axis)) | low;
}

/* All pencils along an axis: a team looks at as many bricks as it has lanes, and sweeps the pencils that start
 * there, several at once where a pencil has fewer lines than the team has lanes. */
GBEES_NUM int64_t sweep_along(const gbees_setup *m, number *p, int axis, uint32_t count, double step, double time)
{
    const int lines = CELLS >> axis_bits(axis), group = lines < TEAM ? lines : TEAM, groups = TEAM / group;
    const number lambda = (number)(step / m->width[axis]);
    int64_t outflow = 0;

    for (uint32_t first = 1 + team_index() * TEAM; first <= count; first += team_count() * TEAM) {
        uint32_t own = first + (uint32_t)team_lane();
        uint32_t starts = team_vote(own <= count && !m->grid.neighbor[2 * axis][own <= count ? own : 0]);

        while (starts) {
            uint32_t slot = 0;

            for (int g = 0; g < groups && starts; g++) {
                if (g == team_lane() / group)
                    slot = first + (uint32_t)lowest_bit(starts);
                starts &= starts - 1;
            }
            if (slot)
                for (int line = team_lane() % group; line < lines; line += group)
                    outflow += fixed_of((double)sweep_line(m, p, axis, slot, line_cell(axis, line), lambda, time));
        }
    }
    return outflow;
}

#endif
