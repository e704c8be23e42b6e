/* split.h - one sweep of the dimension-split, fifth-order, positive and conservative scheme ("split5").
 *
 * There is no include guard: a unit includes the file once for each precision, after it has defined GBEES_REAL (float
 * or double) and GBEES_REAL_FN(name) (name_f or name_d). If it also defines GBEES_VALUE, a vector of GBEES_REAL, and
 * GBEES_VALUE_FN(name), the file defines only the functions without branches, for vectors; gbees_fused (fused.h),
 * gbees_same (one number in all lanes), gbees_lowest (a < b ? a : b) and gbees_highest for that type must exist. The
 * derivation is in doc/method.md, "The split scheme".
 *
 * Along one axis, cells  pm3 | pm2 | pm1 | pp0 | pp1 | pp2  around the face between pm1 and pp0, where the velocity
 * is u; um and up are the velocities one face below and above; lambda = time step / cell width.  U is the upwind
 * cell, pm1 if u > 0, else pp0.
 */
#include "fused.h"

#ifndef GBEES_VALUE
#define GBEES_VALUE GBEES_REAL
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name)
#define GBEES_SPLIT_ALL

/* A constant, in all lanes. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_same)(double k)
{
    return (GBEES_REAL)k;
}
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_lowest)(GBEES_REAL a, GBEES_REAL b)
{
    return a < b ? a : b;
}
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_highest)(GBEES_REAL a, GBEES_REAL b)
{
    return a > b ? a : b;
}
#endif

/* k + f c. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_line)(double k, double f, GBEES_VALUE c)
{
    return GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_same)(f), c, GBEES_VALUE_FN(gbees_same)(k));
}

/* courant * (1 - e^-x) / x, by its Taylor polynomial of second order. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_swept)(GBEES_VALUE courant, GBEES_VALUE x)
{
    return courant * GBEES_VALUE_FN(gbees_fused)(x, GBEES_VALUE_FN(gbees_line)(-0.5, 1.0 / 6, x),
                                                 GBEES_VALUE_FN(gbees_same)(1));
}

/* The mass in the part of cell q between its upper face and the distance c, 0 to 1, in cells, below it. The density
 * there is the quartic that has the masses of the five cells around q. Its integral is in Newton's form, with nodes
 * at the upper face, at the lower face, and then alternately on both sides of these. d1: first difference at the
 * upper face; d2: second difference at q; d3: third difference at the upper face; d4: fourth difference at q. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_quartic)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2, GBEES_VALUE d3,
                                                    GBEES_VALUE d4, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.4, -0.2, c), d4, d3);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.5, -0.25, c), sum, d2);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-1.0 / 3, -1.0 / 3, c), sum, d1);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.5, -0.5, c), sum, q);
    return c * sum;
}

/* The mirror image at the lower face of q, to the last bit: c and the result are negative, d1 and d3 are differences
 * at the lower face. All differences are still of the upper minus the lower cell. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_quartic_falling)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2,
                                                            GBEES_VALUE d3, GBEES_VALUE d4, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.4, -0.2, c), d4, d3);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.5, -0.25, c), sum, d2);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(1.0 / 3, -1.0 / 3, c), sum, d1);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.5, -0.5, c), sum, q);
    return c * sum;
}

/* The one of least magnitude if both have the same sign, else 0. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_minmod)(GBEES_VALUE a, GBEES_VALUE b)
{
    const GBEES_VALUE nothing = GBEES_VALUE_FN(gbees_same)(0);
    GBEES_VALUE low = GBEES_VALUE_FN(gbees_lowest)(a, b), high = GBEES_VALUE_FN(gbees_highest)(a, b);

    return GBEES_VALUE_FN(gbees_highest)(low, nothing) + GBEES_VALUE_FN(gbees_lowest)(high, nothing);
}

/* The curvature at a face from those of its two cells, k and l: Suresh and Huynh's minmod of four arguments, M4. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_common_curvature)(GBEES_VALUE k, GBEES_VALUE l)
{
    GBEES_VALUE outer = GBEES_VALUE_FN(gbees_minmod)(4 * k - l, 4 * l - k),
                inner = GBEES_VALUE_FN(gbees_minmod)(k, l);

    return GBEES_VALUE_FN(gbees_minmod)(outer, inner);
}

/* Limits the mass to monotonicity-preserving bounds, which allow no new extrema but leave smooth ones as they are
 * (Suresh & Huynh, J. Comput. Phys. 136 (1997) 83, in the one-step form of Daru & Tenaud, J. Comput. Phys. 193 (2004)
 * 563). q: P of U; d2, d3: first differences upwind and downwind of U, in the direction of the flow; behind, ahead:
 * the curvatures at these faces; c: as for gbees_quartic(). The bounds are multiplied by c, so that nothing is
 * divided by it. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_within_bounds)(GBEES_VALUE mass, GBEES_VALUE q, GBEES_VALUE d2,
                                                          GBEES_VALUE d3, GBEES_VALUE behind, GBEES_VALUE ahead,
                                                          GBEES_VALUE c)
{
    const GBEES_VALUE half = GBEES_VALUE_FN(gbees_same)(0.5);
    GBEES_VALUE base = c * q, next = c * (q + d3), median = c * (q + half * (d3 - ahead));
    GBEES_VALUE upper = base + (1 - c) * d2, large = base + half * (1 - c) * (d2 + behind);
    GBEES_VALUE low1 = GBEES_VALUE_FN(gbees_lowest)(base, next), high1 = GBEES_VALUE_FN(gbees_highest)(base, next);
    GBEES_VALUE low2 = GBEES_VALUE_FN(gbees_lowest)(base, upper), high2 = GBEES_VALUE_FN(gbees_highest)(base, upper);

    low1 = GBEES_VALUE_FN(gbees_lowest)(low1, median);
    high1 = GBEES_VALUE_FN(gbees_highest)(high1, median);
    low2 = GBEES_VALUE_FN(gbees_lowest)(low2, large);
    high2 = GBEES_VALUE_FN(gbees_highest)(high2, large);
    mass = GBEES_VALUE_FN(gbees_highest)(mass, GBEES_VALUE_FN(gbees_highest)(low1, low2));
    return GBEES_VALUE_FN(gbees_lowest)(mass, GBEES_VALUE_FN(gbees_lowest)(high1, high2));
}

#ifdef GBEES_SPLIT_ALL

/* The distance upwind of the face, in cells, from which the flow reaches it in a step, at most `most`: the Courant
 * number times (1 - e^-x) / x, x = time step * dv/dx in U. speed: the velocity at the face; along: at U's other face;
 * both positive in the direction of the flow through this face. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_swept_along)(GBEES_REAL speed, GBEES_REAL along, GBEES_REAL lambda,
                                                      GBEES_REAL most)
{
    GBEES_REAL courant = lambda * speed;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept)(courant, courant - lambda * along);

    return c < most ? c : most;
}

/* gbees_within_bounds() from the first differences d1 ... d4, from two cells upwind of U to two cells downwind. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_preserve)(GBEES_REAL mass, GBEES_REAL q, GBEES_REAL d1, GBEES_REAL d2,
                                                   GBEES_REAL d3, GBEES_REAL d4, GBEES_REAL c)
{
    GBEES_REAL behind = GBEES_REAL_FN(gbees_common_curvature)(d2 - d1, d3 - d2);
    GBEES_REAL ahead = GBEES_REAL_FN(gbees_common_curvature)(d3 - d2, d4 - d3);

    return GBEES_REAL_FN(gbees_within_bounds)(mass, q, d2, d3, behind, ahead, c);
}

/* Limits the mass that leaves U through the face to 0 ... q, the mass of U. If mass leaves U through both faces,
 * which only occurs if `diverging` is set, each face may take a part of q in proportion to its speed. speed, along:
 * as for gbees_swept_along(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split_bounded)(GBEES_REAL mass, GBEES_REAL q, GBEES_REAL speed,
                                                        GBEES_REAL along, int diverging)
{
    GBEES_REAL most = q;

    if (diverging) {
        GBEES_REAL out = along < 0 ? -along : 0;

        most = out > 0 ? q * (speed / (speed + out)) : q;
    }
    mass = mass > 0 ? mass : 0;
    return mass < most ? mass : most;
}

/* The mass that crosses the face in one step at Courant numbers up to 1, upwards positive.
 * whole: 1, the largest fraction of U that can leave; it is an argument, as compilers turn a literal into two
 * versions of the formula. rising: whether u > 0; a constant for callers that have checked many faces at once.
 * diverging: whether mass may leave a cell through both faces. preserving: whether to apply gbees_preserve(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_mass_way)(GBEES_REAL pm3, GBEES_REAL pm2, GBEES_REAL pm1,
                                                          GBEES_REAL pp0, GBEES_REAL pp1, GBEES_REAL pp2,
                                                          GBEES_REAL um, GBEES_REAL u, GBEES_REAL up,
                                                          GBEES_REAL lambda, GBEES_REAL whole, int rising,
                                                          int diverging, int preserving)
{
    GBEES_REAL d = pp0 - pm1, dm1 = pm1 - pm2, dm2 = pm2 - pm3, dp1 = pp1 - pp0, dp2 = pp2 - pp1;
    GBEES_REAL below = d - dm1, above = dp1 - d, third = above - below;
    GBEES_REAL second = rising ? below : above;
    GBEES_REAL fourth = rising ? third - (below - (dm1 - dm2)) : dp2 - dp1 - above - third;
    GBEES_REAL q = rising ? pm1 : pp0, other = rising ? um : up, sign = rising ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept_along)(rising ? u : -u, rising ? other : -other, lambda, whole);
    GBEES_REAL mass = GBEES_REAL_FN(gbees_quartic)(q, sign * d, second, sign * third, fourth, c);

    if (preserving)
        mass = GBEES_REAL_FN(gbees_preserve)(mass, q, rising ? dm2 : -dp2, rising ? dm1 : -dp1, sign * d,
                                             rising ? dp1 : -dm1, c);
    return sign * GBEES_REAL_FN(gbees_split_bounded)(mass, q, sign * u, sign * other, diverging);
}

#undef GBEES_VALUE
#undef GBEES_VALUE_FN
#undef GBEES_SPLIT_ALL
#endif
