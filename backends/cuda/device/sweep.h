/* sweep.h - sweeps of the split schemes: advection along one axis, from one array of rows to another.
 *
 * A line is the cells of a brick along the axis, or a part of them. A lane loads a line with some cells beyond it on
 * each side (split5: three), computes the masses that cross its faces, and stores the cells. Faces between bricks are
 * computed twice, by both neighbours; in return all lines are independent, and a grid of few bricks occupies many
 * processors.
 */
#ifndef GBEES_CUDA_SWEEP_H
#define GBEES_CUDA_SWEEP_H

#include "device/ends.h"
#include "device/inspect.h"
#include "device/noise.h"
#include "numerics/split.h"
#include "numerics/split7.h"
#include "numerics/split_mass.h"
#include "numerics/split_noise.h"

enum {
    PIECE_MOST = 4,                       /* the most cells of a line */
    REACH = (GBEES_ORDER + 1) / 2,        /* cells that a face's mass depends on, on each side of it, without noise */
    SPREAD_HALF = GBEES_SPREAD_REACH - 1, /* the same with noise, of a mass that is not yet bounded, for any order */
    BEYOND = SPREADS ? GBEES_SPREAD_REACH : REACH
};

/* The cells of a line: those of a brick along the axis, or a part of them if they are more than PIECE_MOST. */
GBEES_NUM int piece_cells(int axis)
{
    return axis_edge(axis) < PIECE_MOST ? axis_edge(axis) : PIECE_MOST;
}

/* The mass that crosses the face in the middle of q, 2 BEYOND cells in a row. v: the velocities at the face below, at
 * this face, and at the one above. rising: v[1] > 0. diverging: the donor cell may flow out on both sides. */
GBEES_NUM number face_mass_way(const number *q, const number *v, number lambda, int rising, int diverging)
{
    return GBEES_REAL_FN(gbees_split_mass_way)(q + (BEYOND - REACH), 1, v[0], v[1], v[2], lambda, 1, rising,
                                               diverging, GBEES_PRESERVING, GBEES_ORDER);
}

/* The mass that crosses the face in the middle of q, as face_mass_way(), for a velocity of any sign. */
GBEES_NUM number face_mass(const number *q, const number *v, number lambda)
{
    return face_mass_way(q, v, lambda, v[1] > 0, 1);
}

/* Sets mass[cells + 1] to the masses that cross the faces of a line. q: the line with BEYOND cells on each side; v:
 * the velocities from one face before the first to one behind the last. */
GBEES_NUM void face_masses(const number *q, const number *v, int cells, number lambda, number *mass)
{
#pragma unroll
    for (int i = 0; i <= cells; i++)
        mass[i] = face_mass(q + i, v + i, lambda);
}

/* Adds the mass that leaves the grid through a face to a sum, in units of 2^-60. The masses are rounded one by one,
 * so that the sum does not depend on which faces a lane has. */
GBEES_NUM void add_outflow(number mass, int64_t *sum)
{
    if (mass > 0)
        *sum += gbees_fixed((double)mass);
}

/* Adds the mass that leaves the grid through the ends of a line. is_lowest, is_highest: the line begins, ends at a
 * side of its brick where there is no neighbour. */
GBEES_NUM void add_outflow_of_line(const number *mass, int cells, int is_lowest, int is_highest, int64_t *sum)
{
    if (is_lowest)
        add_outflow(-mass[0], sum);
    if (is_highest)
        add_outflow(mass[cells], sum);
}

/* Loads the BEYOND cells beyond one end of a line where bricks are short: from the neighbours and from theirs, in the
 * order that they have along the axis. Beyond the grid they are the null brick's, which are 0. */
GBEES_NUM void load_beyond(const gbees_setup *m, const number *p, int axis, uint32_t slot, int cell, int up,
                           number *to)
{
    const int edge = axis_edge(axis);
    uint32_t at = slot;

#pragma unroll
    for (int i = 0; i < BEYOND; i++) {
        if (i % edge == 0)
            at = m->grid.neighbor[2 * axis + up][at];
        to[up ? i : BEYOND - 1 - i] =
            p[(size_t)at * CELLS + (size_t)(cell + ((up ? i % edge : edge - 1 - i % edge) << axis_shift(axis)))];
    }
}

