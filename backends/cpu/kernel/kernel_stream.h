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

/* From one face to the next, over the cells p, which it returns as they become; u: at the far face. */
INLINE GBEES_REAL_FN(vector) COLUMN_FN(stream_on)(COLUMN_FN(stream) * s, const GBEES_REAL *p, const GBEES_REAL *u,
                                                  GBEES_REAL lambda, GBEES_REAL_FN(vector) whole, int stride)
{
    GBEES_REAL_FN(vector) d[ORDER], below = s->courant, before = s->mass;

    COLUMN_FN(flow_on)(s, GBEES_REAL_FN(load)(p + COLUMN_FN(HALF) * stride));
    s->courant = lambda * GBEES_REAL_FN(load)(u);
    d[0] = GBEES_REAL_FN(load)(p);
#pragma GCC unroll 8
    for (int k = 1; k < ORDER; k++)
        d[k] = s->level[k][COLUMN_FN(HALF) - (k + 1) / 2];
    s->mass = COLUMN_FN(rising)(d, s->courant, s->courant - below, whole);
    return d[0] + (before - s->mass);
}

/* p: the lowest cells, or with a negative stride the highest; u: at their outer face.  Where that is an end of the
 * pencil what flows in comes out of nothing; else HALF + 1 planes before are as they were, and so are HALF planes
 * beyond the other end.  Where that one is the pencil's, there is room for them, and the first takes what flows out.
 */
INLINE void COLUMN_FN(stream_some)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL lambda,
                                   GBEES_REAL most, int stride, int planes, int before, int beyond, int columns)
{
    const GBEES_REAL_FN(vector) whole = most - (GBEES_REAL_FN(vector)){0};
    COLUMN_FN(stream) s[2] = {0};

#pragma GCC unroll 2
    for (int w = 0; w < columns; w++) {
        const int l = w * LANES;

        if (!beyond)
#pragma GCC unroll 4
            for (int i = 0; i < COLUMN_FN(HALF); i++) /* not in a loop over the lanes: that would become a memset() */
                GBEES_REAL_FN(store)(p + (planes + i) * stride + l, (GBEES_REAL_FN(vector)){0});
        if (before) {
#pragma GCC unroll 8
            for (int i = -1 - COLUMN_FN(HALF); i < COLUMN_FN(HALF) - 1; i++)
                COLUMN_FN(flow_on)(&s[w], GBEES_REAL_FN(load)(p + i * stride + l));
            s[w].courant = lambda * GBEES_REAL_FN(load)(u - stride + l);
            (void)COLUMN_FN(stream_on)(&s[w], p - stride + l, u + l, lambda, whole, stride);
            continue;
        }
#pragma GCC unroll 4
        for (int i = 0; i < COLUMN_FN(HALF); i++)
            COLUMN_FN(flow_on)(&s[w], GBEES_REAL_FN(load)(p + i * stride + l));
        s[w].courant = lambda * GBEES_REAL_FN(load)(u + l);
    }
    for (int at = 0; at < planes; at++, p += stride) {
        u += stride;
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++) {
            const int l = w * LANES;

            GBEES_REAL_FN(store)(p + l, COLUMN_FN(stream_on)(&s[w], p + l, u + l, lambda, whole, stride));
        }
    }
    if (!beyond)
#pragma GCC unroll 2
        for (int w = 0; w < columns; w++)
            GBEES_REAL_FN(store)(p + w * LANES, s[w].mass);
}

/* All columns of planes of whole vectors.  p: the lowest plane of cells; u: face -1; below, above: whether the pencil
 * goes on there. */
INLINE void COLUMN_FN(stream_all)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u, GBEES_REAL lambda,
                                  GBEES_REAL most, int lanes, int planes, int up, int below, int above)
{
    const int stride = up ? lanes : -lanes, before = up ? below : above, beyond = up ? above : below;
    int l = 0;

    p += up ? 0 : (planes - 1) * lanes;
    u += up ? lanes : (planes + 1) * lanes;
    lambda = up ? lambda : -lambda;
#if VECTOR_BYTES == 64
    for (; l + 2 * LANES <= lanes; l += 2 * LANES)
        COLUMN_FN(stream_some)(p + l, u + l, lambda, most, stride, planes, before, beyond, 2);
#endif
    for (; l < lanes; l += LANES)
        COLUMN_FN(stream_some)(p + l, u + l, lambda, most, stride, planes, before, beyond, 1);
}

/* Of a pencil as a whole, with nothing to ask for at its ends. */
static __attribute__((noinline)) void COLUMN_FN(stream_columns)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                                                GBEES_REAL lambda, GBEES_REAL most, int lanes,
                                                                int planes, int up)
{
    COLUMN_FN(stream_all)(p, u, lambda, most, lanes, planes, up, 0, 0);
}

static __attribute__((noinline)) void COLUMN_FN(stream_segment)(GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                                                GBEES_REAL lambda, GBEES_REAL most, int lanes,
                                                                int planes, int up, int below, int above)
{
    COLUMN_FN(stream_all)(p, u, lambda, most, lanes, planes, up, below, above);
}
