/* kernel_column.h - a sweep through the planes of a pencil, one column of vectors at a time.  A template: see
 * kernel.c; of each precision once with ORDER 5 and then with ORDER 7.
 *
 * Cells, differences and Courant numbers that neighbouring faces share stay in registers, and cells change in place.
 * Mostly all lanes of a vector flow the same way, so that nothing is chosen lane by lane: 40 operations a vector
 * of faces in place of 55.  Each way has the bits of gbees_split5_mass_to() (7: two cells more,
 * gbees_split7_mass_to()): differences are taken upwards, and where the flow goes down what depends on them is
 * subtracted in place of added.
 */

#define GBEES_VALUE GBEES_REAL_FN(vector)
#define GBEES_VALUE_FN(name) GBEES_REAL_FN(name##_vector)
#undef COLUMN_FN
#if ORDER == 5
#define COLUMN_FN(name) GBEES_REAL_FN(name)
#include "numerics/split.h"
#else
#define COLUMN_FN(name) GBEES_REAL_FN(name##7)
#include "numerics/split7.h"
#endif
#undef GBEES_VALUE
#undef GBEES_VALUE_FN

/* What is known at face f, between cells f - 1 and f. */
typedef struct COLUMN_FN(face) {
    GBEES_REAL_FN(vector) below, above; /* cells f - 1 and f */
    GBEES_REAL_FN(vector) d[ORDER];     /* cell f - ORDER / 2 + k less the one below it */
    GBEES_REAL_FN(vector) u;            /* the velocity */
    GBEES_REAL_FN(vector) spread_below; /* time step times the divergence over cell f - 1 ... */
    GBEES_REAL_FN(vector) spread_above; /* ... and f */
} COLUMN_FN(face);

/* What the polynomial adds to c times the upwind cell, for the flow up or down; `either`: its differences chosen. */
INLINE GBEES_REAL_FN(vector) COLUMN_FN(bend_rising)(const GBEES_REAL_FN(vector) * d, GBEES_REAL_FN(vector) c)
{
#if ORDER == 5
    return GBEES_REAL_FN(gbees_quartic_bend_vector)(d[0], d[1], d[2], d[3], c);
#else
    return GBEES_REAL_FN(gbees_sextic_bend_vector)(d[0], d[1], d[2], d[3], d[4], d[5], c);
#endif
}

INLINE GBEES_REAL_FN(vector) COLUMN_FN(bend_falling)(const GBEES_REAL_FN(vector) * d, GBEES_REAL_FN(vector) c)
{
#if ORDER == 5
    return GBEES_REAL_FN(gbees_quartic_bend_vector)(d[4], d[3], d[2], d[1], c);
#else
    return GBEES_REAL_FN(gbees_sextic_bend_vector)(d[6], d[5], d[4], d[3], d[2], d[1], c);
#endif
}

/* The masses that cross the face, where all lanes flow up, all down, or `up` says which. */
INLINE GBEES_REAL_FN(vector)
    COLUMN_FN(rising)(const COLUMN_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    GBEES_REAL_FN(vector)
    c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(lambda * f->u, f->spread_below), whole);
    GBEES_REAL_FN(vector) bend = COLUMN_FN(bend_rising)(f->d, c);

    return GBEES_REAL_FN(bounded)(c * f->below + bend, f->below);
}

INLINE GBEES_REAL_FN(vector)
    COLUMN_FN(falling)(const COLUMN_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    GBEES_REAL_FN(vector)
    c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(-lambda * f->u, f->spread_above), whole);
    GBEES_REAL_FN(vector) bend = COLUMN_FN(bend_falling)(f->d, c);

    return -GBEES_REAL_FN(bounded)(c * f->above - bend, f->above);
}