/* Loads line number `part` of the cells in a row that begin with `cell`: cells + 2 BEYOND numbers. */
GBEES_NUM void load_line(const gbees_setup *m, const number *p, int axis, uint32_t slot, int cell, int part,
                         number *q)
{
    const int edge = axis_edge(axis), cells = piece_cells(axis);
    const number *row = p + (size_t)slot * CELLS + (size_t)cell;

    if (edge >= BEYOND) {
        const number *below = p + (size_t)m->grid.neighbor[2 * axis][slot] * CELLS + (size_t)cell;
        const number *above = p + (size_t)m->grid.neighbor[2 * axis + 1][slot] * CELLS + (size_t)cell;

#pragma unroll
        for (int i = 0; i < cells + 2 * BEYOND; i++) {
            const int at = part * cells + i - BEYOND;
            const number *from = at < 0 ? below : at >= edge ? above : row;

            q[i] = from[(at & (edge - 1)) << axis_shift(axis)];
        }
        return;
    }
    /* A brick is one line. */
    load_beyond(m, p, axis, slot, cell, 0, q);
    load_beyond(m, p, axis, slot, cell, 1, q + BEYOND + cells);
#pragma unroll
    for (int i = 0; i < cells; i++)
        q[BEYOND + i] = row[i << axis_shift(axis)];
}

/* A sweep along an axis, which must be a constant of the compiler. */
typedef struct axis_sweep {
    const number *p; /* from these rows */
    number *next;    /* to these */
    int axis;
    number lambda;   /* the time step over the cells' width */
    double time;     /* of the velocities, and of Q */
    number variance; /* that noise adds at most, in squares of a cell */
    double part;     /* the time step; of a sweep that is repeated, its part of it */
    int varies;      /* the noise is not the same in all cells */
    uint32_t dither; /* gbees_dither_of_pass() */
    number lean;     /* gbees_ledger_lean() */
    number inside;   /* as gbees_spread_origin() takes it */
#if GBEES_ABSORBS
    number root; /* of the variance */
    const gbees_targets *targets;
    int64_t *entering; /* of the step */
#endif
} axis_sweep;

/* The dither of the lowest cell of a line along the sweep's axis, of which `cell` is the lowest cell in a brick, from
 * the brick's cell number `first` along the axis on; and what those of the next cells add to it one by one. */
GBEES_NUM uint32_t dither_of_line(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int cell, int first)
{
    const int axis = w->axis, bits = axis_bits(axis), shift = axis_shift(axis), lines = CELLS >> bits;
    const int line = cell >> (shift + bits) << shift | (cell & ((1 << shift) - 1));
    const int32_t *key = m->grid.key + (size_t)slot * DIM;

    return w->dither + gbees_dither_of_pencil(key, DIM, axis) +
           ((uint32_t)(key[axis] * axis_edge(axis) + first) * (uint32_t)lines + (uint32_t)line) * GBEES_DITHER_CELL;
}

/* A cell's P after a sweep with noise; i: its number from the line's lowest cell on, whose dither is `lowest`. */
GBEES_NUM number spread_cell(const axis_sweep *w, number p, number change, uint32_t lowest, int i)
{
    return GBEES_REAL_FN(gbees_spread_sum)(
        p, change, lowest + (uint32_t)(i * (CELLS >> axis_bits(w->axis))) * GBEES_DITHER_CELL, w->lean);
}

/* The position along the axis of a face of a brick, or of one beyond it: it is computed from the brick below it, as
 * far as there is one, so that all round it alike. Two faces beyond the grid it is that of one, as nothing depends on
 * it. */
GBEES_NUM position face_beyond(const gbees_setup *m, int axis, uint32_t slot, int face)
{
    const int edge = axis_edge(axis);

    while (face <= 0 && m->grid.neighbor[2 * axis][slot]) {
        slot = m->grid.neighbor[2 * axis][slot];
        face += edge;
    }
    while (face > edge && m->grid.neighbor[2 * axis + 1][slot]) {
        slot = m->grid.neighbor[2 * axis + 1][slot];
        face -= edge;
    }
    face = face < -1 ? -1 : face > edge + 1 ? edge + 1 : face;
    return brick_base(m, slot)[axis] + face_offset(m, axis, face);
}

/* Sets mass[cells + 1] to the masses that cross the faces of a line; arguments as noisy_masses() takes them. */
GBEES_NUM void line_masses(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int first, const number *q,
                           position *x, number *mass)
{
    const int axis = w->axis, edge = axis_edge(axis), cells = piece_cells(axis);
    const uint32_t below = m->grid.neighbor[2 * axis][slot], above = m->grid.neighbor[2 * axis + 1][slot];
    const uint32_t further = edge == 1 ? m->grid.neighbor[2 * axis][below] : 0;
    const position base = brick_base(m, slot)[axis];
    number v[PIECE_MOST + 3];

#pragma unroll
    for (int i = 0; i < cells + 3; i++) {
        const int face = first + i - 1;

        /* The position of a face between two bricks is computed from the lower one, so that both round it alike. */
        x[axis] = face + edge <= 0 && further ? brick_base(m, further)[axis] + face_offset(m, axis, face + 2 * edge)
                  : face <= 0 && below        ? brick_base(m, below)[axis] + face_offset(m, axis, face + edge)
                  : face > edge && above      ? brick_base(m, above)[axis] + face_offset(m, axis, face - edge)
                                              : base + face_offset(m, axis, face);
        v[i] = velocity(m, x, axis, w->time);
    }
#if GBEES_CLOSED
    const line_place place = place_of_line(m, axis, slot, first, cells);

    close_velocities(&place, 1, v);
#endif
    face_masses(q, v, cells, w->lambda, mass);
}

