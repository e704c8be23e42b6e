/* ctu_lines.h - the passes of ctu.h for bricks that are two cells wide or one, in six dimensions and more: cells in
 * registers in place of shared memory.
 *
 * A lane holds two consecutive cells of its brick's row, and sums for these.  Along an axis two cells in a row are a
 * line. Where two lanes hold one cell of each of two lines, they exchange cells, so that each has both cells of one
 * line.  Only in these exchanges lanes wait for each other.  The cells of neighbouring bricks that an axis needs are
 * loaded an axis ahead.
 */
#ifndef GBEES_CUDA_CTU_LINES_H
#define GBEES_CUDA_CTU_LINES_H

#include "device/ctu.h"

#define GBEES_LINES (GBEES_N >= 6)

#if GBEES_LINES

/* The numbers of a lane's cells and lines.  HELD_TOGETHER: how far loops over them are unrolled; not at all for a
 * lane that holds a whole brick, as on the host. */
enum { HELD = CELLS / WARP_SIZE, LINES = HELD / 2, HELD_TOGETHER = WARP_SIZE > 1 ? HELD : 1 };

/* A lane's cells of a row, or sums for them. */
typedef struct held_row {
    alignas(2 * sizeof(number)) number cell[HELD];
} held_row;

/* P and S of a lane's cells in the bricks below and above along an axis; further_...: P in the bricks beyond those,
 * where bricks are one cell wide. */
typedef struct held_sides {
    held_row below, above, s_below, s_above, further_below, further_above;
} held_sides;

/* A brick, held by a warp: lane d has its neighbour in direction d, lane k the component of its base along axis k. */
typedef struct held_brick {
    uint32_t slot, link;
    position base;
} held_brick;

/* The cells of a lane's lines along an axis, with two beyond each side, and S of them, with one beyond each side. */
typedef struct held_lines {
    number q[HELD][6], t[HELD][4];
} held_lines;

/* The address of the lane's first cell in rows. */
GBEES_NUM number *lane_rows(const number *rows)
{
    return (number *)opaque_global(rows + warp_lane() * HELD);
}

/* A lane's cells of a brick; rows: here and below, those of lane_rows(). */
GBEES_NUM held_row held_of(const number *rows, uint32_t slot)
{
    return *(const held_row *)(const void *)(rows + (size_t)slot * CELLS);
}

/* Stores a lane's cells of a brick. */
GBEES_NUM void put_held(number *rows, uint32_t slot, held_row row)
{
    *(held_row *)(void *)(rows + (size_t)slot * CELLS) = row;
}

/* The array of neighbours in the lane's direction. */
GBEES_NUM const uint32_t *lane_links(const gbees_setup *m)
{
    return m->grid.neighbor[warp_lane() < DIRECTIONS ? warp_lane() : 0];
}

/* Loads what the lane holds of a brick; links: lane_links().  A slot beyond the last is the null brick. */
GBEES_NUM held_brick hold_brick(const gbees_setup *m, const uint32_t *links, uint32_t slot, uint32_t last)
{
    held_brick b = {slot <= last ? slot : 0, 0, 0};

    if (WARP_SIZE > 1) {
        b.link = links[b.slot];
        b.base = brick_base(m, b.slot)[warp_lane() < DIM ? warp_lane() : 0];
    }
    return b;
}

/* A held brick's neighbour in direction d. By a warp. */
GBEES_NUM uint32_t link_of(const gbees_setup *m, const held_brick *b, int d)
{
    return WARP_SIZE > 1 ? warp_shuffle(b->link, (uint32_t)d) : m->grid.neighbor[d][b->slot];
}

/* Sets base[DIM] to a held brick's base. By a warp. */
GBEES_NUM void base_of(const gbees_setup *m, const held_brick *b, position *base)
{
#pragma unroll
    for (int k = 0; k < DIM; k++)
        base[k] = WARP_SIZE > 1 ? GBEES_POSITION_FN(warp_shuffle)(b->base, (uint32_t)k) : brick_base(m, b->slot)[k];
}

/* Loads the lane's cells of the neighbouring bricks along an axis: for transverse fluxes P alone, for fluxes (`far`)
 * all. */
GBEES_NUM void hold_sides(const gbees_setup *m, const number *p, const number *s, int far, const held_brick *b,
                          int axis, held_sides *to)
{
    const uint32_t below = link_of(m, b, 2 * axis), above = link_of(m, b, 2 * axis + 1);

    to->below = held_of(p, below);
    to->above = held_of(p, above);
    if (!far)
        return;
    to->s_below = held_of(s, below);
    to->s_above = held_of(s, above);
    if (axis_bits(axis) == 0) {
        to->further_below = held_of(p, m->grid.neighbor[2 * axis][below]);
        to->further_above = held_of(p, m->grid.neighbor[2 * axis + 1][above]);
    }
}