INLINE GBEES_REAL_FN(vector) COLUMN_FN(either)(const COLUMN_FN(face) * f, GBEES_REAL lambda,
                                               GBEES_REAL_FN(vector) whole, GBEES_REAL_FN(lanes) up)
{
    GBEES_REAL_FN(vector)
    courant = lambda * f->u, spread = GBEES_REAL_FN(choose)(up, f->spread_below, f->spread_above);
    GBEES_REAL_FN(vector) q = GBEES_REAL_FN(choose)(up, f->below, f->above);
    GBEES_REAL_FN(vector) d[ORDER];

    for (int k = 0; k < ORDER; k++)
        d[k] = GBEES_REAL_FN(choose)(up, f->d[k], f->d[ORDER - 1 - k]);
    courant = GBEES_REAL_FN(choose)(up, courant, -courant);
    GBEES_REAL_FN(vector) c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(courant, spread), whole);
    GBEES_REAL_FN(vector) bend = COLUMN_FN(bend_rising)(d, c);
    GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(bounded)(c * q + GBEES_REAL_FN(choose)(up, bend, -bend), q);

    return GBEES_REAL_FN(choose)(up, mass, -mass);
}

INLINE GBEES_REAL_FN(vector)
    COLUMN_FN(cross_face)(const COLUMN_FN(face) * f, GBEES_REAL lambda, GBEES_REAL_FN(vector) whole)
{
    const GBEES_REAL_FN(vector) still = {0};
    GBEES_REAL_FN(lanes) up = GBEES_REAL_FN(lanes_above)(f->u, still);
    const unsigned all = (1u << LANES) - 1, bits = GBEES_REAL_FN(lane_bits)(up);

    if (bits == all)
        return COLUMN_FN(rising)(f, lambda, whole);
    if (!bits)
        return COLUMN_FN(falling)(f, lambda, whole);
    return COLUMN_FN(either)(f, lambda, whole, up);
}

/* p: the lowest of the cells below the column's own that its first face asks; u: face -1; first, last: what crosses
 * the column's ends. */
INLINE void COLUMN_FN(sweep_column)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL *restrict first,
                                    GBEES_REAL *restrict last, GBEES_REAL lambda, GBEES_REAL most, int lanes,
                                    int planes)
{
    enum { BEYOND = (ORDER + 1) / 2 };
    const GBEES_REAL_FN(vector) whole = most - (GBEES_REAL_FN(vector)){0};
    GBEES_REAL_FN(vector) cell[ORDER], before = {0}, u_above = GBEES_REAL_FN(load)(u + lanes);
    COLUMN_FN(face) f;

    for (int k = 0; k < ORDER; k++)
        cell[k] = GBEES_REAL_FN(load)(p + k * lanes);
    for (int k = 0; k < ORDER - 1; k++)
        f.d[k + 1] = cell[k + 1] - cell[k];
    f.spread_above = lambda * (u_above - GBEES_REAL_FN(load)(u));
    f.above = cell[BEYOND - 1];
    for (int k = 0; k < BEYOND - 1; k++)
        cell[k] = cell[BEYOND + k]; /* those above it */
    for (int at = 0; at <= planes; at++, p += lanes) {
        GBEES_REAL_FN(vector) next = GBEES_REAL_FN(load)(p + ORDER * lanes);

        f.below = f.above, f.above = cell[0];
        for (int k = 0; k < ORDER - 1; k++)
            f.d[k] = f.d[k + 1];
        f.d[ORDER - 1] = next - cell[BEYOND - 2];
        for (int k = 0; k < BEYOND - 2; k++)
            cell[k] = cell[k + 1];
        cell[BEYOND - 2] = next;
        f.u = u_above, f.spread_below = f.spread_above;
        u += lanes;
        u_above = GBEES_REAL_FN(load)(u + lanes);
        f.spread_above = lambda * (u_above - f.u);
        GBEES_REAL_FN(vector) mass = COLUMN_FN(cross_face)(&f, lambda, whole);
        if (at)
            GBEES_REAL_FN(store)(p + (BEYOND - 1) * lanes, f.below + (before - mass));
        else
            GBEES_REAL_FN(store)(first, mass);
        before = mass;
    }
    GBEES_REAL_FN(store)(last, before);
}

/* All columns of planes of whole vectors. */
static __attribute__((noinline)) void COLUMN_FN(sweep_columns)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                                               GBEES_REAL *restrict first, GBEES_REAL *restrict last,
                                                               GBEES_REAL lambda, GBEES_REAL most, int lanes,
                                                               int count)
{
    for (int l = 0; l < lanes; l += LANES)
        COLUMN_FN(sweep_column)(p + l, u + l, first + l, last + l, lambda, most, lanes, count / lanes);
}
#undef ORDER