#if GBEES_DIFFUSION

/* Sets mass[cells + 1] to the masses that cross the faces of a line, with noise. q: the line with BEYOND cells on
 * each side; x: a point of the line; cell: the lowest cell of its row in the brick; first: its first face. */
GBEES_NUM void noisy_masses(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int cell, int first,
                            const number *q, position *x, number *mass)
{
    const int axis = w->axis, cells = piece_cells(axis);
#if GBEES_ABSORBS
    const number same = w->root;
#else
    const number same = (number)sqrt((double)w->variance);
#endif
    number v[PIECE_MOST + 5], whole[PIECE_MOST + 3]; /* from two faces below the line; from one */
    number noise[PIECE_MOST + 9];                    /* from four faces below it */
    uint32_t walls = 0;                              /* bit i: whole[i] is that of a wall */

    if (w->varies)
        noise_at_faces(m, slot, cell, axis, first - 4, cells + 9, w->part, w->time, noise);

#pragma unroll
    for (int i = 0; i < cells + 5; i++) {
        x[axis] = face_beyond(m, axis, slot, first + i - 2);
        v[i] = w->lambda * velocity(m, x, axis, w->time);
    }
#if GBEES_CLOSED
    const line_place place = place_of_line(m, axis, slot, first, cells);

    close_velocities(&place, 2, v);
    if (w->varies)
        close_noise(&place, 4, noise);
#endif
#pragma unroll
    for (int i = 0; i < cells + 3; i++) {
        number variance = w->variance, third, c, from_above;

        if (w->varies) {
            c = GBEES_REAL_FN(gbees_spread_origin_varying)(v[i], v[i + 1], v[i + 2], noise + i + 1, 1, w->inside, 1,
                                                           &variance, &third);
            whole[i] = GBEES_REAL_FN(gbees_spread_mass)(q + i, 1, c, variance, third, 1);
            if (GBEES_REAL_FN(gbees_spread_wall)(v[i], v[i + 1], v[i + 2], noise + i, 1, &c, &from_above)) {
                whole[i] = c * q[i + 2] - from_above * q[i + 3];
                walls |= 1u << i;
            }
        } else {
            c = GBEES_REAL_FN(gbees_spread_origin)(v[i], v[i + 1], v[i + 2], w->inside, 1, &variance);
            whole[i] = GBEES_REAL_FN(gbees_spread_mass)(q + i, 1, c, variance, 0, 0);
        }
    }
#pragma unroll
    for (int i = 0; i <= cells; i++) {
        const number root = !w->varies ? same : walls >> (i + 1) & 1 ? (number)2 : (number)sqrt((double)noise[i + 4]);

        mass[i] = GBEES_REAL_FN(gbees_spread_bounded)(whole[i], whole[i + 1], whole[i + 2], q[BEYOND - 1 + i],
                                                      q[BEYOND + i], v[i + 2], root);
    }
}

#endif

/* Sweeps line number `part` of the cells in a row that begin with `cell`; adds the mass that leaves the grid to
 * *outflow. */
GBEES_NUM void sweep_line(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int cell, int part,
                          int64_t *outflow)
{
    const int axis = w->axis, edge = axis_edge(axis), cells = piece_cells(axis), first = part * cells;
    const uint32_t below = m->grid.neighbor[2 * axis][slot], above = m->grid.neighbor[2 * axis + 1][slot];
    number q[PIECE_MOST + 2 * BEYOND], mass[PIECE_MOST + 1];
    number *row = w->next + (size_t)slot * CELLS + (size_t)cell;
    position x[DIM];

    load_line(m, w->p, axis, slot, cell, part, q);
#if GBEES_CLOSED
    const line_place place = place_of_line(m, axis, slot, first, cells);

    close_cells(&place, BEYOND, SPREADS && w->variance > 0, q);
#endif
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = brick_base(m, slot)[k] + cell_offset(m, k, cell_local(cell, k));
#if GBEES_DIFFUSION
    if (SPREADS && w->variance > 0) {
        const uint32_t dither = dither_of_line(m, w, slot, cell, first);

        noisy_masses(m, w, slot, cell, first, q, x, mass);
#pragma unroll
        for (int i = 0; i < cells; i++)
            row[(first + i) << axis_shift(axis)] = spread_cell(w, q[BEYOND + i], mass[i] - mass[i + 1], dither, i);
    } else
#endif
    {
        line_masses(m, w, slot, first, q, x, mass);
#pragma unroll
        for (int i = 0; i < cells; i++)
            row[(first + i) << axis_shift(axis)] = q[BEYOND + i] + (mass[i] - mass[i + 1]);
    }
    add_outflow_of_line(mass, cells, first == 0 && !below, first + cells == edge && !above, outflow);
}

#endif
