/* cuts.h - the sweep of a line that targets cut (GBEES_ABSORBS), by the rules of numerics/split_cuts.h.
 *
 * A cut is a face between a cell outside of all targets and one that is not. Lines far from cuts are swept by
 * sweep_line(): both compute a face that they share alike.
 */
#ifndef GBEES_CUDA_CUTS_H
#define GBEES_CUDA_CUTS_H

#include "device/sweep.h"
#include "device/targets.h"
#include "numerics/split_cuts.h"

#if GBEES_ABSORBS

/* What is known beyond each end of a line. A line's cells are 0 .. cells - 1, and face f is below cell f. */
enum {
    WINDOW = 6,       /* cells */
    WINDOW_FACES = 5, /* velocities at faces */
    WINDOW_NOISE = 7, /* noise at faces */
    WINDOW_MASSES = 2 /* masses through faces, which those through the line's own are bounded by */
};

/* A line, and what is beside it: entries begin so far below the line. */
typedef struct cut_window {
    int cells, noisy, beyond; /* of the line; noise spreads along it; as gbees_cut_set() takes it */
    number p[PIECE_MOST + 2 * WINDOW];
    size_t at[PIECE_MOST + 2 * WINDOW];          /* where each cell is in rows; below CELLS: it is in no brick */
    uint32_t there, outside;                     /* bit i: cell i is in a brick; it is outside of all targets */
    number v[PIECE_MOST + 1 + 2 * WINDOW_FACES]; /* velocities; with noise, Courant numbers */
    number noise[PIECE_MOST + 1 + 2 * WINDOW_NOISE];
    number mass[PIECE_MOST + 1 + 2 * WINDOW_MASSES];
    int target[PIECE_MOST + 1]; /* of a cut */
} cut_window;

/* Whether some cell of a brick, or of those near it along an axis, is in a target. */
GBEES_NUM int is_near_targets(const gbees_setup *m, int axis, uint32_t slot)
{
    const int bricks = (WINDOW + axis_edge(axis) - 1) / axis_edge(axis);
    uint64_t outside = m->grid.outside[slot];

#pragma unroll
    for (int up = 0; up < 2; up++) {
        uint32_t at = m->grid.neighbor[2 * axis + up][slot];

        for (int i = 0; i < bricks && at; i++, at = m->grid.neighbor[2 * axis + up][at])
            outside &= m->grid.outside[at];
    }
    return outside != ~(uint64_t)0;
}

/* Where in rows the cell number `place` along an axis is, of a row of cells that begins with `cell`; in the null
 * brick, if no bricks lead there. */
GBEES_NUM size_t cell_beyond(const gbees_setup *m, int axis, uint32_t slot, int cell, int place)
{
    const int edge = axis_edge(axis);

    for (; place < 0 && slot; place += edge)
        slot = m->grid.neighbor[2 * axis][slot];
    for (; place >= edge && slot; place -= edge)
        slot = m->grid.neighbor[2 * axis + 1][slot];
    return slot ? (size_t)slot * CELLS + (size_t)(cell + (place << axis_shift(axis))) : (size_t)cell;
}

/* Sets all of a window but masses. x: a point of the line. */
CALLED_FUNCTION void look_at_line(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int cell, int first,
                                  position *x, cut_window *o)
{
    const int axis = w->axis, cells = piece_cells(axis);

    o->cells = cells;
    o->noisy = SPREADS && w->variance > 0;
    o->beyond = o->noisy ? SPREAD_HALF : REACH;
    o->there = o->outside = 0;
#pragma unroll 1
    for (int i = 0; i < cells + 2 * WINDOW; i++) {
        const size_t at = cell_beyond(m, axis, slot, cell, first + i - WINDOW);

        o->at[i] = at;
        o->p[i] = w->p[at];
        o->there |= (uint32_t)(at >= CELLS) << i;
        o->outside |= (uint32_t)(m->grid.outside[at / CELLS] >> (at % CELLS) & 1) << i;
    }
#pragma unroll 1
    for (int i = 0; i < cells + 1 + 2 * WINDOW_FACES; i++) {
        x[axis] = face_beyond(m, axis, slot, first + i - WINDOW_FACES);
        o->v[i] = (o->noisy ? w->lambda : 1) * velocity(m, x, axis, w->time);
    }
#if GBEES_DIFFUSION
#pragma unroll 1
    for (int i = 0; i < cells + 1 + 2 * WINDOW_NOISE && o->noisy && w->varies; i++)
        noise_at_faces(m, slot, cell, axis, first + i - WINDOW_NOISE, 1, w->part, w->time, &o->noise[i]);
#endif
#if GBEES_CLOSED
    const line_place place = place_of_line(m, axis, slot, first, cells);

    close_cells(&place, WINDOW, o->noisy, o->p);
    close_velocities(&place, WINDOW_FACES, o->v);
    if (o->noisy && w->varies)
        close_noise(&place, WINDOW_NOISE, o->noise);
#endif
}

