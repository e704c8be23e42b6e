/* split7.h - the sweep of split.h in seventh order, with seven cells around the upwind one in place of five
 * ("split7"; doc/method.md, "Fifth or seventh order").
 *
 * To be included after split.h, with the same macros; arguments have the same meanings. Along one axis, cells
 *
 *     pm4 | pm3 | pm2 | pm1 | pp0 | pp1 | pp2 | pp3
 *
 * around the face between pm1 and pp0.
 */

#ifndef GBEES_VALUE
#define GBEES_VALUE GBEES_REAL
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name)
#define GBEES_SPLIT_ALL
#endif

/* As gbees_quartic(), with the masses of the seven cells around q. d5: fifth difference at the upper face; d6: sixth
 * difference at q. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_sextic)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2, GBEES_VALUE d3,
                                                   GBEES_VALUE d4, GBEES_VALUE d5, GBEES_VALUE d6, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-3.0 / 7, -1.0 / 7, c), d6, d5);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(0.5, -1.0 / 6, c), sum, d4);
    return GBEES_VALUE_FN(gbees_quartic)(q, d1, d2, d3, sum, c);
}

/* As gbees_quartic_falling(), likewise. */
GBEES_NUM GBEES_VALUE GBEES_VALUE_FN(gbees_sextic_falling)(GBEES_VALUE q, GBEES_VALUE d1, GBEES_VALUE d2,
                                                           GBEES_VALUE d3, GBEES_VALUE d4, GBEES_VALUE d5,
                                                           GBEES_VALUE d6, GBEES_VALUE c)
{
    GBEES_VALUE sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(3.0 / 7, -1.0 / 7, c), d6, d5);

    sum = GBEES_VALUE_FN(gbees_fused)(GBEES_VALUE_FN(gbees_line)(-0.5, -1.0 / 6, c), sum, d4);
    return GBEES_VALUE_FN(gbees_quartic_falling)(q, d1, d2, d3, sum, c);
}

#ifdef GBEES_SPLIT_ALL

/* As gbees_split5_mass_way(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split7_mass_way)(GBEES_REAL pm4, GBEES_REAL pm3, GBEES_REAL pm2,
                                                          GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL pp1,
                                                          GBEES_REAL pp2, GBEES_REAL pp3, GBEES_REAL um, GBEES_REAL u,
                                                          GBEES_REAL up, GBEES_REAL lambda, GBEES_REAL whole,
                                                          int rising, int diverging, int preserving)
{
    GBEES_REAL d = pp0 - pm1, dm1 = pm1 - pm2, dm2 = pm2 - pm3, dm3 = pm3 - pm4;
    GBEES_REAL dp1 = pp1 - pp0, dp2 = pp2 - pp1, dp3 = pp3 - pp2;
    GBEES_REAL below = d - dm1, below2 = dm1 - dm2, above = dp1 - d, above2 = dp2 - dp1;
    GBEES_REAL third = above - below, third_below = below - below2, third_above = above2 - above;
    GBEES_REAL fourth_below = third - third_below, fourth_above = third_above - third;
    GBEES_REAL fifth = fourth_above - fourth_below;
    GBEES_REAL sixth = rising ? fifth - (fourth_below - (third_below - (below2 - (dm2 - dm3))))
                              : dp3 - dp2 - above2 - third_above - fourth_above - fifth;
    GBEES_REAL q = rising ? pm1 : pp0, other = rising ? um : up, sign = rising ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept_along)(rising ? u : -u, rising ? other : -other, lambda, whole);
    GBEES_REAL mass = GBEES_REAL_FN(gbees_sextic)(q, sign * d, rising ? below : above, sign * third,
                                                  rising ? fourth_below : fourth_above, sign * fifth, sixth, c);

    if (preserving)
        mass = GBEES_REAL_FN(gbees_preserve)(mass, q, rising ? dm2 : -dp2, rising ? dm1 : -dp1, sign * d,
                                             rising ? dp1 : -dm1, c);
    return sign * GBEES_REAL_FN(gbees_split_bounded)(mass, q, sign * u, sign * other, diverging);
}

#endif
#undef GBEES_VALUE
#undef GBEES_VALUE_FN
#undef GBEES_SPLIT_ALL
