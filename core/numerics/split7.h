/* split7.h - sweeps as split.h has them, with seven cells around the upwind one in place of five ("split7").
 *
 * A template as split.h, and after it.  Along one axis, cells  pm4 | pm3 | pm2 | pm1 | pp0 | pp1 | pp2 | pp3  around
 * the face between pm1 and pp0.
 */

#ifndef GBEES_VALUE
#define GBEES_VALUE GBEES_REAL
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name)
#define GBEES_SPLIT_ALL
#endif

/* What the polynomial of degree six with the averages of seven cells adds to c * q: as gbees_quartic_bend(), d1 .. d6
 * the differences of the seven around q, in the direction of the flow. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_sextic_bend)(GBEES_VALUE d1, GBEES_VALUE d2, GBEES_VALUE d3,
                                                        GBEES_VALUE d4, GBEES_VALUE d5, GBEES_VALUE d6, GBEES_VALUE c)
{
    GBEES_VALUE behind = (158 - c * (78 - 10 * c)) * d3 - (2 - c) * ((22 - 5 * c) * d2 - (3 - c) * d1);
    GBEES_VALUE ahead = (90 + c * (58 + 10 * c)) * d4 - (1 + c) * ((17 + 5 * c) * d5 - (2 + c) * d6);
    GBEES_VALUE sum = (1 + c) * (2 + c) * (3 + c) * behind + (2 - c) * (3 - c) * (4 - c) * ahead;

    return c * (1 - c) * (GBEES_REAL)(1.0 / 5040) * sum;
}

#ifdef GBEES_SPLIT_ALL

/* As gbees_split5_mass_to(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split7_mass_to)(GBEES_REAL pm4, GBEES_REAL pm3, GBEES_REAL pm2,
                                                         GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL pp1,
                                                         GBEES_REAL pp2, GBEES_REAL pp3, GBEES_REAL um, GBEES_REAL u,
                                                         GBEES_REAL up, GBEES_REAL lambda, GBEES_REAL whole,
                                                         int diverging, int preserving)
{
    GBEES_REAL up3 = u > 0 ? pm4 : pp3, up2 = u > 0 ? pm3 : pp2, up1 = u > 0 ? pm2 : pp1, q = u > 0 ? pm1 : pp0;
    GBEES_REAL down1 = u > 0 ? pp0 : pm1, down2 = u > 0 ? pp1 : pm2, down3 = u > 0 ? pp2 : pm3;
    GBEES_REAL other = u > 0 ? um : up, sign = u > 0 ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL d2 = up1 - up2, d3 = q - up1, d4 = down1 - q, d5 = down2 - down1;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept_to)(u, other, lambda, whole);
    GBEES_REAL mass = c * q + GBEES_REAL_FN(gbees_sextic_bend)(up2 - up3, d2, d3, d4, d5, down3 - down2, c);

    if (preserving)
        mass = GBEES_REAL_FN(gbees_preserve)(mass, q, d2, d3, d4, d5, c);
    return sign * GBEES_REAL_FN(gbees_split_bounded)(mass, q, sign * u, sign * other, diverging);
}

GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split7_mass)(GBEES_REAL pm4, GBEES_REAL pm3, GBEES_REAL pm2, GBEES_REAL pm1,
                                                      GBEES_REAL pp0, GBEES_REAL pp1, GBEES_REAL pp2, GBEES_REAL pp3,
                                                      GBEES_REAL um, GBEES_REAL u, GBEES_REAL up, GBEES_REAL lambda,
                                                      int diverging, int preserving)
{
    return GBEES_REAL_FN(gbees_split7_mass_to)(pm4, pm3, pm2, pm1, pp0, pp1, pp2, pp3, um, u, up, lambda, 1,
                                               diverging, preserving);
}

#endif
#undef GBEES_VALUE
#undef GBEES_VALUE_FN
#undef GBEES_SPLIT_ALL