/* Whether face f is a cut, and, if it is, whether the target is above it. */
GBEES_NUM int is_cut(const cut_window *o, int f, int *up)
{
    const uint32_t there = o->there >> (f - 1 + WINDOW) & 3, outside = o->outside >> (f - 1 + WINDOW) & 3;

    *up = outside == 1;
    return there == 3 && (outside == 1 || outside == 2);
}

/* The root of the variance that noise adds at face f, in cells; NEAR_WALL, more than any, beside a wall that it has.
 */
enum { NEAR_WALL = 2 };
CALLED_FUNCTION number root_near(const axis_sweep *w, const cut_window *o, int f)
{
    const number *v = o->v + (f - 1 + WINDOW_FACES), *noise = o->noise + (f - 3 + WINDOW_NOISE);
    number from_below, from_above;

    if (!o->noisy || !w->varies)
        return o->noisy ? w->root : 0;
    return GBEES_REAL_FN(gbees_spread_wall)(v[0], v[1], v[2], noise, 1, &from_below, &from_above)
               ? (number)NEAR_WALL
               : (number)sqrt((double)noise[3]);
}

/* The mass through face f, whose cells begin at q, before it is bounded, as sweeps far from cuts find it. */
CALLED_FUNCTION number mass_near(const axis_sweep *w, const cut_window *o, const number *q, int f)
{
    const number *v = o->v + (f - 1 + WINDOW_FACES), *noise = o->noise + (f - 3 + WINDOW_NOISE);
    number variance = w->variance, third = 0, c, from_above;

    if (!o->noisy)
        return GBEES_REAL_FN(gbees_split_mass_way)(q, 1, v[0], v[1], v[2], w->lambda, 1, v[1] > 0, 1,
                                                   GBEES_PRESERVING, GBEES_ORDER);
    if (w->varies && GBEES_REAL_FN(gbees_spread_wall)(v[0], v[1], v[2], noise, 1, &c, &from_above))
        return c * q[2] - from_above * q[3];
    c = w->varies ? GBEES_REAL_FN(gbees_spread_origin_varying)(v[0], v[1], v[2], noise + 1, 1, w->inside, 1,
                                                               &variance, &third)
                  : GBEES_REAL_FN(gbees_spread_origin)(v[0], v[1], v[2], w->inside, 1, &variance);
    return GBEES_REAL_FN(gbees_spread_mass)(q, 1, c, variance, third, w->varies);
}

/* Sets what is near the cut c, and returns the target behind it. */
CALLED_FUNCTION int look_at_cut(const gbees_setup *m, const axis_sweep *w, const cut_window *o, int c, int up,
                                GBEES_REAL_FN(gbees_cut_line) * line)
{
    const int last = c - up + WINDOW, behind = c - !up + WINDOW, step = up ? -1 : 1;
    const number courant = (o->noisy ? 1 : w->lambda) * o->v[c + WINDOW_FACES] * (number)-step;
    const number root = root_near(w, o, c);
    number live[GBEES_CUT_LIVE], reach = 2;
    int target = 0;

#pragma unroll 1
    for (int k = 0; k < w->targets->count; k++) {
        const double from =
            target_at(m, w->targets, k, (uint32_t)(o->at[last] / CELLS), (int)(o->at[last] % CELLS), w->time);
        const double to =
            target_at(m, w->targets, k, (uint32_t)(o->at[behind] / CELLS), (int)(o->at[behind] % CELLS), w->time);

        GBEES_REAL_FN(gbees_cut_find)((number)from, (number)to, k, &reach, &target);
    }
#pragma unroll 1
    for (int k = 0; k < GBEES_CUT_LIVE; k++) {
        const int cell = last + k * step;

        live[k] = cell >= 0 && cell < o->cells + 2 * WINDOW ? o->p[cell] : 0;
    }
    GBEES_REAL_FN(gbees_cut_set)(live, reach, courant, root, o->noisy && root < NEAR_WALL, up, o->beyond, line);
    return target;
}

/* Sets the masses through the faces near cut c. */
GBEES_NUM void cross_cut(const gbees_setup *m, const axis_sweep *w, cut_window *o, int c, int up)
{
    const int step = up ? -1 : 1, lowest = o->noisy ? -WINDOW_MASSES : 0, highest = o->cells - lowest;
    number mass[GBEES_CUT_BEYOND] = {0, 0, 0, 0};
    GBEES_REAL_FN(gbees_cut_line) line;
    const int target = look_at_cut(m, w, o, c, up, &line);

    if (c >= 0 && c <= o->cells)
        o->target[c] = target;
#pragma unroll 1
    for (int k = 0; k < o->beyond; k++) {
        const int f = c + k * step, is_near = f >= lowest - 1 && f <= highest + 1;

        if (is_near)
            mass[k] = mass_near(w, o, GBEES_REAL_FN(gbees_cut_cells)(&line, up, o->beyond, k), f);
    }
    GBEES_REAL_FN(gbees_cut_carry)(&line, up, o->beyond, mass);
#pragma unroll 1
    for (int k = 0; k < o->beyond; k++) {
        const int f = c + k * step;

        if (f >= lowest && f <= highest && o->there >> (f - 1 + WINDOW) & 3) /* not beyond the grid */
            o->mass[f + WINDOW_MASSES] = mass[k];
    }
}

