/* kernel_ctu_pair.h - the two passes of ctu across axes along which a brick has two cells, where all flows one way. A
 * template: see kernel.c.
 *
 * That is most of the work in six dimensions.  A column of two planes is two vectors of a row, whose lanes are traded
 * as they are read (kernel_split.h), and what changes is added to the sums as it comes: nothing lies in memory
 * between.  Same bits as kernel_ctu_column.h.
 */

#ifndef GBEES_CPU_CTU_PAIR
#define GBEES_CPU_CTU_PAIR
enum { PAIR_LANES = 32 }; /* cells of a plane; whole vectors everywhere */
#endif

/* Along the flow. */
typedef struct GBEES_REAL_FN(pair) {
    GBEES_REAL_FN(vector) first, second;
} GBEES_REAL_FN(pair);

/* Where column w of a row begins, and how far its other vector is. */
INLINE int GBEES_REAL_FN(pair_start)(int w, int shift)
{
    const int at = w * LANES, stride = 1 << shift;

    return stride < LANES ? 2 * at : at / stride * 2 * stride + at % stride;
}

INLINE int GBEES_REAL_FN(pair_apart)(int shift)
{
    return 1 << shift < LANES ? LANES : 1 << shift;
}

INLINE GBEES_REAL_FN(pair) GBEES_REAL_FN(read_pair)(const GBEES_REAL *row, int w, int shift, int falls)
{
    const int at = GBEES_REAL_FN(pair_start)(w, shift);
    GBEES_REAL_FN(vector) low = GBEES_REAL_FN(load)(row + at);
    GBEES_REAL_FN(vector) high = GBEES_REAL_FN(load)(row + at + GBEES_REAL_FN(pair_apart)(shift));

    if (1 << shift < LANES)
        GBEES_REAL_FN(exchange)(&low, &high, shift);
    return falls ? (GBEES_REAL_FN(pair)){high, low} : (GBEES_REAL_FN(pair)){low, high};
}

INLINE void GBEES_REAL_FN(add_pair)(GBEES_REAL *row, int w, int shift, int falls, GBEES_REAL_FN(pair) change)
{
    const int at = GBEES_REAL_FN(pair_start)(w, shift), apart = GBEES_REAL_FN(pair_apart)(shift);
    GBEES_REAL_FN(vector) low = falls ? change.second : change.first, high = falls ? change.first : change.second;

    if (1 << shift < LANES)
        GBEES_REAL_FN(exchange)(&low, &high, shift);
    GBEES_REAL_FN(store)(row + at, GBEES_REAL_FN(load)(row + at) + low);
    GBEES_REAL_FN(store)(row + at + apart, GBEES_REAL_FN(load)(row + at + apart) + high);
}

/* upwind, own: rows of P; u: at the brick's faces, the outer one upwind first; sum: row of S. */
INLINE void GBEES_REAL_FN(transverse_pair)(const GBEES_REAL *upwind, const GBEES_REAL *own, const GBEES_REAL *u,
                                           GBEES_REAL *sum, GBEES_REAL half_lambda, int falls, int shift)
{
    half_lambda = falls ? -half_lambda : half_lambda;
#pragma GCC unroll 8
    for (int w = 0; w < PAIR_LANES / LANES; w++) {
        const GBEES_REAL_FN(vector) behind = GBEES_REAL_FN(read_pair)(upwind, w, shift, falls).second;
        const GBEES_REAL_FN(pair) p = GBEES_REAL_FN(read_pair)(own, w, shift, falls);
        const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(load)(u + (falls ? PAIR_LANES : 0) + w * LANES);
        const GBEES_REAL_FN(vector) inside = GBEES_REAL_FN(load)(u + (falls ? 0 : PAIR_LANES) + w * LANES);

        GBEES_REAL_FN(add_pair)
        (sum, w, shift, falls,
         (GBEES_REAL_FN(pair)){half_lambda * (in * (p.first - behind)),
                               half_lambda * (inside * (p.second - p.first))});
    }
}

/* Rows of P and S upwind, of the brick, and of P downwind; u: four planes of faces, with the two nearest upwind and
 * the two others. */
