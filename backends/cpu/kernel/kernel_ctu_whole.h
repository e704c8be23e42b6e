/* kernel_ctu_whole.h - the two passes of ctu along axes whose planes are whole vectors: all axes from three
 * dimensions on.  A template: see kernel.c.
 *
 * A column of vectors is read from the rows of a brick and its neighbours, their lanes traded on the way
 * (kernel_split.h), and what changes (kernel_ctu_column.h) is added to the sums as it comes: nothing lies in memory
 * between.
 */

#ifndef GBEES_CPU_CTU_WHOLE
#define GBEES_CPU_CTU_WHOLE
/* Longer edges go the way of planes that are no whole vectors. */
INLINE int takes_columns(int lanes, int vector, int edge)
{
    return lanes % vector == 0 && edge <= 4;
}
#endif

INLINE const GBEES_REAL *GBEES_REAL_FN(row_of)(const void *rows, uint32_t slot)
{
    return (const GBEES_REAL *)rows + (size_t)slot * 64;
}

/* Vectors of a row that are a column: its planes are told apart by the axis's bits of a vector's number, or those
 * that they trade places with; the other bits tell columns apart. */
INLINE int GBEES_REAL_FN(plane_bit)(int b, int shift, int log2_edge)
{
    return (shift + b < LOG2_LANES ? GBEES_REAL_FN(partner)(shift + b, shift, log2_edge) : shift + b) - LOG2_LANES;
}

INLINE int GBEES_REAL_FN(plane_vector)(int plane, int shift, int log2_edge)
{
    int vector = 0;

#pragma GCC unroll 2
    for (int b = 0; b < log2_edge; b++)
        vector |= (plane >> b & 1) << GBEES_REAL_FN(plane_bit)(b, shift, log2_edge);
    return vector;
}

INLINE int GBEES_REAL_FN(column_vector)(int column, int shift, int log2_edge)
{
    const int planes = GBEES_REAL_FN(plane_vector)((1 << log2_edge) - 1, shift, log2_edge);
    int vector = 0, at = 0;

#pragma GCC unroll 6
    for (int b = 0; b < 6 - LOG2_LANES; b++)
        if (!(planes >> b & 1))
            vector |= (column >> at++ & 1) << b;
    return vector;
}

INLINE void GBEES_REAL_FN(exchange_planes)(GBEES_REAL_FN(vector) * v, int shift, int log2_edge)
{
    if (log2_edge > 0 && shift < LOG2_LANES)
#pragma GCC unroll 2
        for (int k = 0; k < 1 << log2_edge; k += 2)
            GBEES_REAL_FN(exchange)(&v[k], &v[k + 1], shift);
    if (log2_edge > 1 && shift + 1 < LOG2_LANES)
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++)
            GBEES_REAL_FN(exchange)(&v[k], &v[k + 2], shift + 1);
}

/* In the order of its planes or in the opposite one. */
INLINE void GBEES_REAL_FN(read_column)(const GBEES_REAL *row, int column, int shift, int log2_edge, int falls,
                                       GBEES_REAL_FN(vector) * plane)
{
    const int edge = 1 << log2_edge, first = GBEES_REAL_FN(column_vector)(column, shift, log2_edge);
    GBEES_REAL_FN(vector) v[4];

#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        v[k] = GBEES_REAL_FN(load)(row + (first | GBEES_REAL_FN(plane_vector)(k, shift, log2_edge)) * LANES);
    GBEES_REAL_FN(exchange_planes)(v, shift, log2_edge);
#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        plane[falls ? edge - 1 - k : k] = v[k];
}

/* The way back, added to what the row holds. */
INLINE void GBEES_REAL_FN(add_column)(GBEES_REAL *row, int column, int shift, int log2_edge, int falls,
                                      const GBEES_REAL_FN(vector) * plane)
{
    const int edge = 1 << log2_edge, first = GBEES_REAL_FN(column_vector)(column, shift, log2_edge);
    GBEES_REAL_FN(vector) v[4];

#pragma GCC unroll 4
    for (int k = 0; k < edge; k++)
        v[k] = plane[falls ? edge - 1 - k : k];
    GBEES_REAL_FN(exchange_planes)(v, shift, log2_edge);
#pragma GCC unroll 4
    for (int k = 0; k < edge; k++) {
        GBEES_REAL *at = row + (first | GBEES_REAL_FN(plane_vector)(k, shift, log2_edge)) * LANES;

        GBEES_REAL_FN(store)(at, GBEES_REAL_FN(load)(at) + v[k]);
    }
}

