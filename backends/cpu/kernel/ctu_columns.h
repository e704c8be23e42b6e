/* ctu_columns.h - the passes of ctu along an axis whose planes are whole vectors: all axes from three dimensions on.
 *
 * Without this way beside ctu_planes.h ctu would take 25 to 55 % longer.
 *
 * A column, one vector of each plane, is read from the rows of a brick and its neighbours and transposed in registers
 * (to_planes.h); its changes (ctu_fluxes.h) are added to the block's sums from registers: planes are never in memory.
 */
#ifndef GBEES_CPU_CTU_COLUMNS_H
#define GBEES_CPU_CTU_COLUMNS_H

#include "ctu_block.h"
#include "ctu_fluxes.h"
#include "to_planes.h"

/* Whether an axis is computed by columns. */
INLINE int has_columns(brick_axis a)
{
    return cells_of_plane(a) % LANES == 0 && a.log2_edge <= 2;
}

/* ---- the columns of a row -------------------------------------------------------------------------------------- */

/* The bit of a vector's number in its row that is bit b of the number of its plane: the axis's own, or the one with
 * which that is exchanged.  The other bits are the number of its column. */
INLINE int plane_bit(int b, brick_axis a)
{
    return (a.shift + b < LOG2_LANES ? partner_bit(a.shift + b, a) : a.shift + b) - LOG2_LANES;
}

/* The number of the first vector of a plane, and of the first vector of a column: ORed, that of a vector of both. */
INLINE int plane_vector(int plane, brick_axis a)
{
    int number = 0;

#pragma GCC unroll 2
    for (int b = 0; b < a.log2_edge; b++)
        number |= (plane >> b & 1) << plane_bit(b, a);
    return number;
}

INLINE int column_vector(int column, brick_axis a)
{
    const int planes = plane_vector(edge_of(a) - 1, a);
    int number = 0, at = 0;

#pragma GCC unroll 6
    for (int b = 0; b < 6 - LOG2_LANES; b++)
        if (!(planes >> b & 1))
            number |= (column >> at++ & 1) << b;
    return number;
}

/* Transposes a column; twice is the identity. */
INLINE void exchange_planes(vector *v, brick_axis a)
{
    if (a.log2_edge > 0 && a.shift < LOG2_LANES)
#pragma GCC unroll 2
        for (int k = 0; k < edge_of(a); k += 2)
            exchange_lane_bit(&v[k], &v[k + 1], a.shift);
    if (a.log2_edge > 1 && a.shift + 1 < LOG2_LANES)
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++)
            exchange_lane_bit(&v[k], &v[k + 2], a.shift + 1);
}

/* Sets plane[edge] to column w of a row, in the order of its planes, or in the opposite order if `falls`. */
INLINE void read_column(const real *row, int w, brick_axis a, int falls, vector *plane)
{
    const int edge = edge_of(a), first = column_vector(w, a);
    vector v[4];

#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        v[k] = load(row + (first | plane_vector(k, a)) * LANES);
    exchange_planes(v, a);
#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        plane[falls ? edge - 1 - k : k] = v[k];
}

/* Adds plane[edge] to column w of a row. */
INLINE void add_column(real *row, int w, brick_axis a, int falls, const vector *plane)
{
    const int edge = edge_of(a), first = column_vector(w, a);
    vector v[4];

#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        v[k] = plane[falls ? edge - 1 - k : k];
    exchange_planes(v, a);
#pragma GCC unroll 4
    for (int k = 0; k < edge; k++) {
        real *at = row + (first | plane_vector(k, a)) * LANES;

        store(at, load(at) + v[k]);
    }
}

/* ---- prefetches ------------------------------------------------------------------------------------------------ */

/* Prefetches the cache lines of a row that have cells of planes from .. to - 1. */
INLINE void prefetch_planes(const real *row, int from, int to, brick_axis a)
{
    const int line = 64 / (int)sizeof *row, planes = line >> a.shift ? line >> a.shift : 1;

    for (int at = 0; at < 64; at += line) {
        const int plane = at >> a.shift & (edge_of(a) - 1);

        if (plane < to && plane + planes > from)
            __builtin_prefetch(row + at);
    }
}

/* Prefetches the `planes` planes of a neighbour that are nearest to the brick.  upper: it is the upper neighbour. */
INLINE void prefetch_nearest(const real *row, int planes, int upper, brick_axis a)
{
    const int edge = edge_of(a), some = planes < edge ? planes : edge;

    prefetch_planes(row, upper ? 0 : edge - some, upper ? some : edge, a);
}

