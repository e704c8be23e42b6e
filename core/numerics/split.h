/* split.h - one sweep of the dimension-split, fifth-order, positive and conservative scheme ("split5").
 *
 * A template: define GBEES_REAL (float or double) and GBEES_REAL_FN(name) before including it; no include guard.  The
 * derivation is in doc/method.md, "The split scheme".
 *
 * Along one axis, cells  pm3 | pm2 | pm1 | pp0 | pp1 | pp2  around the face between pm1 and pp0, where the velocity
 * is u; um and up are the velocities one face below and above; lambda = time step / cell width.  U is the upwind
 * cell.
 */

/* The fraction of U that leaves through the face: its Courant number times (1 - e^-x) / x, x = time step times the
 * divergence dv/dx over U; other: the velocity at U's other face. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_swept)(GBEES_REAL u, GBEES_REAL other, GBEES_REAL lambda)
{
    GBEES_REAL x = lambda * (u > 0 ? u - other : other - u);
    GBEES_REAL speed = u > 0 ? u : -u;
    GBEES_REAL c = lambda * speed * ((GBEES_REAL)1 - x * ((GBEES_REAL)0.5 - x * (GBEES_REAL)(1.0 / 6)));

    return c < 1 ? c : 1;
}

/* The integral, over the fraction c of cell q that is nearest to the face, of the quartic with the cells' averages;
 * d1 .. d4 are the differences of the five cells around q, in the direction of the flow. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_quartic)(GBEES_REAL q, GBEES_REAL d1, GBEES_REAL d2, GBEES_REAL d3,
                                                  GBEES_REAL d4, GBEES_REAL c)
{
    GBEES_REAL behind = (11 - 3 * c) * d2 - (2 - c) * d1, ahead = (8 + 3 * c) * d3 - (1 + c) * d4;
    GBEES_REAL sum = (1 + c) * (2 + c) * behind + (2 - c) * (3 - c) * ahead;

    return c * q + c * (1 - c) * (GBEES_REAL)(1.0 / 120) * sum;
}

/* The mass that crosses the face in one step, upwards positive: never more than U holds; where U flows out on both
 * sides (`diverging`: such cells occur), each side has its share. */
GBEES_NUM GBEES_REAL GBEES_REAL_FN(gbees_split5_mass)(GBEES_REAL pm3, GBEES_REAL pm2, GBEES_REAL pm1, GBEES_REAL pp0,
                                                      GBEES_REAL pp1, GBEES_REAL pp2, GBEES_REAL um, GBEES_REAL u,
                                                      GBEES_REAL up, GBEES_REAL lambda, int diverging)
{
    GBEES_REAL e1 = pm2 - pm3, e2 = pm1 - pm2, e3 = pp0 - pm1, e4 = pp1 - pp0, e5 = pp2 - pp1;
    GBEES_REAL other = u > 0 ? um : up, sign = u > 0 ? (GBEES_REAL)1 : (GBEES_REAL)-1;
    GBEES_REAL q = u > 0 ? pm1 : pp0;
    GBEES_REAL d1 = u > 0 ? e1 : -e5, d2 = u > 0 ? e2 : -e4, d3 = sign * e3, d4 = u > 0 ? e4 : -e2;
    GBEES_REAL c = GBEES_REAL_FN(gbees_swept)(u, other, lambda);
    GBEES_REAL mass = GBEES_REAL_FN(gbees_quartic)(q, d1, d2, d3, d4, c), most = q;

    if (diverging) {
        GBEES_REAL speed = sign * u, out = sign * other < 0 ? -sign * other : 0;

        most = out > 0 ? q * (speed / (speed + out)) : q;
    }
    mass = mass > 0 ? mass : 0;
    mass = mass < most ? mass : most;
    return sign * mass;
}
