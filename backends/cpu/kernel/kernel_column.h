/* kernel_column.h - a sweep through the planes of a pencil, one or two columns of vectors at a time.  A template: see
 * kernel.c; of each precision once with ORDER 5 and then with ORDER 7.
 *
 * From one face to the next one cell and one velocity are read; the differences of all orders that the faces share
 * stay in registers, and cells change in place.  Where all lanes at a face flow the same way nothing is chosen lane
 * by lane.  Each way has the bits of gbees_split5_mass_to() (7: two cells more, gbees_split7_mass_to()).
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

enum { COLUMN_FN(AHEAD) = ORDER / 2 }; /* cells above the one over a face that its mass depends on */

/* A column at a face.  level[0] are cells, level[k] differences of order k, odd ones at faces, even ones at cells:
 * [0] is the highest one known, each next one lies one further down. */
typedef struct COLUMN_FN(column) {
    GBEES_REAL_FN(vector) level[ORDER][COLUMN_FN(AHEAD) + 2];
    GBEES_REAL_FN(vector) courant, courant_above;     /* at the face, and at the next one */
    GBEES_REAL_FN(vector) spread_below, spread_above; /* time step times the divergence over the cells beside it */
    GBEES_REAL_FN(vector) mass;                       /* what crosses it */
} COLUMN_FN(column);

/* How many of a level are kept: down to the face, or to the cell below it. */
INLINE int COLUMN_FN(kept)(int k)
{
    return COLUMN_FN(AHEAD) + 2 - (k + 1) / 2;
}

/* One cell further up. */
INLINE void COLUMN_FN(climb)(COLUMN_FN(column) * c, GBEES_REAL_FN(vector) cell)
{
#pragma GCC unroll 8
    for (int k = 0; k < ORDER; k++)
#pragma GCC unroll 8
        for (int i = COLUMN_FN(kept)(k) - 1; i > 0; i--)
            c->level[k][i] = c->level[k][i - 1];
    c->level[0][0] = cell;
#pragma GCC unroll 8
    for (int k = 1; k < ORDER; k++)
        c->level[k][0] = c->level[k - 1][0] - c->level[k - 1][1];
}

/* The lowest of level k that is kept, and the one above it. */
INLINE GBEES_REAL_FN(vector) COLUMN_FN(lower)(const COLUMN_FN(column) * c, int k)
{
    return c->level[k][COLUMN_FN(kept)(k) - 1];
}

INLINE GBEES_REAL_FN(vector) COLUMN_FN(upper)(const COLUMN_FN(column) * c, int k)
{
    return c->level[k][COLUMN_FN(kept)(k) - 2];
}

/* The masses that cross the face, where all lanes flow up, all down, or `up` says which.  d[k]: differences of order
 * k as gbees_quartic() has them; spread: of the upwind cells, which are d[0]. */
INLINE GBEES_REAL_FN(vector) COLUMN_FN(rising)(const GBEES_REAL_FN(vector) * d, GBEES_REAL_FN(vector) courant,
                                               GBEES_REAL_FN(vector) spread, GBEES_REAL_FN(vector) whole)
{
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) c = GBEES_REAL_FN(lowest)(GBEES_REAL_FN(gbees_swept_vector)(courant, spread), whole);
#if ORDER == 5
    GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(gbees_quartic_vector)(d[0], d[1], d[2], d[3], d[4], c);
#else
    GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(gbees_sextic_vector)(d[0], d[1], d[2], d[3], d[4], d[5], d[6], c);
#endif

    return GBEES_REAL_FN(lowest)(GBEES_REAL_FN(highest)(mass, nothing), d[0]);
}