/* Prefetches a brick's own row if the axis is the first one; for later ones it is in the cache. */
INLINE void prefetch_own(const real *row, int axis)
{
    if (axis == 0)
        prefetch_planes(row, 0, 1, (brick_axis){64, 0, 0});
}

/* ---- transverse terms ------------------------------------------------------------------------------------------ */

/* Adds those of bricks in which all flow is up, or all is down (`falls`): only upwind neighbours are read. */
INLINE void transverse_one_way(ctu_block *block, real half_lambda, int falls, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a), way = falls ? FALLING : RISING;
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls];
    _Alignas(64) real u[FACE_VALUES];

    for (int i = 0; i < block->count[way]; i++) {
        const int b = block->brick[way][i];
        const uint32_t slot = block->slots[b], next = block->slots[block->brick[way][i + CTU_AHEAD]];
        const real *beside = row_of(c->rows.p, upwind[slot], a);

        prefetch_nearest(row_of(c->rows.p, upwind[next], a), 1, falls, a);
        prefetch_own(row_of(c->rows.p, next, a), axis);
        velocities(c, axis, &block->base[b], falls, edge, plane_cells, u);
#pragma GCC unroll 2
        for (int w = 0; w < plane_cells / LANES; w++) {
            vector side[4], cell[5], change[4];

            read_column(beside, w, a, falls, side);
            cell[0] = side[edge - 1];
            read_column(row_of(c->rows.p, slot, a), w, a, falls, cell + 1);
            transverse_along(cell, u + (falls ? (edge - 1) * plane_cells : 0) + w * LANES,
                             falls ? -plane_cells : plane_cells, half_lambda, edge, change);
            add_column(block->sum[b], w, a, falls, change);
        }
    }
}

/* Adds those of the other bricks. */
INLINE void transverse_either_way(ctu_block *block, real half_lambda, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a);
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) real u[FACE_VALUES];

    for (int i = 0; i < block->count[EITHER]; i++) {
        const int b = block->brick[EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[block->brick[EITHER][i + CTU_AHEAD]];

        prefetch_nearest(row_of(c->rows.p, lower[next], a), 1, 0, a);
        prefetch_nearest(row_of(c->rows.p, upper[next], a), 1, 1, a);
        prefetch_own(row_of(c->rows.p, next, a), axis);
        velocities(c, axis, &block->base[b], 0, edge + 1, plane_cells, u);
#pragma GCC unroll 2
        for (int w = 0; w < plane_cells / LANES; w++) {
            vector side[4], cell[6], change[4];

            read_column(row_of(c->rows.p, lower[slot], a), w, a, 0, side);
            cell[0] = side[edge - 1];
            read_column(row_of(c->rows.p, slot, a), w, a, 0, cell + 1);
            read_column(row_of(c->rows.p, upper[slot], a), w, a, 0, side);
            cell[edge + 1] = side[0];
            transverse_either(cell, u + w * LANES, plane_cells, half_lambda, edge, change);
            add_column(block->sum[b], w, a, 0, change);
        }
    }
}

INLINE void transverse_columns(ctu_block *block, real half_lambda, brick_axis a)
{
    sort_by_direction(block);
    transverse_one_way(block, half_lambda, 0, a);
    transverse_one_way(block, -half_lambda, 1, a);
    transverse_either_way(block, half_lambda, a);
}

/* ---- fluxes ---------------------------------------------------------------------------------------------------- */

/* The rows that a brick's fluxes along an axis need, in the direction of the flow: P of the second neighbour (if the
 * edge is 1), the neighbour, the brick, the other neighbour and the one beyond it; S of the three in the middle. */
typedef struct flux_rows {
    const real *p[5], *s[3];
} flux_rows;

INLINE flux_rows find_flux_rows(const ctu_block *block, uint32_t slot, int falls, brick_axis a)
{
    const kernel_context *c = block->c;
    const uint32_t *before = c->g->neighbor[2 * block->axis + falls],
                   *after = c->g->neighbor[2 * block->axis + !falls];
    const uint32_t near = before[slot], far = after[slot];

    return (flux_rows){
        .p = {row_of(c->rows.p, a.log2_edge ? 0 : before[near], a), row_of(c->rows.p, near, a),
              row_of(c->rows.p, slot, a), row_of(c->rows.p, far, a),
              row_of(c->rows.p, a.log2_edge ? 0 : after[far], a)},
        .s = {row_of(c->rows.s, near, a), row_of(c->rows.s, slot, a), row_of(c->rows.s, far, a)},
    };
}

