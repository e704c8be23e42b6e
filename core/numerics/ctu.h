/* ctu.h - fluxes of the corner-transport-upwind scheme (paper, Algorithm 1). The corner terms of a cell are gathered
 * from its neighbours, O(n) operations a cell; the paper scatters them, O(n^2).
 *
 * There is no include guard: a unit includes the file once for each precision, after it has defined GBEES_REAL (float
 * or double) and GBEES_REAL_FN(name). The derivation is in doc/paper.md, "Fluxes".
 *
 * Along one axis, cells  pm2 | pm1 | pp0 | pp1  around the face between pm1 and pp0, where the velocity is u;
 * um and up are the velocities at the faces below pm1 and above pp0; lambda = time step / cell width.
 */

/* The smaller of two numbers. On a GPU fmin() is one instruction; a conditional expression is not compiled to it, as
 * it treats NaN and -0 differently, on which the formulas below don't depend. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_least)(GBEES_REAL a, GBEES_REAL b)
{
#ifdef GBEES_DEVICE
    return fmin(a, b);
#else
    return a < b ? a : b;
#endif
}

/* The larger of two numbers. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_most)(GBEES_REAL a, GBEES_REAL b)
{
#ifdef GBEES_DEVICE
    return fmax(a, b);
#else
    return a > b ? a : b;
#endif
}

/* Half of phi(theta) d, with the monotonised-central limiter phi and theta = up / d: the smallest of d, up and a
 * quarter of their sum if all are positive, the largest if all are negative, else 0. There is no division, so d may
 * be 0. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_half_mc)(GBEES_REAL d, GBEES_REAL up)
{
    GBEES_REAL mean = (GBEES_REAL)0.25 * (d + up);
    GBEES_REAL low = GBEES_REAL_FN(gbees_least)(GBEES_REAL_FN(gbees_least)(d, up), mean);
    GBEES_REAL high = GBEES_REAL_FN(gbees_most)(GBEES_REAL_FN(gbees_most)(d, up), mean);

    return GBEES_REAL_FN(gbees_most)(low, 0) + GBEES_REAL_FN(gbees_least)(high, 0);
}

/* T_j(C): half of the change of cell C by v_j dP/dx_j in one step, from upwind differences. below, here, above: P of
 * the cells along axis j, C in the middle; um and u: velocities at C's lower and upper face; half_lambda: lambda / 2.
 */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_transverse)(GBEES_REAL below, GBEES_REAL here, GBEES_REAL above,
                                                         GBEES_REAL um, GBEES_REAL u, GBEES_REAL half_lambda)
{
    GBEES_REAL in = GBEES_REAL_FN(gbees_most)(um, 0), out = GBEES_REAL_FN(gbees_least)(u, 0);

    return half_lambda * (in * (here - below) + out * (above - here));
}

/* The flux F through the face, upwards positive; lambda F is the mass that crosses it in a step. Its parts are that
 * of the donor cell, the corner terms, and the limited second-order term. sm1, sp0: the sums S of T over all axes, of
 * the cells pm1 and pp0. rising: whether u > 0. */
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

/* The flux F through the face as gbees_ctu_flux_way() computes it, for u of any sign. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_ctu_flux)(GBEES_REAL pm2, GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL pp1,
                                                   GBEES_REAL sm1, GBEES_REAL sp0, GBEES_REAL um, GBEES_REAL u,
                                                   GBEES_REAL up, GBEES_REAL lambda)
{
    return GBEES_REAL_FN(gbees_ctu_flux_way)(pm2, pm1, pp0, pp1, sm1, sp0, um, u, up, lambda, u > 0);
}
