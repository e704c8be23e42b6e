/* kernel_column.h - a sweep through the planes of a pencil, one column of vectors at a time.  A template: see
 * kernel.c.
 *
 * Cells, differences and Courant numbers that neighbouring faces share stay in registers, and cells change in place.
 * Mostly all lanes of a vector flow the same way, so that nothing is chosen lane by lane: 40 operations a vector
 * of faces in place of 55.  Each way has the bits of gbees_split5_mass_to(): differences are taken upwards, and where
 * the flow goes down what depends on them is subtracted in place of added.
 */

#define GBEES_VALUE GBEES_REAL_FN(vector)
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name##_vector)
#include "numerics/split.h"
#undef GBEES_VALUE
#undef GBEES_VALUE_FN

/* What is known at face f, between cells f - 1 and f. */
typedef struct GBEES_REAL_FN(face) {
    GBEES_REAL_FN(vector) below, above; /* cells f - 1 and f */
    GBEES_REAL_FN(vector) d[5];         /* cell f - 2 + k less the one below it */
    GBEES_REAL_FN(vector) u;            /* the velocity */
    GBEES_REAL_FN(vector) spread_below; /* time step times the divergence over cell f - 1 ... */
    GBEES_REAL_FN(vector) spread_above; /* ... and f */
} GBEES_REAL_FN(face);

INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(bounded)(GBEES_REAL_FN(vector) mass, GBEES_REAL_FN(vector) q)
{
    const GBEES_REAL_FN(vector) nothing = {0};

    return GBEES_REAL_FN(lowest)(GBEES_REAL_FN(highest)(mass, nothing), q);
}

/* The masses that cross the face, where all lanes flow up, all down, or `up` says which. */
INLINE GBEES_REAL_FN(vector)
    GBEES_REAL_FN(rising)(const GBEES_REAL_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    GBEES_REAL_FN(vector)
    c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(lambda * f->u, f->spread_below), whole);
    GBEES_REAL_FN(vector) bend = GBEES_REAL_FN(gbees_quartic_bend_vector)(f->d[0], f->d[1], f->d[2], f->d[3], c);

    return GBEES_REAL_FN(bounded)(c * f->below + bend, f->below);
}

INLINE GBEES_REAL_FN(vector)
    GBEES_REAL_FN(falling)(const GBEES_REAL_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    GBEES_REAL_FN(vector)
    c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(-lambda * f->u, f->spread_above), whole);
    GBEES_REAL_FN(vector) bend = GBEES_REAL_FN(gbees_quartic_bend_vector)(f->d[4], f->d[3], f->d[2], f->d[1], c);

    return -GBEES_REAL_FN(bounded)(c * f->above - bend, f->above);
}

INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(either)(const GBEES_REAL_FN(face) * f, GBEES_REAL lambda,
                                                   GBEES_REAL_FN(vector) whole, GBEES_REAL_FN(lanes) up)
{
    GBEES_REAL_FN(vector)
    courant = lambda * f->u, spread = GBEES_REAL_FN(choose)(up, f->spread_below, f->spread_above);
    GBEES_REAL_FN(vector) q = GBEES_REAL_FN(choose)(up, f->below, f->above);
    GBEES_REAL_FN(vector) d1 = GBEES_REAL_FN(choose)(up, f->d[0], f->d[4]);
    GBEES_REAL_FN(vector) d2 = GBEES_REAL_FN(choose)(up, f->d[1], f->d[3]);
    GBEES_REAL_FN(vector) d4 = GBEES_REAL_FN(choose)(up, f->d[3], f->d[1]);

    courant = GBEES_REAL_FN(choose)(up, courant, -courant);
    GBEES_REAL_FN(vector) c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(courant, spread), whole);
    GBEES_REAL_FN(vector) bend = GBEES_REAL_FN(gbees_quartic_bend_vector)(d1, d2, f->d[2], d4, c);
    GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(bounded)(c * q + GBEES_REAL_FN(choose)(up, bend, -bend), q);

    return GBEES_REAL_FN(choose)(up, mass, -mass);
}

INLINE GBEES_REAL_FN(vector)
    GBEES_REAL_FN(cross_face)(const GBEES_REAL_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    const GBEES_REAL_FN(vector) still = {0};
    GBEES_REAL_FN(lanes) up = GBEES_REAL_FN(lanes_above)(f->u, still);
    const unsigned all = (1u << LANES) - 1, bits = GBEES_REAL_FN(lane_bits)(up);

    if (bits == all)
        return GBEES_REAL_FN(rising)(f, lambda, whole);
    if (!bits)
        return GBEES_REAL_FN(falling)(f, lambda, whole);
    return GBEES_REAL_FN(either)(f, lambda, whole, up);
}

/* p: the lowest of three cells below the lowest of the column's own; u: face -1; first, last: what crosses the
 * column's ends. */
INLINE void GBEES_REAL_FN(sweep_column)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                        GBEES_REAL *restrict first, GBEES_REAL *restrict last, GBEES_REAL lambda,
                                        GBEES_REAL most, int lanes, int planes)
{
    const GBEES_REAL_FN(vector) whole = most - (GBEES_REAL_FN(vector)){0};
    GBEES_REAL_FN(vector) cell[6], before = {0}, u_above = GBEES_REAL_FN(load)(u + lanes);
    GBEES_REAL_FN(face) f;

    for (int k = 0; k < 5; k++)
        cell[k] = GBEES_REAL_FN(load)(p + k * lanes);
    for (int k = 0; k < 4; k++)
        f.d[k + 1] = cell[k + 1] - cell[k];
    f.spread_above = lambda * (u_above - GBEES_REAL_FN(load)(u));
    f.above = cell[2];
    cell[0] = cell[3], cell[1] = cell[4];
    for (int at = 0; at <= planes; at++, p += lanes) {
        GBEES_REAL_FN(vector) next = GBEES_REAL_FN(load)(p + 5 * lanes);

        f.below = f.above, f.above = cell[0], cell[0] = cell[1];
        f.d[0] = f.d[1], f.d[1] = f.d[2], f.d[2] = f.d[3], f.d[3] = f.d[4], f.d[4] = next - cell[1];
        cell[1] = next;
        f.u = u_above, f.spread_below = f.spread_above;
        u += lanes;
        u_above = GBEES_REAL_FN(load)(u + lanes);
        f.spread_above = lambda * (u_above - f.u);
        GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(cross_face)(&f, lambda, whole);
        if (at)
            GBEES_REAL_FN(store)(p + 2 * lanes, f.below + (before - mass));
        else
            GBEES_REAL_FN(store)(first, mass);
        before = mass;
    }
    GBEES_REAL_FN(store)(last, before);
}

/* All columns of planes of whole vectors. */
static __attribute__((noinline)) void
GBEES_REAL_FN(sweep_columns)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL *restrict first,
                             GBEES_REAL *restrict last, GBEES_REAL lambda, GBEES_REAL most, int lanes, int count)
{
    for (int l = 0; l < lanes; l += LANES)
        GBEES_REAL_FN(sweep_column)(p + l, u + l, first + l, last + l, lambda, most, lanes, count / lanes);
}