/* Sets cell[edge + 4] to P of two cells before the brick, its own, and two after it; s[edge + 2] to S of one before
 * it, its own, and one after it. */
INLINE void read_flux_column(const flux_rows *rows, int w, brick_axis a, int falls, vector *cell, vector *s)
{
    const int edge = edge_of(a);
    vector side[4], second[4];

    read_column(rows->p[0], w, a, falls, second);
    read_column(rows->p[1], w, a, falls, side);
    cell[0] = edge == 1 ? second[0] : side[edge - 2];
    cell[1] = side[edge - 1];
    read_column(rows->p[2], w, a, falls, cell + 2);
    read_column(rows->p[3], w, a, falls, side);
    read_column(rows->p[4], w, a, falls, second);
    cell[edge + 2] = side[0];
    cell[edge + 3] = edge == 1 ? second[0] : side[1];
    read_column(rows->s[0], w, a, falls, side);
    s[0] = side[edge - 1];
    read_column(rows->s[1], w, a, falls, s + 1);
    read_column(rows->s[2], w, a, falls, side);
    s[edge + 1] = side[0];
}

/* Adds those of bricks in which all flow is up, or all is down (`falls`). */
INLINE void flux_one_way(ctu_block *block, real lambda, int falls, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a), way = falls ? FALLING : RISING;
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls], *downwind = c->g->neighbor[2 * axis + !falls];
    _Alignas(64) real u[FACE_VALUES];

    for (int i = 0; i < block->count[way]; i++) {
        const int b = block->brick[way][i];
        const uint32_t slot = block->slots[b], next = block->slots[block->brick[way][i + CTU_AHEAD]];
        const flux_rows rows = find_flux_rows(block, slot, falls, a);

        prefetch_nearest(row_of(c->rows.p, upwind[next], a), 2, falls, a);
        prefetch_nearest(row_of(c->rows.s, upwind[next], a), 1, falls, a);
        prefetch_nearest(row_of(c->rows.p, downwind[next], a), 1, !falls, a);
        prefetch_own(row_of(c->rows.p, next, a), axis);
        prefetch_own(row_of(c->rows.s, next, a), axis);
        velocities(c, axis, &block->base[b], falls - 1, edge + 2, plane_cells, u);
#pragma GCC unroll 2
        for (int w = 0; w < plane_cells / LANES; w++) {
            vector cell[8], s[6], change[4];

            read_flux_column(&rows, w, a, falls, cell, s);
            flux_along(cell, s, u + (falls ? (edge + 1) * plane_cells : 0) + w * LANES,
                       falls ? -plane_cells : plane_cells, lambda, edge, change);
            add_column(block->sum[b], w, a, falls, change);
        }
    }
}

/* Adds those of the other bricks. */
INLINE void flux_either_way(ctu_block *block, real lambda, brick_axis a)
{
    const kernel_context *c = block->c;
    const int axis = block->axis, edge = edge_of(a), plane_cells = cells_of_plane(a);
    _Alignas(64) real u[FACE_VALUES];

    for (int i = 0; i < block->count[EITHER]; i++) {
        const int b = block->brick[EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[block->brick[EITHER][i + CTU_AHEAD]];
        const flux_rows rows = find_flux_rows(block, slot, 0, a);

        for (int upper = 0; upper < 2; upper++) {
            const uint32_t beside = c->g->neighbor[2 * axis + upper][next];

            prefetch_nearest(row_of(c->rows.p, beside, a), 2, upper, a);
            prefetch_nearest(row_of(c->rows.s, beside, a), 1, upper, a);
        }
        prefetch_own(row_of(c->rows.p, next, a), axis);
        prefetch_own(row_of(c->rows.s, next, a), axis);
        velocities(c, axis, &block->base[b], -1, edge + 3, plane_cells, u);
#pragma GCC unroll 2
        for (int w = 0; w < plane_cells / LANES; w++) {
            vector cell[8], s[6], change[4];

            read_flux_column(&rows, w, a, 0, cell, s);
            flux_either(cell, s, u + w * LANES, plane_cells, lambda, edge, change);
            add_column(block->sum[b], w, a, 0, change);
        }
    }
}

INLINE void flux_by_columns(ctu_block *block, real lambda, brick_axis a)
{
    sort_by_direction(block);
    flux_one_way(block, lambda, 0, a);
    flux_one_way(block, -lambda, 1, a);
    flux_either_way(block, lambda, a);
}

#endif