/* ---- lines ---- */

/* Whether a lane holds both cells of its lines. */
GBEES_NUM int is_in_place(int axis)
{
    return WARP_SIZE == 1 || axis_shift(axis) == 0;
}

/* The lowest cell of a lane's line. */
GBEES_NUM int held_cell(int axis, int line)
{
    const int first = warp_lane() * HELD, shift = axis_shift(axis);

    if (axis_bits(axis) == 0)
        return first + line;
    if (is_in_place(axis))
        return first + line_cell(axis, line);
    return (first & ~(1 << shift)) | (first >> shift & 1);
}

/* Whether this lane is the upper one of two that exchange cells: its line is that of the second cell. */
GBEES_NUM int is_upper(int axis)
{
    return warp_lane() >> (axis_shift(axis) - 1) & 1;
}

/* Exchanges a cell with the other lane of two. */
GBEES_NUM number exchange_cell(int axis, number value)
{
    return GBEES_REAL_FN(warp_exchange)(value, 1 << (axis_shift(axis) - 1));
}

/* Copies the lane's cells of a row to its lines: the lower cells to low[0], low[stride] ..., the upper ones to high.
 */
GBEES_NUM void put_lines(int axis, const held_row *row, number *low, number *high, int stride)
{
    if (is_in_place(axis)) {
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < LINES; i++) {
            low[i * stride] = row->cell[line_cell(axis, i) % HELD];
            high[i * stride] = row->cell[(line_cell(axis, i) + (1 << axis_shift(axis))) % HELD];
        }
    } else {
        const int upper = is_upper(axis);
        const number other = exchange_cell(axis, upper ? row->cell[0] : row->cell[1]);

        *low = upper ? other : row->cell[0];
        *high = upper ? row->cell[1] : other;
    }
}

/* Copies the cells next to the lane's lines: the upper ones of the brick below to low, the lower ones of the brick
 * above to high.
 */
GBEES_NUM void put_ends(int axis, const held_row *below, const held_row *above, number *low, number *high, int stride)
{
    if (is_in_place(axis)) {
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < LINES; i++) {
            low[i * stride] = below->cell[(line_cell(axis, i) + (1 << axis_shift(axis))) % HELD];
            high[i * stride] = above->cell[line_cell(axis, i) % HELD];
        }
    } else {
        const int upper = is_upper(axis);
        const number other = exchange_cell(axis, upper ? below->cell[0] : above->cell[1]);

        *low = upper ? below->cell[1] : other;
        *high = upper ? other : above->cell[0];
    }
}

/* Adds a factor times low and high, values for the lower and the upper cells of the lane's lines, to its cells. */
GBEES_NUM void add_lines(int axis, const number *low, const number *high, number factor, held_row *to)
{
    if (axis_bits(axis) == 0) {
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < HELD; i++)
            to->cell[i] += factor * low[i];
    } else if (is_in_place(axis)) {
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < LINES; i++) {
            to->cell[line_cell(axis, i) % HELD] += factor * low[i];
            to->cell[(line_cell(axis, i) + (1 << axis_shift(axis))) % HELD] += factor * high[i];
        }
    } else {
        const int upper = is_upper(axis);
        const number other = exchange_cell(axis, upper ? low[0] : high[0]);

        to->cell[0] += factor * (upper ? other : low[0]);
        to->cell[1] += factor * (upper ? high[0] : other);
    }
}

/* Sets the lane's lines along an axis: with two cells beyond each end and S (`far`), or with one cell and without S.
 */
GBEES_NUM void fill_lines(int axis, const held_row *row, const held_row *s_row, const held_sides *sides, int far,
                          held_lines *to)
{
    if (axis_bits(axis) == 0) {
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < HELD; i++) {
            to->q[i][0] = far ? sides->further_below.cell[i] : 0;
            to->q[i][1] = sides->below.cell[i];
            to->q[i][2] = row->cell[i];
            to->q[i][3] = sides->above.cell[i];
            to->q[i][4] = far ? sides->further_above.cell[i] : 0;
            to->t[i][0] = far ? sides->s_below.cell[i] : 0;
            to->t[i][1] = far ? s_row->cell[i] : 0;
            to->t[i][2] = far ? sides->s_above.cell[i] : 0;
        }
        return;
    }
    put_lines(axis, row, &to->q[0][2], &to->q[0][3], 6);
    if (!far) {
        put_ends(axis, &sides->below, &sides->above, &to->q[0][1], &to->q[0][4], 6);
        return;
    }
    put_lines(axis, &sides->below, &to->q[0][0], &to->q[0][1], 6);
    put_lines(axis, &sides->above, &to->q[0][4], &to->q[0][5], 6);
    put_lines(axis, s_row, &to->t[0][1], &to->t[0][2], 4);
    put_ends(axis, &sides->s_below, &sides->s_above, &to->t[0][0], &to->t[0][3], 4);
}

