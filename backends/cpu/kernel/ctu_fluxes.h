/* ctu_fluxes.h - the arithmetic of ctu in a column of vectors: the planes of a brick, one after the other, and those
 * beyond it that they need.
 *
 * In five of six bricks all faces across an axis flow the same way: there no lane chooses between formulas, and only
 * upwind cells are read.  For flow down, planes are taken in the opposite order and lambda is negative, which gives
 * the bits of flow up, as only signs change.  `edge` is a constant of the compiler, so that all values stay in
 * registers.
 */
#ifndef GBEES_CPU_CTU_FLUXES_H
#define GBEES_CPU_CTU_FLUXES_H

#include "vector.h"

/* Twice gbees_half_mc(). */
INLINE vector limited_slope(vector d, vector up)
{
#if defined(__AVX512DQ__)
    const vector mean = (real)0.5 * (d + up);
    /* The number of least magnitude, once with the sign of each of both: they cancel if the signs differ. */
    const native least = NATIVE(range)((native)d, (native)up, 2) + NATIVE(range)((native)up, (native)d, 2);

    return (vector)NATIVE(range)(least, (native)mean, 2);
#else
    /* The mean, at most the least of both if they are positive, at least the greatest if they are negative. */
    const vector nothing = {0}, mean = (real)0.25 * (d + up);
    const vector most = gbees_highest_vector(gbees_lowest_vector(d, up), nothing);
    const vector least = gbees_lowest_vector(gbees_highest_vector(d, up), nothing);
    const vector limited = gbees_highest_vector(gbees_lowest_vector(mean, most), least);

    return limited + limited;
#endif
}

/* ---- one direction ----------------------------------------------------------------------------------------- */

/* Sets change[edge] to the transverse terms.  Planes and faces are taken along the flow.  cell[edge + 1]: from one
 * upwind of the brick on; u: at the upwind faces of the brick's cells, a plane every `stride`. */
INLINE void transverse_along(const vector *cell, const real *u, int stride, real half_lambda, int edge,
                             vector *change)
{
#pragma GCC unroll 4
    for (int at = 0; at < edge; at++)
        change[at] = half_lambda * (load(u + at * stride) * (cell[at + 1] - cell[at]));
}

/* Sets change[edge] to the changes by the fluxes.  cell[edge + 3]: from two upwind of the brick to one downwind;
 * s[edge + 1]: from one upwind on; u: from the upwind face of that one on. */
INLINE void flux_along(const vector *cell, const vector *s, const real *u, int stride, real lambda, int edge,
                       vector *change)
{
    const real half = (real)0.5, half_lambda = half * lambda;
    const vector nothing = {0};
    vector upwind_d = cell[1] - cell[0], before = nothing;
    vector inflow = gbees_highest_vector(half_lambda * load(u), nothing);

#pragma GCC unroll 5
    for (int at = 0; at <= edge; at++) {
        const vector here = load(u + (at + 1) * stride), part = half_lambda * here;
        const vector d = cell[at + 2] - cell[at + 1], donor = cell[at + 1] - s[at];
        const vector second = (half - part) * limited_slope(d, upwind_d);
        const vector flux = here * (donor + inflow * upwind_d + second);

        if (at)
            change[at - 1] = lambda * (before - flux);
        inflow = part;
        upwind_d = d;
        before = flux;
    }
}

/* ---- either direction ------------------------------------------------------------------------------------------ */

/* Sets change[edge] to the transverse terms.  Planes and faces are taken from the lowest one up.  cell[edge + 2]:
 * from one below the brick on; u: from the brick's lowest face on, a plane every plane_cells. */
INLINE void transverse_either(const vector *cell, const real *u, int plane_cells, real half_lambda, int edge,
                              vector *change)
{
    const vector nothing = {0};
    vector below = load(u), lower = cell[1] - cell[0];

#pragma GCC unroll 4
    for (int at = 0; at < edge; at++) {
        const vector above = load(u + (at + 1) * plane_cells);
        const vector upper = cell[at + 2] - cell[at + 1];
        const vector in = gbees_highest_vector(below, nothing);
        const vector out = gbees_lowest_vector(above, nothing);

        change[at] = half_lambda * (in * lower + out * upper);
        below = above;
        lower = upper;
    }
}

/* Sets change[edge] to the changes by the fluxes.  cell[edge + 4]: from two below the brick on; s[edge + 2]: from one
 * below it on; u: from one face below the brick's lowest on. */
INLINE void flux_either(const vector *cell, const vector *s, const real *u, int plane_cells, real lambda, int edge,
                        vector *change)
{
    const real half_lambda = (real)0.5 * lambda;
    const vector nothing = {0}, half = (real)0.5 - nothing;
    vector d_below = cell[1] - cell[0], d = cell[2] - cell[1], before = nothing;
    vector here = load(u + plane_cells), part_below = half_lambda * load(u);
    vector part = half_lambda * here, donor_below = cell[1] - s[0];

#pragma GCC unroll 5
    for (int at = 0; at <= edge; at++) {
        const vector d_above = cell[at + 3] - cell[at + 2];
        const vector u_above = load(u + (at + 2) * plane_cells);
        const vector part_above = half_lambda * u_above;
        const vector donor_above = cell[at + 2] - s[at + 1];
        const lane_mask up = lanes_above(here, nothing);
        const vector upwind_d = choose(up, d_below, d_above);
        const vector donor = choose(up, donor_below, donor_above);
        const vector in = gbees_highest_vector(part_below, nothing);
        const vector out = gbees_lowest_vector(part_above, nothing);
        const vector inflow = choose(up, in, out);
        const vector sign = choose(up, half, -half);
        const vector second = (sign - part) * limited_slope(d, upwind_d);
        const vector flux = here * (donor + inflow * upwind_d + second);

        if (at)
            change[at - 1] = lambda * (before - flux);
        d_below = d, d = d_above;
        part_below = part, part = part_above;
        here = u_above;
        donor_below = donor_above;
        before = flux;
    }
}

#endif