INLINE GBEES_REAL_FN(vector) COLUMN_FN(falling)(const GBEES_REAL_FN(vector) * d, GBEES_REAL_FN(vector) courant,
                                                GBEES_REAL_FN(vector) spread, GBEES_REAL_FN(vector) whole)
{
    const GBEES_REAL_FN(vector) nothing = {0};
    GBEES_REAL_FN(vector) c = GBEES_REAL_FN(highest)(GBEES_REAL_FN(gbees_swept_vector)(courant, spread), -whole);
#if ORDER == 5
    GBEES_REAL_FN(vector) mass = GBEES_REAL_FN(gbees_quartic_falling_vector)(d[0], d[1], d[2], d[3], d[4], c);
#else
    GBEES_REAL_FN(vector)
    mass = GBEES_REAL_FN(gbees_sextic_falling_vector)(d[0], d[1], d[2], d[3], d[4], d[5], d[6], c);
#endif

    return GBEES_REAL_FN(highest)(GBEES_REAL_FN(lowest)(mass, nothing), -d[0]);
}

INLINE GBEES_REAL_FN(vector)
    COLUMN_FN(either)(const COLUMN_FN(column) * c, GBEES_REAL_FN(vector) whole, GBEES_REAL_FN(lanes) up)
{
    GBEES_REAL_FN(vector) d[ORDER];

#pragma GCC unroll 8
    for (int k = 0; k < ORDER; k += 2)
        d[k] = GBEES_REAL_FN(choose)(up, COLUMN_FN(lower)(c, k), COLUMN_FN(upper)(c, k));
#pragma GCC unroll 8
    for (int k = 1; k < ORDER; k += 2)
        d[k] = GBEES_REAL_FN(choose)(up, COLUMN_FN(lower)(c, k), -COLUMN_FN(lower)(c, k));
    GBEES_REAL_FN(vector)
    mass = COLUMN_FN(rising)(d, GBEES_REAL_FN(choose)(up, c->courant, -c->courant),
                             GBEES_REAL_FN(choose)(up, c->spread_below, c->spread_above), whole);
    return GBEES_REAL_FN(choose)(up, mass, -mass);
}

/* The differences at the face, even ones of the cell below it or above it. */
INLINE void COLUMN_FN(gather)(const COLUMN_FN(column) * c, int above, GBEES_REAL_FN(vector) * d)
{
#pragma GCC unroll 8
    for (int k = 0; k < ORDER; k++)
        d[k] = above && k % 2 == 0 ? COLUMN_FN(upper)(c, k) : COLUMN_FN(lower)(c, k);
}

INLINE void COLUMN_FN(cross_face)(COLUMN_FN(column) * c, GBEES_REAL_FN(vector) whole, int columns)
{
    const GBEES_REAL_FN(vector) still = {0};
    GBEES_REAL_FN(lanes) up[2];
    unsigned all = 1, some = 0;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        up[w] = GBEES_REAL_FN(lanes_above)(c[w].courant, still);
        all &= GBEES_REAL_FN(lane_bits)(up[w]) == (1u << LANES) - 1;
        some |= GBEES_REAL_FN(lane_bits)(up[w]);
    }
#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        GBEES_REAL_FN(vector) d[ORDER];

        if (all) {
            COLUMN_FN(gather)(&c[w], 0, d);
            c[w].mass = COLUMN_FN(rising)(d, c[w].courant, c[w].spread_below, whole);
        } else if (!some) {
            COLUMN_FN(gather)(&c[w], 1, d);
            c[w].mass = COLUMN_FN(falling)(d, c[w].courant, c[w].spread_above, whole);
        } else {
            c[w].mass = COLUMN_FN(either)(&c[w], whole, up[w]);
        }
    }
}

/* Whether all lanes flow up, or all down: at an end of a pencil, in, out of empty cells. */
INLINE int COLUMN_FN(all_flow)(const COLUMN_FN(column) * c, int up, int columns)
{
    const GBEES_REAL_FN(vector) still = {0};
    int all = 1;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        GBEES_REAL_FN(lanes)
        lanes =
            up ? GBEES_REAL_FN(lanes_above)(c[w].courant, still) : GBEES_REAL_FN(lanes_above)(still, c[w].courant);

        all &= GBEES_REAL_FN(lane_bits)(lanes) == (1u << LANES) - 1;
    }
    return all;
}

