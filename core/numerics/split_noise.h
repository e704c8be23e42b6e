/* split_noise.h - the mass that crosses a face in one sweep that advects and diffuses, by the split schemes.
 *
 * To be included after split.h, with the same macros. In a sweep with process noise the flow brings to a face what
 * was at the distance c + v^(1/2) xi upwind of it, xi normal, or skewed where Q varies: so the mass is the
 * expectation of the integral that gbees_quartic() has at the distance c, whose powers of c become moments of the
 * distance (doc/method.md, "Diffusion"). The term of sixth order that pure diffusion has is added. It is stable for v
 * up to 1 (gbees_sweep_parts()).
 *
 * P may be values at centres. A sweep takes them for the averages of another density, g = P - 1/24 of the second
 * differences of P, and what moves g differs from what moves P: `inside`, 1/24 for such values and 0 for averages, is
 * the part of their second difference by which both differ (doc/method.md, "Points or averages").
 */
#include "diffusion.h"
#include "dither.h"

/* The distance upwind of a face, in cells, from which the flow reaches it, -most to most, positive upwards, and in
 * *variance the variance of what reaches it, both for drift and noise that act together: the one that the noise has
 * added by the end is carried back by the drift, and spread points feel its curvature. courant: the Courant number at
 * the face; x, bend: its first and second difference there; *variance: time step times Q / width^2. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_distance)(GBEES_REAL courant, GBEES_REAL x, GBEES_REAL bend,
                                                          GBEES_REAL most, GBEES_REAL *variance)
{
    const GBEES_REAL v = *variance;
    GBEES_REAL c = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)0.25 * v, bend, GBEES_REAL_FN(gbees_swept)(courant, x));

    c = c < most ? c : most;
    *variance = v * GBEES_REAL_FN(gbees_fused)(x, GBEES_REAL_FN(gbees_line)(-1.0, 2.0 / 3, x), (GBEES_REAL)1);
    return c > -most ? c : -most;
}

/* gbees_spread_distance() for a Q that is the same at all faces; below, courant, above: the Courant numbers at the
 * face below, at this one, and at the one above; inside: see above. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_origin)(GBEES_REAL below, GBEES_REAL courant, GBEES_REAL above,
                                                        GBEES_REAL inside, GBEES_REAL most, GBEES_REAL *variance)
{
    const GBEES_REAL x = (GBEES_REAL)0.5 * (above - below), bend = (above - courant) - (courant - below);
    const GBEES_REAL v = GBEES_REAL_FN(gbees_fused)(4 * inside, x, *variance);

    *variance = v > 0 ? v : 0;
    return GBEES_REAL_FN(gbees_spread_distance)(GBEES_REAL_FN(gbees_fused)(-inside, bend, courant), x, bend, most,
                                                variance);
}

/* The same for a Q that varies along the axis. The mass below a face is carried by the velocity f - Q'/2 and spread
 * by Q: so what reaches the face comes from a distance of the moments that this process has, to second order in the
 * step. w[k * stride]: time step times Q / width^2 at five faces, of which this one is the middle one. Sets
 * *variance, and *third, the third cumulant of the distance. At a face without noise the drift acts alone: it is a
 * wall to what the noise spreads. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_origin_varying)(GBEES_REAL below, GBEES_REAL courant,
                                                                GBEES_REAL above, const GBEES_REAL *w, int stride,
                                                                GBEES_REAL inside, GBEES_REAL most,
                                                                GBEES_REAL *variance, GBEES_REAL *third)
{
    const GBEES_REAL here = w[2 * stride] > 0 ? w[2 * stride] : 0, d1 = w[3 * stride] - w[stride],
                     d2 = w[4 * stride] - w[0];
    const GBEES_REAL slope = (GBEES_REAL)(1.0 / 12) * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)8, d1, -d2);
    const GBEES_REAL second = (w[3 * stride] - here) - (here - w[stride]);
    const GBEES_REAL rest = (GBEES_REAL)0.5 * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-2, d1, d2);
    const GBEES_REAL x = (GBEES_REAL)0.5 * (above - below), bend = (above - courant) - (courant - below);
    const GBEES_REAL mean = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-0.5, slope, courant);
    const GBEES_REAL speed =
        GBEES_REAL_FN(gbees_fused)(inside, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)0.5, rest, -bend), mean);
    const GBEES_REAL spread = GBEES_REAL_FN(gbees_fused)(
        inside, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-3, second, (GBEES_REAL)4 * x), here);
    const int noisy = here > 0;
    GBEES_REAL v = spread > 0 ? spread : 0;
    const GBEES_REAL c = GBEES_REAL_FN(gbees_spread_distance)(
        noisy ? speed : courant, noisy ? GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-0.5, second, x) : x,
        GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-0.5, rest, bend), most, &v);

    v += (GBEES_REAL)0.5 * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)0.5 * here, second, -speed * slope);
    *variance = noisy && v > 0 ? v : 0;
    *third = noisy ? slope * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-1.5, here, (GBEES_REAL)6 * inside) : 0;
    return c;
}

/* Whether a face is one of the three nearest to a wall at which Q falls to 0 in a straight line while the drift leads
 * away from it, so slowly that the density there is like x^(b - 1), b < 4: there is no flow of mass then, and x^(b -
 * 1) is no polynomial. Sets the parts of the cells below and above the face that cross it, for which a density of
 * this form stays. below, courant, above: as gbees_spread_origin() takes them; w[k * stride]: as for
 * gbees_spread_origin_varying(), at seven faces. */