INLINE void GBEES_REAL_FN(flux_pair)(const GBEES_REAL *p_upwind, const GBEES_REAL *p_own,
                                     const GBEES_REAL *p_downwind, const GBEES_REAL *s_upwind,
                                     const GBEES_REAL *s_own, const GBEES_REAL *u, GBEES_REAL *sum, GBEES_REAL lambda,
                                     int falls, int shift)
{
    const GBEES_REAL half = (GBEES_REAL)0.5, half_lambda = half * (falls ? -lambda : lambda);
    const GBEES_REAL_FN(vector) nothing = {0};

    lambda = falls ? -lambda : lambda;
#pragma GCC unroll 8
    for (int w = 0; w < PAIR_LANES / LANES; w++) {
        const GBEES_REAL_FN(pair) up = GBEES_REAL_FN(read_pair)(p_upwind, w, shift, falls);
        const GBEES_REAL_FN(pair) own = GBEES_REAL_FN(read_pair)(p_own, w, shift, falls);
        const GBEES_REAL_FN(pair) s = GBEES_REAL_FN(read_pair)(s_own, w, shift, falls);
        const GBEES_REAL_FN(vector) next = GBEES_REAL_FN(read_pair)(p_downwind, w, shift, falls).first;
        const GBEES_REAL_FN(vector) s_up = GBEES_REAL_FN(read_pair)(s_upwind, w, shift, falls).second;
        const GBEES_REAL_FN(vector) cell[4] = {up.second, own.first, own.second, next};
        const GBEES_REAL_FN(vector) transverse[3] = {s_up, s.first, s.second};
        GBEES_REAL_FN(vector) upwind_d = up.second - up.first, flux[3];
        GBEES_REAL_FN(vector)
        inflow = half_lambda * GBEES_REAL_FN(load)(u + (falls ? 3 * PAIR_LANES : 0) + w * LANES);

        inflow = GBEES_REAL_FN(highest)(inflow, nothing);
#pragma GCC unroll 3
        for (int f = 0; f < 3; f++) {
            const GBEES_REAL_FN(vector) here =
                GBEES_REAL_FN(load)(u + (falls ? 2 - f : f + 1) * PAIR_LANES + w * LANES);
            const GBEES_REAL_FN(vector) part = half_lambda * here, change = cell[f + 1] - cell[f];
            const GBEES_REAL_FN(vector) donor = cell[f] - transverse[f];
            const GBEES_REAL_FN(vector) second = (half - part) * GBEES_REAL_FN(limited)(change, upwind_d);

            flux[f] = here * (donor + inflow * upwind_d + second);
            inflow = part;
            upwind_d = change;
        }
        GBEES_REAL_FN(add_pair)
        (sum, w, shift, falls, (GBEES_REAL_FN(pair)){lambda * (flux[0] - flux[1]), lambda * (flux[1] - flux[2])});
    }
}

/* Either way: all lies as it is, from the lowest plane up.  u: at the brick's faces. */
INLINE void GBEES_REAL_FN(transverse_pair_either)(const GBEES_REAL *p_below, const GBEES_REAL *p_own,
                                                  const GBEES_REAL *p_above, const GBEES_REAL *u, GBEES_REAL *sum,
                                                  GBEES_REAL half_lambda, int divergence, int shift)
{
    const GBEES_REAL_FN(vector) nothing = {0};

#pragma GCC unroll 8
    for (int w = 0; w < PAIR_LANES / LANES; w++) {
        const GBEES_REAL_FN(pair) own = GBEES_REAL_FN(read_pair)(p_own, w, shift, 0);
        const GBEES_REAL_FN(vector) cell[4] = {GBEES_REAL_FN(read_pair)(p_below, w, shift, 0).second, own.first,
                                               own.second, GBEES_REAL_FN(read_pair)(p_above, w, shift, 0).first};
        GBEES_REAL_FN(vector) below = GBEES_REAL_FN(load)(u + w * LANES), change[2];

#pragma GCC unroll 2
        for (int q = 0; q < 2; q++) {
            const GBEES_REAL_FN(vector) above = GBEES_REAL_FN(load)(u + (q + 1) * PAIR_LANES + w * LANES);
            const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(below, nothing);
            const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(above, nothing);

            change[q] = half_lambda * (in * (cell[q + 1] - cell[q]) + out * (cell[q + 2] - cell[q + 1]));
            if (divergence)
                change[q] += half_lambda * (above - below) * cell[q + 1];
            below = above;
        }
        GBEES_REAL_FN(add_pair)(sum, w, shift, 0, (GBEES_REAL_FN(pair)){change[0], change[1]});
    }
}

