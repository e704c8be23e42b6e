/* kernel_ctu_column.h - the two passes of ctu through a column of vectors: the cells of a brick one above the other,
 * with those beyond it that they ask for.  A template: see kernel.c.
 *
 * In five of six bricks nothing flows both ways along an axis.  There nothing is chosen lane by lane, and only what
 * lies upwind is asked for.  The flow down is the flow up seen from the other side: planes in the opposite order and
 * lambda negative give the same bits, as a difference or a product with its sign turned does.  `edge` is known to the
 * compiler: all of it stays in registers.
 */

/* Twice gbees_half_mc(). */
INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(limited)(GBEES_REAL_FN(vector) d, GBEES_REAL_FN(vector) up)
{
#if defined(__AVX512DQ__) && LANES == 16
    const GBEES_REAL_FN(vector) mean = (GBEES_REAL)0.5 * (d + up);
    /* The one of least magnitude, with the sign of each: they cancel where signs differ. */
    const __m512 least = _mm512_range_ps((__m512)d, (__m512)up, 2) + _mm512_range_ps((__m512)up, (__m512)d, 2);

    return (GBEES_REAL_FN(vector))_mm512_range_ps(least, (__m512)mean, 2);
#elif defined(__AVX512DQ__)
    const GBEES_REAL_FN(vector) mean = (GBEES_REAL)0.5 * (d + up);
    const __m512d least = _mm512_range_pd((__m512d)d, (__m512d)up, 2) + _mm512_range_pd((__m512d)up, (__m512d)d, 2);

    return (GBEES_REAL_FN(vector))_mm512_range_pd(least, (__m512d)mean, 2);
#else
    /* The mean, at most what both have above 0 and at least what both have below. */
    const GBEES_REAL_FN(vector) nothing = {0}, mean = (GBEES_REAL)0.25 * (d + up);
    const GBEES_REAL_FN(vector) most = GBEES_REAL_FN(highest)(GBEES_REAL_FN(lowest)(d, up), nothing);
    const GBEES_REAL_FN(vector) least = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(highest)(d, up), nothing);

    const GBEES_REAL_FN(vector) limited = GBEES_REAL_FN(highest)(GBEES_REAL_FN(lowest)(mean, most), least);

    return limited + limited;
#endif
}

/* ---- all one way ---------------------------------------------------------------------------------------------- */

/* Cells and faces along the flow; lambda is negative, and so is the stride of u, where that is down. */

/* cell: from the one upwind of the brick on; u: at the upwind faces of the brick's cells. */
INLINE void GBEES_REAL_FN(transverse_along)(const GBEES_REAL_FN(vector) * cell, const GBEES_REAL *u, int stride,
                                            GBEES_REAL half_lambda, int edge, GBEES_REAL_FN(vector) * change)
{
#pragma GCC unroll 4
    for (int at = 0; at < edge; at++)
        change[at] = half_lambda * (GBEES_REAL_FN(load)(u + at * stride) * (cell[at + 1] - cell[at]));
}

/* cell: from two upwind of the brick to one downwind; s: from one upwind on; u: from the face of that one on. */
INLINE void GBEES_REAL_FN(flux_along)(const GBEES_REAL_FN(vector) * cell, const GBEES_REAL_FN(vector) * s,
                                      const GBEES_REAL *u, int stride, GBEES_REAL lambda, int edge,
                                      GBEES_REAL_FN(vector) * change)
{
    const GBEES_REAL half = (GBEES_REAL)0.5, half_lambda = half * lambda;
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) upwind_d = cell[1] - cell[0], before = nothing;
    GBEES_REAL_FN(vector) inflow = GBEES_REAL_FN(highest)(half_lambda * GBEES_REAL_FN(load)(u), nothing);