GBEES_NUM int GBEES_REAL_FN(gbees_spread_wall)(GBEES_REAL below, GBEES_REAL courant, GBEES_REAL above,
                                               const GBEES_REAL *w, int stride, GBEES_REAL *from_below,
                                               GBEES_REAL *from_above)
{
    const int down = !(w[2 * stride] > 0) ? 1 : !(w[stride] > 0) ? 2 : !(w[0] > 0) ? 3 : 0;
    const int up = !(w[4 * stride] > 0) ? 1 : !(w[5 * stride] > 0) ? 2 : !(w[6 * stride] > 0) ? 3 : 0;
    const int away = down ? 1 : -1, faces = down ? down : up; /* to the first face without noise */
    /* The next two faces to the wall, and away from it. They are chosen one by one: a GPU keeps arrays in registers
     * if no index depends on values. */
    const GBEES_REAL here_w = w[3 * stride], in = down ? w[2 * stride] : w[4 * stride],
                     out = down ? w[4 * stride] : w[2 * stride];
    const GBEES_REAL first = faces == 1 ? here_w : faces == 2 ? in : down ? w[stride] : w[5 * stride];
    const GBEES_REAL second = faces == 1 ? out : faces == 2 ? here_w : in;
    const GBEES_REAL third = faces == 2 ? out : faces == 3 ? here_w : down ? w[5 * stride] : w[stride];

    if (!(here_w > 0) || !faces)
        return 0;
    const double slope = (double)(second - first), bend = (double)(third - second) - slope;
    const double x = (double)first / slope + (faces - 1); /* the distance from the wall in cells */
    const double growth = 0.5 * (double)(above - below), noise = 0.5 * (double)here_w;
    const double b = 2 * (away * (double)courant - growth * x) / slope;

    if (!(slope > 0) || x > faces || fabs(bend) > 0.25 * slope || !(b > 0.05 && b < 4))
        return 0;
    const double inner = x > 1 ? gbees_power(x - 1, b) : 0, here = gbees_power(x, b);
    const double density = b * here / x, outer = gbees_power(x + 1, b);
    const double near = fmax(0, noise + 0.5 * growth * x) * density / (here - inner);
    const double far = fmax(0, noise - 0.5 * growth * x) * density / (outer - here);

    *from_below = (GBEES_REAL)(down ? near : far);
    *from_above = (GBEES_REAL)(down ? far : near);
    return 1;
}