/* Asks memory for the lines of a row that have cells of planes [from, to). */
INLINE void GBEES_REAL_FN(prefetch_planes)(const GBEES_REAL *row, int from, int to, int shift, int log2_edge)
{
    const int line = 64 / (int)sizeof *row, planes = line >> shift ? line >> shift : 1;

    for (int at = 0; at < 64; at += line) {
        const int plane = at >> shift & ((1 << log2_edge) - 1);

        if (plane < to && plane + planes > from)
            __builtin_prefetch(row + at);
    }
}

/* The nearest planes of a neighbour: of the one upwind its last ones along the flow, else its first ones. */
INLINE void GBEES_REAL_FN(prefetch_nearest)(const GBEES_REAL *row, int planes, int upper, int shift, int log2_edge)
{
    const int edge = 1 << log2_edge, some = planes < edge ? planes : edge;

    GBEES_REAL_FN(prefetch_planes)(row, upper ? 0 : edge - some, upper ? some : edge, shift, log2_edge);
}

/* A brick's own row, the first time that a block asks for it. */
INLINE void GBEES_REAL_FN(prefetch_own)(const GBEES_REAL *row, int axis)
{
    if (axis == 0)
        GBEES_REAL_FN(prefetch_planes)(row, 0, 1, 0, 0);
}

/* ---- pass 1 --------------------------------------------------------------------------------------------------- */

INLINE void GBEES_REAL_FN(transverse_one_way)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                              const kernel_ways *ways, GBEES_REAL half_lambda, int falls, int shift,
                                              int log2_edge)
{
    const int edge = 1 << log2_edge, lanes = 64 >> log2_edge, way = falls ? KERNEL_FALLING : KERNEL_RISING;
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < ways->count[way]; i++) {
        const int b = ways->brick[way][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways->brick[way][i + CTU_AHEAD]];
        const GBEES_REAL *beside = GBEES_REAL_FN(row_of)(c->p, upwind[slot]);

        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, upwind[next]), 1, falls, shift, log2_edge);
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->p, next), axis);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], falls, edge, lanes, u);
#pragma GCC unroll 2
        for (int w = 0; w < lanes / LANES; w++) {
            GBEES_REAL_FN(vector) side[4], cell[5], change[4];

            GBEES_REAL_FN(read_column)(beside, w, shift, log2_edge, falls, side);
            cell[0] = side[edge - 1];
            GBEES_REAL_FN(read_column)(GBEES_REAL_FN(row_of)(c->p, slot), w, shift, log2_edge, falls, cell + 1);
            GBEES_REAL_FN(transverse_along)
            (cell, u + (falls ? (edge - 1) * lanes : 0) + w * LANES, falls ? -lanes : lanes, half_lambda, edge,
             change);
            GBEES_REAL_FN(add_column)(block->sum[b], w, shift, log2_edge, falls, change);
        }
    }
}

INLINE void GBEES_REAL_FN(transverse_other)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                            const kernel_ways *ways, GBEES_REAL half_lambda, int shift, int log2_edge)
{
    const int edge = 1 << log2_edge, lanes = 64 >> log2_edge;
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < ways->count[KERNEL_EITHER]; i++) {
        const int b = ways->brick[KERNEL_EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways->brick[KERNEL_EITHER][i + CTU_AHEAD]];

        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, lower[next]), 1, 0, shift, log2_edge);
        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, upper[next]), 1, 1, shift, log2_edge);
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->p, next), axis);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], 0, edge + 1, lanes, u);
#pragma GCC unroll 2
        for (int w = 0; w < lanes / LANES; w++) {
            GBEES_REAL_FN(vector) side[4], cell[6], change[4];

            GBEES_REAL_FN(read_column)(GBEES_REAL_FN(row_of)(c->p, lower[slot]), w, shift, log2_edge, 0, side);
            cell[0] = side[edge - 1];
            GBEES_REAL_FN(read_column)(GBEES_REAL_FN(row_of)(c->p, slot), w, shift, log2_edge, 0, cell + 1);
            GBEES_REAL_FN(read_column)(GBEES_REAL_FN(row_of)(c->p, upper[slot]), w, shift, log2_edge, 0, side);
            cell[edge + 1] = side[0];
            GBEES_REAL_FN(transverse_either)
            (cell, u + w * LANES, lanes, half_lambda, c->divergence, edge, change);
            GBEES_REAL_FN(add_column)(block->sum[b], w, shift, log2_edge, 0, change);
        }
    }
}