/* Loads a value again, which the compiler would otherwise keep in a register for each axis. */
GBEES_NUM number reread(const number *at)
{
    return *(const volatile number *)at;
}

/* ---- passes ---- */

/* Adds the transverse fluxes T along an axis to the lane's sums. */
GBEES_NUM void transverse_lines(const gbees_setup *m, const held_lines *lines, int axis, const position *base,
                                number half_lambda, double time, held_row *sum)
{
    const int cells = pair_cells(axis);
    number change[2][HELD];

#pragma unroll(HELD_TOGETHER)
    for (int line = 0; line < HELD / cells; line++) {
        const number *q = &lines->q[line][1];
        number u[3];

#pragma unroll
        for (int i = 0; i <= cells; i++)
            u[i] = cell_face_velocity(m, base, held_cell(axis, line), axis, i, time);
#pragma unroll
        for (int i = 0; i < cells; i++)
            change[i][line] =
                GBEES_REAL_FN(gbees_ctu_transverse)(q[i], q[i + 1], q[i + 2], u[i], u[i + 1], half_lambda);
    }
    add_lines(axis, change[0], change[1], 1, sum);
}

/* Computes S of all cells. */
GBEES_NUM void transverse_pass_lines(const gbees_setup *m, const number *all_p, number *all_s, uint32_t count,
                                     const number *lambda, double time)
{
    const number *p = lane_rows(all_p);
    number *s = lane_rows(all_s);
    const uint32_t *links = lane_links(m);
    const warp_slots slots = slots_of_warp(m, count, 1);
    held_brick here, ahead = hold_brick(m, links, slots.from, slots.last);
    held_row row, row_ahead = held_of(p, ahead.slot);
    held_sides sides, sides_ahead;

    hold_sides(m, p, NULL, 0, &ahead, 0, &sides_ahead);
    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        held_row sum;
        position base[DIM];

        here = ahead;
        row = row_ahead;
        ahead = hold_brick(m, links, slot + slots.stride, slots.last);
        base_of(m, &here, base);
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < HELD; i++)
            sum.cell[i] = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            held_lines lines;

            sides = sides_ahead;
            hold_sides(m, p, NULL, 0, j + 1 < DIM ? &here : &ahead, (j + 1) % DIM, &sides_ahead);
            if (j + 1 == DIM)
                row_ahead = held_of(p, ahead.slot);
            fill_lines(j, &row, NULL, &sides, 0, &lines);
            transverse_lines(m, &lines, j, base, (number)0.5 * reread(&lambda[j]), time, &sum);
        }
        put_held(s, slot, sum);
    }
}

/* Sets flux[cells + 1] to the fluxes through a line's faces, from velocities u.  direction: 1: all flow up, 0: none
 * does, -1: each face has its own. */
GBEES_NUM void directed_fluxes(int cells, const number *q, const number *t, const number *u, number lambda,
                               int direction, number *flux)
{
#pragma unroll
    for (int i = 0; i <= cells; i++)
        flux[i] =
            GBEES_REAL_FN(gbees_ctu_flux_way)(q[i], q[i + 1], q[i + 2], q[i + 3], t[i], t[i + 1], u[i], u[i + 1],
                                              u[i + 2], lambda, direction < 0 ? u[i + 1] > 0 : direction);
}

/* Sets flux[cells + 1] to the fluxes through a line's faces.  Mostly all lanes of the warp flow the same way, and no
 * lane selects between formulas. */
GBEES_NUM void line_fluxes(const gbees_setup *m, const number *q, const number *t, int axis, int cell,
                           const position *base, number lambda, double time, number *flux)
{
    const int cells = pair_cells(axis);
    number u[5];
    int rising = 1, falling = 1;

#pragma unroll
    for (int i = 0; i < cells + 3; i++)
        u[i] = cell_face_velocity(m, base, cell, axis, i - 1, time);
#pragma unroll
    for (int i = 0; i <= cells; i++) {
        rising = rising && u[i + 1] > 0;
        falling = falling && !(u[i + 1] > 0);
    }
    if (warp_all(rising))
        directed_fluxes(cells, q, t, u, lambda, 1, flux);
    else if (warp_all(falling))
        directed_fluxes(cells, q, t, u, lambda, 0, flux);
    else
        directed_fluxes(cells, q, t, u, lambda, -1, flux);
}