INLINE void GBEES_REAL_FN(flux_pair_either)(const GBEES_REAL *p_below, const GBEES_REAL *p_own,
                                            const GBEES_REAL *p_above, const GBEES_REAL *s_below,
                                            const GBEES_REAL *s_own, const GBEES_REAL *s_above, const GBEES_REAL *u,
                                            GBEES_REAL *sum, GBEES_REAL lambda, int shift)
{
    const GBEES_REAL half_lambda = (GBEES_REAL)0.5 * lambda;
    const GBEES_REAL_FN(vector) nothing = {0}, half = (GBEES_REAL)0.5 - nothing;

#pragma GCC unroll 8
    for (int w = 0; w < PAIR_LANES / LANES; w++) {
        const GBEES_REAL_FN(pair) low = GBEES_REAL_FN(read_pair)(p_below, w, shift, 0);
        const GBEES_REAL_FN(pair) own = GBEES_REAL_FN(read_pair)(p_own, w, shift, 0);
        const GBEES_REAL_FN(pair) high = GBEES_REAL_FN(read_pair)(p_above, w, shift, 0);
        const GBEES_REAL_FN(pair) s = GBEES_REAL_FN(read_pair)(s_own, w, shift, 0);
        const GBEES_REAL_FN(vector) cell[6] = {low.first, low.second, own.first, own.second, high.first, high.second};
        const GBEES_REAL_FN(vector) transverse[4] = {GBEES_REAL_FN(read_pair)(s_below, w, shift, 0).second, s.first,
                                                     s.second, GBEES_REAL_FN(read_pair)(s_above, w, shift, 0).first};
        GBEES_REAL_FN(vector) d_below = cell[1] - cell[0], change = cell[2] - cell[1], flux[3];
        GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(u + PAIR_LANES + w * LANES);
        GBEES_REAL_FN(vector)
        part_below = half_lambda * GBEES_REAL_FN(load)(u + w * LANES),
        part = half_lambda * here;
        GBEES_REAL_FN(vector) donor_below = cell[1] - transverse[0];

#pragma GCC unroll 3
        for (int f = 0; f < 3; f++) {
            const GBEES_REAL_FN(vector) d_above = cell[f + 3] - cell[f + 2];
            const GBEES_REAL_FN(vector) u_above = GBEES_REAL_FN(load)(u + (f + 2) * PAIR_LANES + w * LANES);
            const GBEES_REAL_FN(vector) part_above = half_lambda * u_above;
            const GBEES_REAL_FN(vector) donor_above = cell[f + 2] - transverse[f + 1];
            const GBEES_REAL_FN(lanes) up = GBEES_REAL_FN(lanes_above)(here, nothing);
            const GBEES_REAL_FN(vector) upwind_d = GBEES_REAL_FN(choose)(up, d_below, d_above);
            const GBEES_REAL_FN(vector) donor = GBEES_REAL_FN(choose)(up, donor_below, donor_above);
            const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(part_below, nothing);
            const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(part_above, nothing);
            const GBEES_REAL_FN(vector) inflow = GBEES_REAL_FN(choose)(up, in, out);
            const GBEES_REAL_FN(vector) sign = GBEES_REAL_FN(choose)(up, half, -half);
            const GBEES_REAL_FN(vector) second = (sign - part) * GBEES_REAL_FN(limited)(change, upwind_d);

            flux[f] = here * (donor + inflow * upwind_d + second);
            d_below = change, change = d_above;
            part_below = part, part = part_above;
            here = u_above;
            donor_below = donor_above;
        }
        GBEES_REAL_FN(add_pair)
        (sum, w, shift, 0, (GBEES_REAL_FN(pair)){lambda * (flux[0] - flux[1]), lambda * (flux[1] - flux[2])});
    }
}

/* ---- loops over the bricks of a block ------------------------------------------------------------------------ */

/* The lines of a row that have cells of the first plane along the flow, of the second (1), or of both (2). */
INLINE void GBEES_REAL_FN(prefetch_pair)(const GBEES_REAL *row, int which, int shift, int falls)
{
    const int line = 64 / (int)sizeof *row, high = which != falls;

    for (int at = 0; at < 2 * PAIR_LANES; at += line)
        if (which == 2 || 1 << shift < line || (at >> shift & 1) == high)
            __builtin_prefetch(row + at);
}

INLINE const GBEES_REAL *GBEES_REAL_FN(row_of)(const void *rows, uint32_t slot)
{
    return (const GBEES_REAL *)rows + (size_t)slot * 2 * PAIR_LANES;
}

INLINE void GBEES_REAL_FN(transverse_one_way)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                              const unsigned char *brick, int bricks, GBEES_REAL half_lambda,
                                              int falls, int shift)
{
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < bricks; i++) {
        const uint32_t slot = block->slots[brick[i]], next = block->slots[brick[i + CTU_AHEAD]];

        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, upwind[next]), 1, shift, falls);
        if (axis == 0)
            GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, next), 2, shift, falls);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[brick[i]], falls, 2, PAIR_LANES, u);
        GBEES_REAL_FN(transverse_pair)
        (GBEES_REAL_FN(row_of)(c->p, upwind[slot]), GBEES_REAL_FN(row_of)(c->p, slot), u, block->sum[brick[i]],
         half_lambda, falls, shift);
    }
}