/* On to the next face: one cell further up, and the velocity above it. */
INLINE void COLUMN_FN(advance)(COLUMN_FN(column) * c, const GBEES_REAL *p, const GBEES_REAL *u, GBEES_REAL lambda,
                               int lanes, int columns)
{
#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        COLUMN_FN(climb)(&c[w], GBEES_REAL_FN(load)(p + COLUMN_FN(AHEAD) * lanes + w * LANES));
        c[w].courant = c[w].courant_above;
        c[w].courant_above = lambda * GBEES_REAL_FN(load)(u + w * LANES);
        c[w].spread_below = c[w].spread_above;
        c[w].spread_above = c[w].courant_above - c[w].courant;
    }
}

/* p: the lowest cells of the columns, with as many planes below and above as a face's mass depends on, as they were,
 * or empty at an end of the pencil; u: face -1; below, above: whether the pencil goes on there.  What crosses its
 * ends takes the place of the cells beyond them: what flows out there, negative what flows in.  Where all flows in at
 * an end, out of nothing, that face is passed over. */
INLINE void COLUMN_FN(sweep_some)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL lambda,
                                  GBEES_REAL most, int lanes, int planes, int below, int above, int columns)
{
    const GBEES_REAL_FN(vector) whole = most - (GBEES_REAL_FN(vector)){0};
    COLUMN_FN(column) c[2] = {0};
    int at = 0;

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        if (below)
#pragma GCC unroll 8
            for (int i = -1 - COLUMN_FN(AHEAD); i < 0; i++)
                COLUMN_FN(climb)(&c[w], GBEES_REAL_FN(load)(p + i * lanes + w * LANES));
#pragma GCC unroll 4
        for (int i = 0; i < COLUMN_FN(AHEAD); i++)
            COLUMN_FN(climb)(&c[w], GBEES_REAL_FN(load)(p + i * lanes + w * LANES));
        c[w].courant_above = lambda * GBEES_REAL_FN(load)(u + lanes + w * LANES);
        c[w].spread_above = c[w].courant_above - lambda * GBEES_REAL_FN(load)(u + w * LANES);
        c[w].courant = c[w].courant_above;
    }
    u += 2 * lanes;
    if (!below && COLUMN_FN(all_flow)(c, 1, columns)) {
        COLUMN_FN(advance)(c, p, u, lambda, lanes, columns);
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            GBEES_REAL_FN(store)(p - lanes + w * LANES, c[w].mass);
        p += lanes;
        u += lanes;
        at++;
    }
    for (;; at++, p += lanes, u += lanes) {
        COLUMN_FN(advance)(c, p, u, lambda, lanes, columns);
        GBEES_REAL_FN(vector) before[2] = {c[0].mass, c[1].mass};
        if (at == planes && !above && COLUMN_FN(all_flow)(c, 0, columns))
            c[0].mass = c[1].mass = (GBEES_REAL_FN(vector)){0};
        else
            COLUMN_FN(cross_face)(c, whole, columns);
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            GBEES_REAL_FN(store)(p - lanes + w * LANES, COLUMN_FN(lower)(&c[w], 0) + (before[w] - c[w].mass));
        if (at == planes)
            break;
    }
    if (!above)
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            GBEES_REAL_FN(store)(p + w * LANES, c[w].mass);
}

/* All columns of planes of whole vectors: two at once where that many registers are. */
static __attribute__((noinline)) void COLUMN_FN(sweep_columns)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                                               GBEES_REAL lambda, GBEES_REAL most, int lanes,
                                                               int planes, int below, int above)
{
    int l = 0;

#if VECTOR_BYTES == 64
    for (; l + 2 * LANES <= lanes; l += 2 * LANES)
        COLUMN_FN(sweep_some)(p + l, u + l, lambda, most, lanes, planes, below, above, 2);
#endif
    for (; l < lanes; l += LANES)
        COLUMN_FN(sweep_some)(p + l, u + l, lambda, most, lanes, planes, below, above, 1);
}
