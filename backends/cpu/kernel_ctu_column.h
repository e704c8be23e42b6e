/* kernel_ctu_column.h - the two passes of ctu through the planes of a brick, one column of vectors at a time.  A
 * template: see kernel.c.
 *
 * In five of six bricks nothing flows both ways along an axis.  There nothing is chosen lane by lane, only what lies
 * upwind is asked for, and cells and differences that neighbouring faces share stay in registers.  The flow down is
 * the flow up seen from the other side: planes in the opposite order and lambda negative give the same bits, as a
 * difference or a product with its sign turned does.
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

/* Pointers are to the plane that lies furthest upwind, and `stride` leads on along the flow; lambda is negative where
 * the stride is. */

/* u: at the upwind face of the first cell; p: the cell upwind of it. */
INLINE void GBEES_REAL_FN(transverse_along)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                            GBEES_REAL *restrict t, GBEES_REAL half_lambda, int divergence,
                                            int stride, int planes)
{
    GBEES_REAL_FN(vector) behind = GBEES_REAL_FN(load)(p), in = GBEES_REAL_FN(load)(u);

    for (int at = 0; at < planes; at++) {
        const GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(p + (at + 1) * stride);
        GBEES_REAL_FN(vector) change = half_lambda * (in * (here - behind));

        if (divergence) {
            const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(load)(u + (at + 1) * stride);

            change += half_lambda * (out - in) * here;
            in = out;
        } else if (at < planes - 1) {
            in = GBEES_REAL_FN(load)(u + (at + 1) * stride);
        }
        GBEES_REAL_FN(store)(t + at * stride, change);
        behind = here;
    }
}

/* u: one face further upwind than the first cell's; p: two cells upwind of it, s: one. */
INLINE void GBEES_REAL_FN(flux_along)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict s,
                                      const GBEES_REAL *restrict u, GBEES_REAL *restrict d, GBEES_REAL lambda,
                                      int stride, int planes)
{
    const GBEES_REAL half = (GBEES_REAL)0.5, half_lambda = half * lambda;
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) upwind = GBEES_REAL_FN(load)(p + stride), before = nothing;
    GBEES_REAL_FN(vector) upwind_d = upwind - GBEES_REAL_FN(load)(p);
    GBEES_REAL_FN(vector) inflow = GBEES_REAL_FN(highest)(half_lambda * GBEES_REAL_FN(load)(u), nothing);

    for (int at = 0; at <= planes; at++) {
        const GBEES_REAL_FN(vector) next = GBEES_REAL_FN(load)(p + (at + 2) * stride), change = next - upwind;
        const GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(u + (at + 1) * stride), part = half_lambda * here;
        const GBEES_REAL_FN(vector) donor = upwind - GBEES_REAL_FN(load)(s + at * stride);
        const GBEES_REAL_FN(vector) second = (half - part) * GBEES_REAL_FN(limited)(change, upwind_d);
        const GBEES_REAL_FN(vector) flux = here * (donor + inflow * upwind_d + second);

        if (at)
            GBEES_REAL_FN(store)(d + (at - 1) * stride, lambda * (before - flux));
        inflow = part;
        upwind = next;
        upwind_d = change;
        before = flux;
    }
}

/* ---- either way ----------------------------------------------------------------------------------------------- */

/* Pointers are to the lowest plane that is asked for. */

INLINE void GBEES_REAL_FN(transverse_either)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                             GBEES_REAL *restrict t, GBEES_REAL half_lambda, int divergence,
                                             int lanes, int planes)
{
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(p + lanes), below = GBEES_REAL_FN(load)(u);
    GBEES_REAL_FN(vector) lower = here - GBEES_REAL_FN(load)(p);

    for (int at = 0; at < planes; at++) {
        const GBEES_REAL_FN(vector) next = GBEES_REAL_FN(load)(p + (at + 2) * lanes), upper = next - here;
        const GBEES_REAL_FN(vector) above = GBEES_REAL_FN(load)(u + (at + 1) * lanes);
        const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(below, nothing);
        const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(above, nothing);
        GBEES_REAL_FN(vector) change = half_lambda * (in * lower + out * upper);

        if (divergence)
            change += half_lambda * (above - below) * here;
        GBEES_REAL_FN(store)(t + at * lanes, change);
        here = next;
        lower = upper;
        below = above;
    }
}

INLINE void GBEES_REAL_FN(flux_either)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict s,
                                       const GBEES_REAL *restrict u, GBEES_REAL *restrict d, GBEES_REAL lambda,
                                       int lanes, int planes)
{
    const GBEES_REAL half_lambda = (GBEES_REAL)0.5 * lambda;
    const GBEES_REAL_FN(vector) nothing = {0}, half = (GBEES_REAL)0.5 - nothing;
    GBEES_REAL_FN(vector) below = GBEES_REAL_FN(load)(p + lanes), above = GBEES_REAL_FN(load)(p + 2 * lanes);
    GBEES_REAL_FN(vector) d_below = below - GBEES_REAL_FN(load)(p), change = above - below, before = nothing;
    GBEES_REAL_FN(vector) here = GBEES_REAL_FN(load)(u + lanes), part_below = half_lambda * GBEES_REAL_FN(load)(u);
    GBEES_REAL_FN(vector) part = half_lambda * here, donor_below = below - GBEES_REAL_FN(load)(s);

    for (int at = 0; at <= planes; at++) {
        const GBEES_REAL_FN(vector) next = GBEES_REAL_FN(load)(p + (at + 3) * lanes), d_above = next - above;
        const GBEES_REAL_FN(vector) u_above = GBEES_REAL_FN(load)(u + (at + 2) * lanes);
        const GBEES_REAL_FN(vector) part_above = half_lambda * u_above;
        const GBEES_REAL_FN(vector) donor_above = above - GBEES_REAL_FN(load)(s + (at + 1) * lanes);
        const GBEES_REAL_FN(lanes) up = GBEES_REAL_FN(lanes_above)(here, nothing);
        const GBEES_REAL_FN(vector) upwind_d = GBEES_REAL_FN(choose)(up, d_below, d_above);
        const GBEES_REAL_FN(vector) donor = GBEES_REAL_FN(choose)(up, donor_below, donor_above);
        const GBEES_REAL_FN(vector) in = GBEES_REAL_FN(highest)(part_below, nothing);
        const GBEES_REAL_FN(vector) out = GBEES_REAL_FN(lowest)(part_above, nothing);
        const GBEES_REAL_FN(vector) inflow = GBEES_REAL_FN(choose)(up, in, out);
        const GBEES_REAL_FN(vector) sign = GBEES_REAL_FN(choose)(up, half, -half);
        const GBEES_REAL_FN(vector) second = (sign - part) * GBEES_REAL_FN(limited)(change, upwind_d);
        const GBEES_REAL_FN(vector) flux = here * (donor + inflow * upwind_d + second);

        if (at)
            GBEES_REAL_FN(store)(d + (at - 1) * lanes, lambda * (before - flux));
        below = above, above = next;
        d_below = change, change = d_above;
        part_below = part, part = part_above;
        here = u_above;
        donor_below = donor_above;
        before = flux;
    }
}
