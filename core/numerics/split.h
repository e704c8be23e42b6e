/* split.h - one sweep of the dimension-split, fifth-order, positive and conservative scheme ("split5").
 *
 * A template: define GBEES_REAL (float or double) and GBEES_REAL_FN(name) (name_f, name_d) before including it; no
 * include guard.  With GBEES_VALUE, a vector of GBEES_REAL, and GBEES_VALUE_FN(name) it defines the functions of pure
 * arithmetic for vectors, and nothing else; gbees_fused (fused.h) and gbees_same (one number in all lanes) must
 * exist.  The derivation is in doc/method.md, "The split scheme".
 *
 * Along one axis, cells  pm3 | pm2 | pm1 | pp0 | pp1 | pp2  around the face between pm1 and pp0, where the velocity
 * is u; um and up are the velocities one face below and above; lambda = time step / cell width.  U is the upwind
 * cell.
 */
#include "fused.h"

#ifndef GBEES_VALUE
#define GBEES_VALUE GBEES_REAL
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name)
#define GBEES_SPLIT_ALL

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_same)(double k)
{
    return (GBEES_REAL)k;
}
#endif

/* k + f c. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_line)(double k, double f, GBEES_VALUE c)
{
    return GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_same)(f), c, GBEES_VALUE_FN(gbees_same)(k));
}

/* A Courant number times (1 - e^-x) / x. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_swept)(GBEES_VALUE courant, GBEES_VALUE x)
{
    return courant * GBEES_VALUE_FN(gbees_fused)(x, GBEES_VALUE_FN(gbees_line)(-0.5, 1.0 / 6, x),
                                                 GBEES_VALUE_FN(gbees_same)(1));
}

/* The mass in the fraction c of cell q that is nearest to its upper face, of the quartic with the averages of the
 * five cells around it: the integral's polynomial as Newton has it, with nodes at the face, the cell's other face,
 * and in turn on both sides of these.  d1: the first difference at the upper face; d2: the second one at q; d3: the
 * third one at the face; d4: the fourth one at q. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_quartic)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2, GBEES_VALUE d3,
                                                    GBEES_VALUE d4, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.4, -0.2, c), d4, d3);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.5, -0.25, c), sum, d2);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-1.0 / 3, -1.0 / 3, c), sum, d1);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.5, -0.5, c), sum, q);
    return c * sum;
}

/* The same at the lower face of q, both c and the mass negative; differences are upwards still: the mirror image to
 * the last bit. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_quartic_falling)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2,
                                                            GBEES_VALUE d3, GBEES_VALUE d4, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.4, -0.2, c), d4, d3);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.5, -0.25, c), sum, d2);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(1.0 / 3, -1.0 / 3, c), sum, d1);
    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.5, -0.5, c), sum, q);
    return c * sum;
}

#ifdef GBEES_SPLIT_ALL

/* The fraction of U that leaves through the face, up to `most`: its Courant number times (1 - e^-x) / x, x = time
 * step times the divergence dv/dx over U.  speed: at the face; along: at U's other face, both in the direction of the
 * flow. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_swept_along)(GBEES_REAL speed, GBEES_REAL along, GBEES_REAL lambda,
                                                      GBEES_REAL most)
{
    GBEES_REAL courant = lambda * speed;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept)(courant, courant - lambda * along);

    return c < most ? c : most;
}

/* The same; other: the velocity at U's other face. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_swept_to)(GBEES_REAL u, GBEES_REAL other, GBEES_REAL lambda, GBEES_REAL most)
{
    return GBEES_REAL_FN(gbees_swept_along)(u > 0 ? u : -u, u > 0 ? other : -other, lambda, most);
}

/* The smallest of two of the same sign, else 0. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_minmod)(GBEES_REAL a, GBEES_REAL b)
{
    GBEES_REAL low = a < b ? a : b, high = a > b ? a : b;

    return (low > 0 ? low : 0) + (high < 0 ? high : 0);
}

/* The curvature at a face that its two cells' curvatures k and l agree on (M4 of Suresh and Huynh). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_common_curvature)(GBEES_REAL k, GBEES_REAL l)
{
    GBEES_REAL outer = GBEES_REAL_FN(gbees_minmod)(4 * k - l, 4 * l - k), inner = GBEES_REAL_FN(gbees_minmod)(k, l);

    return GBEES_REAL_FN(gbees_minmod)(outer, inner);
}

/* The monotonicity-preserving bounds of the mass (Suresh & Huynh, J. Comput. Phys. 136 (1997) 83, in the one-step
 * form of Daru & Tenaud, J. Comput. Phys. 193 (2004) 563): no new extrema, smooth ones left alone.  All multiplied
 * with c, so that nothing is divided. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_preserve)(GBEES_REAL mass, GBEES_REAL q, GBEES_REAL d1, GBEES_REAL d2,
                                                   GBEES_REAL d3, GBEES_REAL d4, GBEES_REAL c)
{
    const GBEES_REAL half = (GBEES_REAL)0.5;
    GBEES_REAL ahead = GBEES_REAL_FN(gbees_common_curvature)(d3 - d2, d4 - d3);
    GBEES_REAL behind = GBEES_REAL_FN(gbees_common_curvature)(d2 - d1, d3 - d2);
    GBEES_REAL base = c * q, next = c * (q + d3), median = c * (q + half * (d3 - ahead));
    GBEES_REAL upper = base + (1 - c) * d2, large = base + half * (1 - c) * (d2 + behind);
    GBEES_REAL low1 = base < next ? base : next, high1 = base > next ? base : next;
    GBEES_REAL low2 = base < upper ? base : upper, high2 = base > upper ? base : upper;

    low1 = low1 < median ? low1 : median;
    high1 = high1 > median ? high1 : median;
    low2 = low2 < large ? low2 : large;
    high2 = high2 > large ? high2 : large;
    low1 = low1 > low2 ? low1 : low2;
    high1 = high1 < high2 ? high1 : high2;
    mass = mass > low1 ? mass : low1;
    return mass < high1 ? mass : high1;
}

/* A mass of U, bounded: never negative, nor more than U holds; where U flows out on both sides (`diverging`: such
 * cells occur), each side may take a part in proportion to its speed.  speed: at the face; along: at U's other face,
 * both in the direction of the flow. */
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