/* The mass that crosses the face in the middle of six cells, upwards positive, before it is bounded; cell k is
 * p[k * stride]. c, v, third: as gbees_spread_origin_varying() gives them; skewed: 0 if third is 0 at all faces. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_mass)(const GBEES_REAL *p, int stride, GBEES_REAL c, GBEES_REAL v,
                                                      GBEES_REAL third_cumulant, int skewed)
{
    const GBEES_REAL k = third_cumulant, c2 = c * c, e2 = c2 + v, square = v * v;
    GBEES_REAL e3 = c * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)3, v, c2);
    GBEES_REAL e4 =
        GBEES_REAL_FN(gbees_fused)(c2, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)6, v, c2), (GBEES_REAL)3 * square);
    GBEES_REAL e5 = c * GBEES_REAL_FN(gbees_fused)(c2, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)10, v, c2),
                                                   (GBEES_REAL)15 * square);

    if (skewed) {
        e3 += k;
        e4 = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)4 * c, k, e4);
        e5 = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)10 * e2, k, e5);
    }
    /* Weights of means and differences at the face: second and third, fourth, and fifth ones. */
    const GBEES_REAL second = (c - e3) * (GBEES_REAL)(1.0 / 12), third = (e2 - e4) * (GBEES_REAL)(1.0 / 24);
    const GBEES_REAL fourth = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)(1.0 / 240), e5, c * (GBEES_REAL)(1.0 / 60)) -
                              e3 * (GBEES_REAL)(1.0 / 48);
    const GBEES_REAL fifth =
        (c < 0 ? -fourth : fourth) +
        v * GBEES_REAL_FN(gbees_fused)(v, GBEES_REAL_FN(gbees_line)(-1.0 / 48, 1.0 / 48, v), (GBEES_REAL)(1.0 / 180));
    const GBEES_REAL a0 = p[2 * stride] + p[3 * stride], b0 = p[3 * stride] - p[2 * stride];
    const GBEES_REAL a1 = p[stride] + p[4 * stride], b1 = p[4 * stride] - p[stride];
    const GBEES_REAL a2 = p[0] + p[5 * stride], b2 = p[5 * stride] - p[0];
    GBEES_REAL mass = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)0.5 * c, a0, (GBEES_REAL)-0.5 * e2 * b0);

    mass = GBEES_REAL_FN(gbees_fused)(second, a0 - a1, mass);
    mass = GBEES_REAL_FN(gbees_fused)(third, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-3, b0, b1), mass);
    mass = GBEES_REAL_FN(gbees_fused)(fourth, (a2 - a1) + 2 * (a0 - a1), mass);
    return mass -
           fifth * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)10, b0, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)-5, b1, b2));
}

/* Limits the mass through a face: the two faces of the cell that it leaves take no more than the cell has, and
 * against the flow no more crosses the face than `root` times that, so that little noise does little. lower, upper:
 * the masses through the faces below and above, before they are bounded; below, above: P of the cells below and above
 * the face; u: the velocity at it; root: the root of the variance that noise adds, in cells. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_bounded)(GBEES_REAL lower, GBEES_REAL mass, GBEES_REAL upper,
                                                         GBEES_REAL below, GBEES_REAL above, GBEES_REAL u,
                                                         GBEES_REAL root)
{
    const int rises = mass > 0;
    const GBEES_REAL whole = rises ? below : above, held = whole > 0 ? whole : 0, most = root * held;
    const GBEES_REAL left = rises ? mass : -mass, other = rises ? -lower : upper;
    const GBEES_REAL own = (rises ? u < 0 : u > 0) && left > most ? most : left;
    const GBEES_REAL out = own + (other > 0 ? other : 0);
    const GBEES_REAL taken = out > held ? own * (held / out) : own;

    return rises ? taken : -taken;
}

/* A cell's P after a change. A float is rounded by a dither (dither.h), its last digit times `dither` / 2^32 and
 * times `lean`, -1/4 to 1/4, by which the mass is steered (gbees_ledger_lean()). P that was not negative and whose
 * sum is not stays so. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_sum)(GBEES_REAL p, GBEES_REAL change, uint32_t dither,
                                                     GBEES_REAL lean)
{
    const GBEES_REAL sum = p + change;
    /* A little more than half of the last digit, which rounds up to it. */
    const GBEES_REAL digit = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)5.960470e-8, sum, sum) - sum;
    const GBEES_REAL part = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)2.3283064e-10, (GBEES_REAL)(int32_t)dither, lean);

    if (sizeof(GBEES_REAL) != sizeof(float))
        return sum;
    return p + GBEES_REAL_FN(gbees_fused)(part, digit, change);
}