INLINE void GBEES_REAL_FN(transverse_pairs)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                            GBEES_REAL half_lambda, int shift)
{
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];
    kernel_ways ways;

    tell_ways(c, block->slots, block->bricks, axis, c->divergence, &ways);
    GBEES_REAL_FN(transverse_one_way)
    (c, axis, block, ways.brick[KERNEL_RISING], ways.count[KERNEL_RISING], half_lambda, 0, shift);
    GBEES_REAL_FN(transverse_one_way)
    (c, axis, block, ways.brick[KERNEL_FALLING], ways.count[KERNEL_FALLING], half_lambda, 1, shift);
    for (int i = 0; i < ways.count[KERNEL_EITHER]; i++) {
        const int b = ways.brick[KERNEL_EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways.brick[KERNEL_EITHER][i + CTU_AHEAD]];

        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, lower[next]), 1, shift, 0);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, upper[next]), 0, shift, 0);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], 0, 3, PAIR_LANES, u);
        GBEES_REAL_FN(transverse_pair_either)
        (GBEES_REAL_FN(row_of)(c->p, lower[slot]), GBEES_REAL_FN(row_of)(c->p, slot),
         GBEES_REAL_FN(row_of)(c->p, upper[slot]), u, block->sum[b], half_lambda, c->divergence, shift);
    }
}

INLINE void GBEES_REAL_FN(flux_one_way)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                        const unsigned char *brick, int bricks, GBEES_REAL lambda, int falls,
                                        int shift)
{
    const uint32_t *upwind = c->g->neighbor[2 * axis + falls], *downwind = c->g->neighbor[2 * axis + !falls];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];

    for (int i = 0; i < bricks; i++) {
        const uint32_t slot = block->slots[brick[i]], next = block->slots[brick[i + CTU_AHEAD]];

        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, upwind[next]), 2, shift, falls);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->s, upwind[next]), 1, shift, falls);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, downwind[next]), 0, shift, falls);
        if (axis == 0) {
            GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, next), 2, shift, falls);
            GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->s, next), 2, shift, falls);
        }
        GBEES_REAL_FN(velocities)(c, axis, &block->base[brick[i]], falls - 1, 4, PAIR_LANES, u);
        GBEES_REAL_FN(flux_pair)
        (GBEES_REAL_FN(row_of)(c->p, upwind[slot]), GBEES_REAL_FN(row_of)(c->p, slot),
         GBEES_REAL_FN(row_of)(c->p, downwind[slot]), GBEES_REAL_FN(row_of)(c->s, upwind[slot]),
         GBEES_REAL_FN(row_of)(c->s, slot), u, block->sum[brick[i]], lambda, falls, shift);
    }
}

INLINE void GBEES_REAL_FN(flux_pairs)(const kernel_context *c, int axis, GBEES_REAL_FN(block) * block,
                                      GBEES_REAL lambda, int shift)
{
    const uint32_t *lower = c->g->neighbor[2 * axis], *upper = c->g->neighbor[2 * axis + 1];
    _Alignas(64) GBEES_REAL u[GBEES_REAL_FN(PLANES)];
    kernel_ways ways;

    tell_ways(c, block->slots, block->bricks, axis, 0, &ways);
    GBEES_REAL_FN(flux_one_way)
    (c, axis, block, ways.brick[KERNEL_RISING], ways.count[KERNEL_RISING], lambda, 0, shift);
    GBEES_REAL_FN(flux_one_way)
    (c, axis, block, ways.brick[KERNEL_FALLING], ways.count[KERNEL_FALLING], lambda, 1, shift);
    for (int i = 0; i < ways.count[KERNEL_EITHER]; i++) {
        const int b = ways.brick[KERNEL_EITHER][i];
        const uint32_t slot = block->slots[b], next = block->slots[ways.brick[KERNEL_EITHER][i + CTU_AHEAD]];

        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, lower[next]), 2, shift, 0);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->p, upper[next]), 2, shift, 0);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->s, lower[next]), 1, shift, 0);
        GBEES_REAL_FN(prefetch_pair)(GBEES_REAL_FN(row_of)(c->s, upper[next]), 0, shift, 0);
        GBEES_REAL_FN(velocities)(c, axis, &block->base[b], -1, 5, PAIR_LANES, u);
        GBEES_REAL_FN(flux_pair_either)
        (GBEES_REAL_FN(row_of)(c->p, lower[slot]), GBEES_REAL_FN(row_of)(c->p, slot),
         GBEES_REAL_FN(row_of)(c->p, upper[slot]), GBEES_REAL_FN(row_of)(c->s, lower[slot]),
         GBEES_REAL_FN(row_of)(c->s, slot), GBEES_REAL_FN(row_of)(c->s, upper[slot]), u, block->sum[b], lambda,
         shift);
    }
}