INLINE void GBEES_REAL_FN(transverse_whole)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                            GBEES_REAL half_lambda, int shift, int log2_edge)
{
    kernel_ways ways;

    tell_ways(c, block->slots, block->bricks, axis, c->divergence, &ways);
    GBEES_REAL_FN(transverse_one_way)(c, axis, block, &ways, half_lambda, 0, shift, log2_edge);
    GBEES_REAL_FN(transverse_one_way)(c, axis, block, &ways, -half_lambda, 1, shift, log2_edge);
    GBEES_REAL_FN(transverse_other)(c, axis, block, &ways, half_lambda, shift, log2_edge);
}

/* ---- pass 2 --------------------------------------------------------------------------------------------------- */

/* The rows that an axis asks for, along the flow: P of the second neighbour, which counts where the edge is 1, of the
 * neighbour, the brick, the other neighbour and its other one; S of the three in the middle. */
typedef struct GBEES_REAL_FN(rows) {
    const GBEES_REAL *p[5], *s[3];
} GBEES_REAL_FN(rows);

INLINE GBEES_REAL_FN(rows)
    GBEES_REAL_FN(rows_of)(const kernel_context *c, uint32_t slot, int axis, int falls, int log2_edge)
{
    const uint32_t *before = c->g->neighbor[2 * axis + falls], *after = c->g->neighbor[2 * axis + !falls];
    const uint32_t near = before[slot], far = after[slot];

    return (GBEES_REAL_FN(rows)){
        .p = {GBEES_REAL_FN(row_of)(c->p, log2_edge ? 0 : before[near]), GBEES_REAL_FN(row_of)(c->p, near),
              GBEES_REAL_FN(row_of)(c->p, slot), GBEES_REAL_FN(row_of)(c->p, far),
              GBEES_REAL_FN(row_of)(c->p, log2_edge ? 0 : after[far])},
        .s = {GBEES_REAL_FN(row_of)(c->s, near), GBEES_REAL_FN(row_of)(c->s, slot), GBEES_REAL_FN(row_of)(c->s, far)},
    };
}

/* cell: two before the brick, its own, two after it; s: one before, its own, one after. */
INLINE void GBEES_REAL_FN(read_rows)(const GBEES_REAL_FN(rows) * rows, int w, int shift, int log2_edge, int falls,
                                     GBEES_REAL_FN(vector) * cell, GBEES_REAL_FN(vector) * s)
{
    const int edge = 1 << log2_edge;
    GBEES_REAL_FN(vector) side[4], second[4];

    GBEES_REAL_FN(read_column)(rows->p[0], w, shift, log2_edge, falls, second);
    GBEES_REAL_FN(read_column)(rows->p[1], w, shift, log2_edge, falls, side);
    cell[0] = edge == 1 ? second[0] : side[edge - 2];
    cell[1] = side[edge - 1];
    GBEES_REAL_FN(read_column)(rows->p[2], w, shift, log2_edge, falls, cell + 2);
    GBEES_REAL_FN(read_column)(rows->p[3], w, shift, log2_edge, falls, side);
    GBEES_REAL_FN(read_column)(rows->p[4], w, shift, log2_edge, falls, second);
    cell[edge + 2] = side[0];
    cell[edge + 3] = edge == 1 ? second[0] : side[1];
    GBEES_REAL_FN(read_column)(rows->s[0], w, shift, log2_edge, falls, side);
    s[0] = side[edge - 1];
    GBEES_REAL_FN(read_column)(rows->s[1], w, shift, log2_edge, falls, s + 1);
    GBEES_REAL_FN(read_column)(rows->s[2], w, shift, log2_edge, falls, side);
    s[edge + 1] = side[0];
}

