/* split_mass.h - the mass that crosses a face in one sweep, by any split scheme; the formulas of `upwind`.
 *
 * To be included after split.h and split7.h, with the same macros. The CPU's loop over faces and the GPU's loop over
 * lines call gbees_split_mass_way(): a scheme of another order is added here.
 */

/* First order: the density is constant in the upwind cell q, so that the flow carries c q through the face. If mass
 * leaves the cell through both faces gbees_split_bounded() divides it. Arguments as for gbees_split5_mass_way(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_upwind_mass_way)(GBEES_REAL pm1, GBEES_REAL pp0, GBEES_REAL um, GBEES_REAL u,
                                                          GBEES_REAL up, GBEES_REAL lambda, GBEES_REAL whole,
                                                          int rising, int diverging)
{
    GBEES_REAL q = rising ? pm1 : pp0, other = rising ? um : up, sign = rising ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept_along)(rising ? u : -u, rising ? other : -other, lambda, whole);

    return sign * GBEES_REAL_FN(gbees_split_bounded)(c * q, q, sign * u, sign * other, diverging);
}

/* The mass that crosses the face in the middle of order + 1 cells, upwards positive; cell k is p[k * stride]. v0, v1,
 * v2: velocities at the face below, at this face, and at the face above. order: that of gbees_scheme_row
 * (gbees/problem.h), a compile-time constant of the caller. Other arguments as for gbees_split5_mass_way(). */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split_mass_way)(const GBEES_REAL *p, int stride, GBEES_REAL v0,
                                                         GBEES_REAL v1, GBEES_REAL v2, GBEES_REAL lambda,
                                                         GBEES_REAL whole, int rising, int diverging, int preserving,
                                                         int order)
{
    if (order == 1)
        return GBEES_REAL_FN(gbees_upwind_mass_way)(p[0], p[stride], v0, v1, v2, lambda, whole, rising, diverging);
    if (order == 7)
        return GBEES_REAL_FN(gbees_split7_mass_way)(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride],
                                                    p[5 * stride], p[6 * stride], p[7 * stride], v0, v1, v2, lambda,
                                                    whole, rising, diverging, preserving);
    return GBEES_REAL_FN(gbees_split5_mass_way)(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride],
                                                p[5 * stride], v0, v1, v2, lambda, whole, rising, diverging,
                                                preserving);
}