/* Sets the masses through a line's faces, and with noise those beside them, before they are bounded. */
GBEES_NUM void find_masses(const gbees_setup *m, const axis_sweep *w, cut_window *o)
{
    const int beside = o->noisy ? WINDOW_MASSES : 0, most = beside + o->beyond - 1;
    int up;

#pragma unroll 1
    for (int f = -beside; f <= o->cells + beside; f++)
        o->mass[f + WINDOW_MASSES] = mass_near(w, o, o->p + (f - o->beyond + WINDOW), f);
#pragma unroll 1
    for (int c = -most; c <= o->cells + most; c++)
        if (is_cut(o, c, &up))
            cross_cut(m, w, o, c, up);
}

/* Replaces the masses through a line's faces by the bounded ones, and opens its cuts, of which one may need the mass
 * through another one below it. */
GBEES_NUM void bound_and_open(const axis_sweep *w, cut_window *o)
{
    number bounded[PIECE_MOST + 3]; /* from face -1 on */
    int up;

#pragma unroll 1
    for (int f = -1; f <= o->cells + 1; f++) {
        const number *mass = o->mass + (f + WINDOW_MASSES), *p = o->p + (f + WINDOW);

        bounded[f + 1] = GBEES_REAL_FN(gbees_spread_bounded)(mass[-1], mass[0], mass[1], p[-1], p[0],
                                                             o->v[f + WINDOW_FACES], root_near(w, o, f));
    }
#pragma unroll 1
    for (int f = -1; f <= o->cells; f++)
        if (is_cut(o, f, &up) && !(up && f < 0)) {
            const number sign = up ? (number)1 : (number)-1, other = bounded[up ? f : f + 2];

            bounded[f + 1] = sign * GBEES_REAL_FN(gbees_cut_opened)(sign * o->mass[f + WINDOW_MASSES],
                                                                    o->p[f - up + WINDOW], sign * other);
        }
#pragma unroll 1
    for (int f = 0; f <= o->cells; f++)
        o->mass[f + WINDOW_MASSES] = bounded[f + 1];
}

/* Adds what has entered through the cuts of a line's cells. */
GBEES_NUM void add_entering(const axis_sweep *w, const cut_window *o)
{
    int up;

#pragma unroll 1
    for (int f = 0; f <= o->cells; f++)
        if (is_cut(o, f, &up) && (up ? f < o->cells : f > 0)) /* its cell in the target is the line's */
            atomic_add_64(&w->entering[o->target[f]],
                          gbees_fixed((double)(up ? o->mass[f + WINDOW_MASSES] : -o->mass[f + WINDOW_MASSES])));
}

/* sweep_line() near targets. */
CALLED_FUNCTION void sweep_cut_line(const gbees_setup *m, const axis_sweep *w, uint32_t slot, int cell, int part,
                                    int64_t *outflow)
{
    const int axis = w->axis, cells = piece_cells(axis), first = part * cells;
    const int is_lowest = first == 0 && !m->grid.neighbor[2 * axis][slot];
    const int is_highest = first + cells == axis_edge(axis) && !m->grid.neighbor[2 * axis + 1][slot];
    number *row = w->next + (size_t)slot * CELLS + (size_t)cell;
    const uint32_t dither = dither_of_line(m, w, slot, cell, first);
    const number *mass;
    cut_window o;
    position x[DIM];

#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = brick_base(m, slot)[k] + cell_offset(m, k, cell_local(cell, k));
    look_at_line(m, w, slot, cell, first, x, &o);
    find_masses(m, w, &o);
    if (o.noisy)
        bound_and_open(w, &o);
    mass = o.mass + WINDOW_MASSES;
#pragma unroll 1
    for (int i = 0; i < cells; i++) {
        const number p = o.p[i + WINDOW], change = mass[i] - mass[i + 1];
        const int is_outside = (int)(o.outside >> (i + WINDOW) & 1);

        row[(first + i) << axis_shift(axis)] = !is_outside ? 0
                                               : o.noisy   ? spread_cell(w, p, change, dither, i)
                                                           : p + change;
    }
    add_entering(w, &o);
    add_outflow_of_line(mass, cells, is_lowest, is_highest, outflow);
}

#endif

#endif