/* The mass that crosses the face in one step, upwards positive; `preserving`: with the bounds of gbees_preserve().
 * `whole` is 1, the largest fraction of U that can leave: with a literal compilers make two formulas of one.
 * rising: u > 0; a constant for callers that have checked many faces at once. */
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

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_mass_to)(GBEES_REAL pm3, GBEES_REAL pm2, GBEES_REAL pm1,
                                                         GBEES_REAL pp0, GBEES_REAL pp1, GBEES_REAL pp2,
                                                         GBEES_REAL um, GBEES_REAL u, GBEES_REAL up,
                                                         GBEES_REAL lambda, GBEES_REAL whole, int diverging,
                                                         int preserving)
{
    return GBEES_REAL_FN(gbees_split5_mass_way)(pm3, pm2, pm1, pp0, pp1, pp2, um, u, up, lambda, whole, u > 0,
                                                diverging, preserving);
}

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_mass)(GBEES_REAL pm3, GBEES_REAL pm2, GBEES_REAL pm1, GBEES_REAL pp0,
                                                      GBEES_REAL pp1, GBEES_REAL pp2, GBEES_REAL um, GBEES_REAL u,
                                                      GBEES_REAL up, GBEES_REAL lambda, int diverging, int preserving)
{
    return GBEES_REAL_FN(gbees_split5_mass_to)(pm3, pm2, pm1, pp0, pp1, pp2, um, u, up, lambda, 1, diverging,
                                               preserving);
}