#pragma GCC unroll 5
    for (int at = 0; at <= edge; at++) {
        const GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(u + (at + 1) * stride), part = half_lambda * here;
        const GBEES_REAL_FN(vector) d = cell[at + 2] - cell[at + 1], donor = cell[at + 1] - s[at];
        const GBEES_REAL_FN(vector) second = (half - part) * GBEES_REAL_FN(limited)(d, upwind_d);
        const GBEES_REAL_FN(vector) flux = here * (donor + inflow * upwind_d + second);

        if (at)
            change[at - 1] = lambda * (before - flux);
        inflow = part;
        upwind_d = d;
        before = flux;
    }
}

/* ---- either way ----------------------------------------------------------------------------------------------- */

/* Cells and faces from the lowest one up; one cell, two and one more on either side. */

/* u: from the brick's lowest face on. */
INLINE void GBEES_REAL_FN(transverse_either)(const GBEES_REAL_FN(vector) * cell, const GBEES_REAL *u, int lanes,
                                             GBEES_REAL half_lambda, int divergence, int edge,
                                             GBEES_REAL_FN(vector) * change)
{
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) below = GBEES_REAL_FN(load)(u), lower = cell[1] - cell[0];

#pragma GCC unroll 4
    for (int at = 0; at < edge; at++) {
        const GBEES_REAL_FN(vector) above = GBEES_REAL_FN(load)(u + (at + 1) * lanes);
        const GBEES_REAL_FN(vector) upper = cell[at + 2] - cell[at + 1];
        const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(below, nothing);
        const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(above, nothing);

        change[at] = half_lambda * (in * lower + out * upper);
        if (divergence)
            change[at] += half_lambda * (above - below) * cell[at + 1];
        below = above;
        lower = upper;
    }
}

/* u: from one face below the brick's lowest on. */
INLINE void GBEES_REAL_FN(flux_either)(const GBEES_REAL_FN(vector) * cell, const GBEES_REAL_FN(vector) * s,
                                       const GBEES_REAL *u, int lanes, GBEES_REAL lambda, int edge,
                                       GBEES_REAL_FN(vector) * change)
{
    const GBEES_REAL half_lambda = (GBEES_REAL)0.5 * lambda;
    const GBEES_REAL_FN(vector) nothing = {0}, half = (GBEES_REAL)0.5 - nothing;
    GBEES_REAL_FN(vector) d_below = cell[1] - cell[0], d = cell[2] - cell[1], before = nothing;
    GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(u + lanes), part_below = half_lambda * GBEES_REAL_FN(load)(u);
    GBEES_REAL_FN(vector) part = half_lambda * here, donor_below = cell[1] - s[0];

#pragma GCC unroll 5
    for (int at = 0; at <= edge; at++) {
        const GBEES_REAL_FN(vector) d_above = cell[at + 3] - cell[at + 2];
        const GBEES_REAL_FN(vector) u_above = GBEES_REAL_FN(load)(u + (at + 2) * lanes);
        const GBEES_REAL_FN(vector) part_above = half_lambda * u_above;
        const GBEES_REAL_FN(vector) donor_above = cell[at + 2] - s[at + 1];
        const GBEES_REAL_FN(lanes) up = GBEES_REAL_FN(lanes_above)(here, nothing);
        const GBEES_REAL_FN(vector) upwind_d = GBEES_REAL_FN(choose)(up, d_below, d_above);
        const GBEES_REAL_FN(vector) donor = GBEES_REAL_FN(choose)(up, donor_below, donor_above);
        const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(part_below, nothing);
        const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(part_above, nothing);
        const GBEES_REAL_FN(vector) inflow = GBEES_REAL_FN(choose)(up, in, out);
        const GBEES_REAL_FN(vector) sign = GBEES_REAL_FN(choose)(up, half, -half);
        const GBEES_REAL_FN(vector) second = (sign - part) * GBEES_REAL_FN(limited)(d, upwind_d);
        const GBEES_REAL_FN(vector) flux = here * (donor + inflow * upwind_d + second);

        if (at)
            change[at - 1] = lambda * (before - flux);
        d_below = d, d = d_above;
        part_below = part, part = part_above;
        here = u_above;
        donor_below = donor_above;
        before = flux;
    }
}
