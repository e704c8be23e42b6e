/* kernel_stream.h - a sweep through the planes of a pencil at whose faces all flows the same way.  A template: see
 * kernel.c; of each precision once with ORDER 5 and then with ORDER 7, after kernel_column.h.
 *
 * That is most pencils.  Upwind is known, then, so that of the differences few are kept, and nothing is asked face by
 * face.  Where all flows down it is the same in the opposite order: mirrored, the masses are the same to the last
 * bit.
 */

enum { COLUMN_FN(HALF) = ORDER / 2 }; /* cells on either side of the upwind one that a face's mass depends on */

/* A column at a face.  level[k]: differences of order k, the newest first. */
typedef struct COLUMN_FN(stream) {
    GBEES_REAL_FN(vector) level[ORDER][COLUMN_FN(HALF) + 1];
    GBEES_REAL_FN(vector) courant, mass;
} COLUMN_FN(stream);

INLINE void COLUMN_FN(flow_on)(COLUMN_FN(stream) * s, GBEES_REAL_FN(vector) cell)
{
#pragma GCC unroll 8
    for (int k = 0; k < ORDER; k++)
#pragma GCC unroll 8
        for (int i = COLUMN_FN(HALF); i > 0; i--)
            s->level[k][i] = s->level[k][i - 1];
    s->level[0][0] = cell;
#pragma GCC unroll 8
    for (int k = 1; k < ORDER; k++)
        s->level[k][0] = s->level[k - 1][0] - s->level[k - 1][1];
}

/* p: the lowest cells, or with a negative stride the highest, with room for HALF empty planes beyond the other
 * end, the first of which takes what flows out; u: at their outer face, where what flows in comes out of nothing. */
INLINE void COLUMN_FN(stream_some)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL lambda,
                                   GBEES_REAL most, int stride, int planes, int columns)
{
    const GBEES_REAL_FN(vector) whole = most - (GBEES_REAL_FN(vector)){0};
    COLUMN_FN(stream) s[2] = {0};

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
#pragma GCC unroll 4
        for (int i = 0; i < COLUMN_FN(HALF); i++) /* not in a loop over the lanes: that would become a memset() */
            GBEES_REAL_FN(store)(p + (planes + i) * stride + w * LANES, (GBEES_REAL_FN(vector)){0});
#pragma GCC unroll 4
        for (int i = 0; i < COLUMN_FN(HALF); i++)
            COLUMN_FN(flow_on)(&s[w], GBEES_REAL_FN(load)(p + i * stride + w * LANES));
        s[w].courant = lambda * GBEES_REAL_FN(load)(u + w * LANES);
    }
    for (int at = 0; at < planes; at++, p += stride) {
        u += stride;
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++) {
            GBEES_REAL_FN(vector) d[ORDER], below = s[w].courant, before = s[w].mass;

            COLUMN_FN(flow_on)(&s[w], GBEES_REAL_FN(load)(p + COLUMN_FN(HALF) * stride + w * LANES));
            s[w].courant = lambda * GBEES_REAL_FN(load)(u + w * LANES);
            d[0] = GBEES_REAL_FN(load)(p + w * LANES);
#pragma GCC unroll 8
            for (int k = 1; k < ORDER; k++)
                d[k] = s[w].level[k][COLUMN_FN(HALF) - (k + 1) / 2];
            s[w].mass = COLUMN_FN(rising)(d, s[w].courant, s[w].courant - below, whole);
            GBEES_REAL_FN(store)(p + w * LANES, d[0] + (before - s[w].mass));
        }
    }
#pragma GCC unroll 2
    for (int w = 0; w < columns; w++)
        GBEES_REAL_FN(store)(p + w * LANES, s[w].mass);
}

/* All columns of planes of whole vectors.  p: the lowest plane of cells; u: face -1.  Returns the plane of what flows
 * out. */
static __attribute__((noinline)) const GBEES_REAL *COLUMN_FN(stream_columns)(GBEES_REAL *restrict p,
                                                                             const GBEES_REAL *restrict u,
                                                                             GBEES_REAL lambda, GBEES_REAL most,
                                                                             int lanes, int planes, int up)
{
    const int stride = up ? lanes : -lanes;
    int l = 0;

    p += up ? 0 : (planes - 1) * lanes;
    u += up ? lanes : (planes + 1) * lanes;
    lambda = up ? lambda : -lambda;
#if VECTOR_BYTES == 64
    for (; l + 2 * LANES <= lanes; l += 2 * LANES)
        COLUMN_FN(stream_some)(p + l, u + l, lambda, most, stride, planes, 2);
#endif
    for (; l < lanes; l += LANES)
        COLUMN_FN(stream_some)(p + l, u + l, lambda, most, stride, planes, 1);
    return p + planes * stride;
}