/* Adds the changes of the lane's cells by the fluxes along an axis. */
GBEES_NUM void flux_lines(const gbees_setup *m, const held_lines *lines, int axis, const position *base,
                          number lambda, double time, held_row *change)
{
    const int cells = pair_cells(axis);
    number more[2][HELD];

#pragma unroll(HELD_TOGETHER)
    for (int line = 0; line < HELD / cells; line++) {
        number flux[3];

        line_fluxes(m, lines->q[line], lines->t[line], axis, held_cell(axis, line), base, lambda, time, flux);
#pragma unroll
        for (int i = 0; i < cells; i++)
            more[i][line] = flux[i] - flux[i + 1];
    }
    add_lines(axis, more[0], more[1], lambda, change);
}

/* Computes the new density, as flux_pass() does.  Adds the clipped mass to *clipped, the lane's sum, which is in
 * shared memory, as it is seldom needed. */
GBEES_NUM void flux_pass_lines(const gbees_setup *m, const number *all_p, const number *all_s, number *all_next,
                               uint32_t count, const number *lambda, double time, int64_t *clipped)
{
    const number *p = lane_rows(all_p), *s = lane_rows(all_s);
    number *next = lane_rows(all_next);
    const uint32_t *links = lane_links(m);
    const warp_slots slots = slots_of_warp(m, count, 1);
    held_brick here, ahead = hold_brick(m, links, slots.from, slots.last);
    held_row row, s_row, row_ahead = held_of(p, ahead.slot), s_ahead = held_of(s, ahead.slot);
    held_sides sides, sides_ahead;

    hold_sides(m, p, s, 1, &ahead, 0, &sides_ahead);
    for (uint32_t slot = slots.from; slot <= slots.last; slot += slots.stride) {
        held_row change;
        position base[DIM];

        here = ahead;
        row = row_ahead;
        s_row = s_ahead;
        ahead = hold_brick(m, links, slot + slots.stride, slots.last);
        base_of(m, &here, base);
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < HELD; i++)
            change.cell[i] = 0;
#pragma unroll
        for (int j = 0; j < DIM; j++) {
            held_lines lines;

            sides = sides_ahead;
            hold_sides(m, p, s, 1, j + 1 < DIM ? &here : &ahead, (j + 1) % DIM, &sides_ahead);
            if (j + 1 == DIM) {
                row_ahead = held_of(p, ahead.slot);
                s_ahead = held_of(s, ahead.slot);
            }
            fill_lines(j, &row, &s_row, &sides, 1, &lines);
            flux_lines(m, &lines, j, base, reread(&lambda[j]), time, &change);
        }
#pragma unroll(HELD_TOGETHER)
        for (int i = 0; i < HELD; i++) {
            const number moved = change.cell[i] + row.cell[i];

            row.cell[i] = moved < least_number() ? 0 : moved;
            if (row.cell[i] != moved)
                *clipped += gbees_fixed((double)(row.cell[i] - moved));
        }
        put_held(next, slot, row);
    }
}

#endif

/* ---- the passes, by lines or in shared memory ---- */

/* Computes S of all cells. */
GBEES_NUM void make_transverse(const gbees_setup *m, const number *p, number *s, uint32_t count, const number *lambda,
                               double time)
{
#if GBEES_LINES
    transverse_pass_lines(m, p, s, count, lambda, time);
#else
    transverse_pass(m, p, s, count, lambda, time);
#endif
}

/* Computes the new density; returns the clipped mass of the lane's cells, in units of 2^-60. */
GBEES_NUM int64_t apply_fluxes(const gbees_setup *m, const number *p, const number *s, number *next, uint32_t count,
                               const number *lambda, double time)
{
#if GBEES_LINES
    BLOCK_LOCAL int64_t clips[BLOCK_WARPS][WARP_SIZE];
    int64_t *clipped = &clips[block_warp()][warp_lane()];

    *clipped = 0;
    flux_pass_lines(m, p, s, next, count, lambda, time, clipped);
    return *clipped;
#else
    const ctu_rows rows = {p, s};

    return flux_pass(m, &rows, next, count, lambda, time);
#endif
}

#endif