/* The same for Courant numbers above 1: `whole` is what the flow has passed over, q the next cell, `rest` the
 * fraction of it that crosses the face, up1 ... down2 the cells around it; first: U.  gbees_split5_bound() keeps
 * cells positive. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_far_mass)(GBEES_REAL whole, GBEES_REAL first, GBEES_REAL up2, GBEES_REAL up1,
                                                   GBEES_REAL q, GBEES_REAL down1, GBEES_REAL down2, GBEES_REAL rest,
                                                   GBEES_REAL um, GBEES_REAL u, GBEES_REAL up, int preserving)
{
    GBEES_REAL other = u > 0 ? um : up, sign = u > 0 ? (GBEES_REAL)1 : (GBEES_REAL)-1, speed = sign * u;
    GBEES_REAL d1 = up1 - up2, d2 = q - up1, d3 = down1 - q, d4 = down2 - down1;
    GBEES_REAL bend = d3 - d2, third = d4 - d3 - bend;
    GBEES_REAL mass = GBEES_REAL_FN(gbees_quartic)(q, d3, bend, third, third - (bend - (d2 - d1)), rest);

    if (preserving)
        mass = GBEES_REAL_FN(gbees_preserve)(mass, q, d1, d2, d3, d4, rest);
    mass = mass > 0 ? mass : 0;
    mass = whole + (mass < q ? mass : q);
    /* Where U flows out on both sides the flow has passed over no cell. */
    GBEES_REAL out = sign * other < 0 ? -sign * other : 0;
    GBEES_REAL most = out > 0 ? first * (speed / (speed + out)) : mass;
    return sign * (mass < most ? mass : most);
}

/* How far upwind the mass reaches that crosses a face, in cells; at most `reach`. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_far_distance)(GBEES_REAL um, GBEES_REAL u, GBEES_REAL up, GBEES_REAL lambda,
                                                       int reach)
{
    return GBEES_REAL_FN(gbees_swept_to)(u, u > 0 ? um : up, lambda, (GBEES_REAL)reach);
}

/* The whole cells of that distance, so that a fraction of a cell, up to 1, is left. */
GBEES_NUM int GBEES_REAL_FN(gbees_far_passed)(GBEES_REAL distance, int reach)
{
    int passed = (int)distance;

    return passed < reach ? passed : reach - 1;
}

/* The mass through one face at Courant numbers above 1.  p: the cell below the face; `lanes`: from one cell to the
 * next one above; reach + 2 cells lie on each side. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_far)(const GBEES_REAL *p, int lanes, GBEES_REAL um, GBEES_REAL u,
                                                     GBEES_REAL up, GBEES_REAL lambda, int reach, int preserving)
{
    GBEES_REAL distance = GBEES_REAL_FN(gbees_far_distance)(um, u, up, lambda, reach), whole = 0;
    const int passed = GBEES_REAL_FN(gbees_far_passed)(distance, reach), upwind = u > 0 ? -lanes : lanes;
    const GBEES_REAL *first = u > 0 ? p : p + lanes, *at = first + passed * upwind;

    for (int s = 0; s < passed; s++)
        whole += first[s * upwind];
    return GBEES_REAL_FN(gbees_far_mass)(whole, *first, at[2 * upwind], at[upwind], *at, at[-upwind], at[-2 * upwind],
                                         distance - (GBEES_REAL)passed, um, u, up, preserving);
}

/* Bounds the mass `out` that leaves a cell at Courant numbers above 1, so that the cell stays positive.  The cell
 * holds `here`; `in` is the bounded mass that enters at its other face, 0 if none does.  Faces are bounded in the
 * direction of the flow (upward masses from the lowest face on, downward ones from the highest), so that no cell
 * loses more than it holds and has received: one face in, one face out:   here + in - out >= 0 by this bound; both
 * faces out:              gbees_split5_far() has divided `here` between them, and in = 0 changes nothing; both faces
 * in:               nothing leaves. Where velocities at neighbouring faces differ by less than a cell a step it
 * changes nothing but rounding. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_bound)(GBEES_REAL out, GBEES_REAL here, GBEES_REAL in)
{
    GBEES_REAL most = here + in;

    return out < most ? out : most;
}

/* The cell after a sweep, from the masses through its lower and upper face.  Mass that enters is added first: so
 * bounded masses are never more than the cell holds, to the last bit. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_moved)(GBEES_REAL here, GBEES_REAL lower, GBEES_REAL upper)
{
    GBEES_REAL sum = here + (lower > 0 ? lower : 0) + (upper < 0 ? -upper : 0);

    return sum - (upper > 0 ? upper : 0) - (lower < 0 ? -lower : 0);
}

#undef GBEES_VALUE
#undef GBEES_VALUE_FN
#undef GBEES_SPLIT_ALL
#endif