INLINE void GBEES_REAL_FN(flux_one_way)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                        const kernel_ways *ways, GBEES_REAL lambda, int falls, int shift,
                                        int log2_edge)
{
    const int edge = 1 << log2_edge, lanes = 64 >> log2_edge, way = falls ? KERNEL_FALLING : KERNEL_RISING;
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls], *downwind = c->g->neighbor[2 * axis + !falls];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < ways->count[way]; i++) {
        const int b = ways->brick[way][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways->brick[way][i + CTU_AHEAD]];
        const GBEES_REAL_FN(rows) rows = GBEES_REAL_FN(rows_of)(c, slot, axis, falls, log2_edge);

        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, upwind[next]), 2, falls, shift, log2_edge);
        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->s, upwind[next]), 1, falls, shift, log2_edge);
        GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, downwind[next]), 1, !falls, shift, log2_edge);
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->p, next), axis);
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->s, next), axis);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], falls - 1, edge + 2, lanes, u);
#pragma GCC unroll 2
        for (int w = 0; w < lanes / LANES; w++) {
            GBEES_REAL_FN(vector) cell[8], s[6], change[4];

            GBEES_REAL_FN(read_rows)(&rows, w, shift, log2_edge, falls, cell, s);
            GBEES_REAL_FN(flux_along)
            (cell, s, u + (falls ? (edge + 1) * lanes : 0) + w * LANES, falls ? -lanes : lanes, lambda, edge, change);
            GBEES_REAL_FN(add_column)(block->sum[b], w, shift, log2_edge, falls, change);
        }
    }
}

INLINE void GBEES_REAL_FN(flux_other)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                      const kernel_ways *ways, GBEES_REAL lambda, int shift, int log2_edge)
{
    const int edge = 1 << log2_edge, lanes = 64 >> log2_edge;
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < ways->count[KERNEL_EITHER]; i++) {
        const int b = ways->brick[KERNEL_EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways->brick[KERNEL_EITHER][i + CTU_AHEAD]];
        const GBEES_REAL_FN(rows) rows = GBEES_REAL_FN(rows_of)(c, slot, axis, 0, log2_edge);

        for (int upper = 0; upper < 2; upper++) {
            const uint32_t beside = c->g->neighbor[2 * axis + upper][next];

            GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->p, beside), 2, upper, shift, log2_edge);
            GBEES_REAL_FN(prefetch_nearest)(GBEES_REAL_FN(row_of)(c->s, beside), 1, upper, shift, log2_edge);
        }
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->p, next), axis);
        GBEES_REAL_FN(prefetch_own)(GBEES_REAL_FN(row_of)(c->s, next), axis);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], -1, edge + 3, lanes, u);
#pragma GCC unroll 2
        for (int w = 0; w < lanes / LANES; w++) {
            GBEES_REAL_FN(vector) cell[8], s[6], change[4];

            GBEES_REAL_FN(read_rows)(&rows, w, shift, log2_edge, 0, cell, s);
            GBEES_REAL_FN(flux_either)(cell, s, u + w * LANES, lanes, lambda, edge, change);
            GBEES_REAL_FN(add_column)(block->sum[b], w, shift, log2_edge, 0, change);
        }
    }
}

INLINE void GBEES_REAL_FN(flux_whole)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                      GBEES_REAL lambda, int shift, int log2_edge)
{
    kernel_ways ways;

    tell_ways(c, block->slots, block->bricks, axis, 0, &ways);
    GBEES_REAL_FN(flux_one_way)(c, axis, block, &ways, lambda, 0, shift, log2_edge);
    GBEES_REAL_FN(flux_one_way)(c, axis, block, &ways, -lambda, 1, shift, log2_edge);
    GBEES_REAL_FN(flux_other)(c, axis, block, &ways, lambda, shift, log2_edge);
}
