/* ctu.h - fluxes of the corner-transport-upwind scheme (paper, Algorithm 1) in gathered form, O(n) a cell.
 *
 * A template: define GBEES_REAL (float or double) and GBEES_REAL_FN(name) before including it; no include guard, so
 * that one unit can have it in both precisions.  The derivation is in doc/method.md, "Fluxes".
 *
 * Along one axis, cells  pm2 | pm1 | pp0 | pp1  around the face between pm1 and pp0, where the velocity is u;
 * um and up are the velocities at the faces below pm1 and above pp0; lambda = time step / cell width.
 */

/* The smaller and the larger of two numbers. A GPU has an instruction for either, into which a conditional expression
 * is not compiled because of NaNs and signs of zeros; the formulas below depend on neither. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_least)(GBEES_REAL a, GBEES_REAL b)
{
#ifdef GBEES_DEVICE
    return fmin(a, b);
#else
    return a < b ? a : b;
#endif
}

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_most)(GBEES_REAL a, GBEES_REAL b)
{
#ifdef GBEES_DEVICE
    return fmax(a, b);
#else
    return a > b ? a : b;
#endif
}

/* Half of phi(theta) * d, with the monotonised-central limiter phi and theta = up / d: the smallest of d, up and a
 * quarter of their sum where all are positive, the largest where all are negative, else 0.  No division, hence
 * no exception at d = 0. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_half_mc)(GBEES_REAL d, GBEES_REAL up)
{
    GBEES_REAL mean = (GBEES_REAL)0.25 * (d + up);
    GBEES_REAL low = GBEES_REAL_FN(gbees_least)(GBEES_REAL_FN(gbees_least)(d, up), mean);
    GBEES_REAL high = GBEES_REAL_FN(gbees_most)(GBEES_REAL_FN(gbees_most)(d, up), mean);

    return GBEES_REAL_FN(gbees_most)(low, 0) + GBEES_REAL_FN(gbees_least)(high, 0);
}

/* T_j(C): half of the change of cell C by the flow along axis j in one step, from upwind differences; um and u are
 * the velocities at C's lower and upper face. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_transverse)(GBEES_REAL below, GBEES_REAL here, GBEES_REAL above,
                                                         GBEES_REAL um, GBEES_REAL u, GBEES_REAL half_lambda)
{
    GBEES_REAL in = GBEES_REAL_FN(gbees_most)(um, 0), out = GBEES_REAL_FN(gbees_least)(u, 0);

    return half_lambda * (in * (here - below) + out * (above - here));
}

/* The change of cell C by the divergence along axis j in half a step. With it S is half of the whole change, that of
 * d(v_j P)/dx_j; T is that of v_j dP/dx_j alone (doc/method.md, "The divergence term"). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_spread)(GBEES_REAL here, GBEES_REAL um, GBEES_REAL u,
                                                     GBEES_REAL half_lambda)
{
    return half_lambda * (u - um) * here;
}

/* The limiter of a cell's outgoing fluxes, 0 to 1: the factor with which they take no more than the `here` that it
 * holds. The margin is more than the rounding of 2n fluxes. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_share)(GBEES_REAL here, GBEES_REAL outgoing)
{
    GBEES_REAL most =
        here * ((GBEES_REAL)1 - 32 * (sizeof(GBEES_REAL) == 4 ? (GBEES_REAL)0x1p-23 : (GBEES_REAL)0x1p-52));

    return outgoing > most ? most / outgoing : 1;
}

/* The flux through the face: donor cell, corner terms (sm1, sp0: the sums S of the two cells) and the limited
 * second-order term. rising: u > 0. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_flux_way)(GBEES_REAL pm2, GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL pp1,
                                                       GBEES_REAL sm1, GBEES_REAL sp0, GBEES_REAL um, GBEES_REAL u,
                                                       GBEES_REAL up, GBEES_REAL lambda, int rising)
{
    GBEES_REAL d = pp0 - pm1;
    GBEES_REAL upwind_d = rising ? pm1 - pm2 : pp1 - pp0;
    GBEES_REAL donor = rising ? pm1 - sm1 : pp0 - sp0;
    GBEES_REAL below = GBEES_REAL_FN(gbees_most)(um, 0), above = GBEES_REAL_FN(gbees_least)(up, 0);
    GBEES_REAL inflow = rising ? below : above;
    /* T of the upwind cell along this axis: S contains it, but it is no corner term. */
    GBEES_REAL own = (GBEES_REAL)0.5 * lambda * inflow * upwind_d;
    /* |u| (1 - |u| lambda) / 2 * phi d  =  u (sign u - u lambda) * half of phi d */
    GBEES_REAL sign = rising ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL second = (sign - lambda * u) * GBEES_REAL_FN(gbees_half_mc)(d, upwind_d);

    return u * (donor + own + second);
}

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_flux)(GBEES_REAL pm2, GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL pp1,
                                                   GBEES_REAL sm1, GBEES_REAL sp0, GBEES_REAL um, GBEES_REAL u,
                                                   GBEES_REAL up, GBEES_REAL lambda)
{
    return GBEES_REAL_FN(gbees_ctu_flux_way)(pm2, pm1, pp0, pp1, sm1, sp0, um, u, up, lambda, u > 0);
}
