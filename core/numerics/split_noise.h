/* split_noise.h - the mass that crosses a face in one sweep that advects and diffuses, by the split schemes.
 *
 * To be included after split.h, with the same macros. In a sweep with process noise the flow brings to a face what
 * was at the distance c + v^(1/2) xi upwind of it, xi normal: so the mass is the expectation of the integral that
 * gbees_quartic() has at the distance c, whose powers of c become the moments of c + v^(1/2) xi (doc/method.md,
 * "Diffusion"). The term of sixth order that pure diffusion has is added. It is stable for v up to 1
 * (gbees_diffusion_step_rate()).
 */
/* The distance upwind of a face, in cells, from which the flow reaches it, -most to most, positive upwards, and in
 * *variance the variance of what reaches it, both for drift and noise that act together: the one that the noise has
 * added by the end is carried back by the drift, and spread points feel its curvature. below, courant, above: time
 * step times velocity / width at the face below, at this one, and at the one above; *variance: time step times Q /
 * width^2. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_origin)(GBEES_REAL below, GBEES_REAL courant, GBEES_REAL above,
                                                        GBEES_REAL most, GBEES_REAL *variance)
{
    const GBEES_REAL x = (GBEES_REAL)0.5 * (above - below), v = *variance;
    const GBEES_REAL bend = (above - courant) - (courant - below);
    GBEES_REAL c = GBEES_REAL_FN(gbees_fused)((GBEES_REAL)0.25 * v, bend, GBEES_REAL_FN(gbees_swept)(courant, x));

    c = c < most ? c : most;
    *variance = v * GBEES_REAL_FN(gbees_fused)(x, GBEES_REAL_FN(gbees_line)(-1.0, 2.0 / 3, x), (GBEES_REAL)1);
    return c > -most ? c : -most;
}

/* The mass that crosses the face in the middle of six cells, upwards positive, before it is bounded; cell k is
 * p[k * stride]. c, v: as gbees_spread_origin() gives them. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_spread_mass)(const GBEES_REAL *p, int stride, GBEES_REAL c, GBEES_REAL v)
{
    const GBEES_REAL c2 = c * c, e2 = c2 + v, e3 = c * GBEES_REAL_FN(gbees_fused)((GBEES_REAL)3, v, c2);
    const GBEES_REAL square = v * v;
    const GBEES_REAL e4 =
        GBEES_REAL_FN(gbees_fused)(c2, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)6, v, c2), (GBEES_REAL)3 * square);
    const GBEES_REAL e5 = c * GBEES_REAL_FN(gbees_fused)(c2, GBEES_REAL_FN(gbees_fused)((GBEES_REAL)10, v, c2),
                                                         (GBEES_REAL)15 * square);
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
