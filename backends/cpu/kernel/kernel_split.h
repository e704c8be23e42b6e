/* kernel_split.h - regroups the cells of a brick into planes along an axis, and back.  A template: see kernel.c.
 *
 * With vectors of 2^m lanes a cell's number is m lane bits and 6 - m vector bits.  Each bit of the axis that is a
 * lane bit is exchanged with a vector bit that is not the axis's: a two-source shuffle for each pair of vectors.
 * After that, planes are sets of whole vectors.  The exchange is its own inverse.
 */

typedef GBEES_REAL GBEES_REAL_FN(vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(GBEES_REAL)), may_alias));

/* Whole vectors: a memcpy() of one becomes moves of pieces, which a later load of the whole has to wait for. */
INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(load)(const GBEES_REAL *from)
{
    return *(const GBEES_REAL_FN(vector) *)from;
}

INLINE void GBEES_REAL_FN(store)(GBEES_REAL *to, GBEES_REAL_FN(vector) v)
{
    *(GBEES_REAL_FN(vector) *)to = v;
}

/* Some planes as they are; a plane may be a single cell (n = 1) or a part of a vector (n = 2). */
INLINE void GBEES_REAL_FN(copy)(GBEES_REAL *restrict to, const GBEES_REAL *restrict from, int count)
{
    int i = 0;

    for (; i + LANES <= count; i += LANES)
        GBEES_REAL_FN(store)(to + i, GBEES_REAL_FN(load)(from + i));
    for (; i < count; i++)
        to[i] = from[i];
}

#undef SPLIT_ALL
#if LANES == 16
#define SPLIT_ALL(F, b)                                                                                              \
    F(b, 0), F(b, 1), F(b, 2), F(b, 3), F(b, 4), F(b, 5), F(b, 6), F(b, 7), F(b, 8), F(b, 9), F(b, 10), F(b, 11),    \
        F(b, 12), F(b, 13), F(b, 14), F(b, 15)
#elif LANES == 8
#define SPLIT_ALL(F, b) F(b, 0), F(b, 1), F(b, 2), F(b, 3), F(b, 4), F(b, 5), F(b, 6), F(b, 7)
#elif LANES == 4
#define SPLIT_ALL(F, b) F(b, 0), F(b, 1), F(b, 2), F(b, 3)
#else
#define SPLIT_ALL(F, b) F(b, 0), F(b, 1)
#endif
/* Where lane l of the two results comes from; lanes of the second source count from LANES. */
#undef SPLIT_LO
#undef SPLIT_HI
#define SPLIT_LO(b, l) ((l) >> (b)&1 ? LANES + ((l) ^ 1 << (b)) : (l))
#define SPLIT_HI(b, l) ((l) >> (b)&1 ? LANES + (l) : ((l) ^ 1 << (b)))
/* Where lane l comes from if bits 0 and 3 of lanes change places. */
#undef SPLIT_TURN
#define SPLIT_TURN(b, l) (((l)&6) | ((l) >> 3 & 1) | ((l)&1) << 3)
#undef SPLIT_CASE
#define SPLIT_CASE(b)                                                                                                \
    lo = __builtin_shufflevector(*x, *y, SPLIT_ALL(SPLIT_LO, b));                                                    \
    hi = __builtin_shufflevector(*x, *y, SPLIT_ALL(SPLIT_HI, b));                                                    \
    break

/* Exchanges lane bit `bit` with the bit that tells x from y. */
INLINE void GBEES_REAL_FN(exchange)(GBEES_REAL_FN(vector) * x, GBEES_REAL_FN(vector) * y, int bit)
{
    GBEES_REAL_FN(vector) lo, hi;

    switch (bit) {
#if LANES > 8
    case 3:
        SPLIT_CASE(3);
#endif
#if LANES > 4
    case 2:
        SPLIT_CASE(2);
#endif
#if LANES > 2
    case 1:
        SPLIT_CASE(1);
#endif
    default:
        SPLIT_CASE(0);
    }
    *x = lo;
    *y = hi;
}

/* The vector bit that lane bit `bit` of the axis (bits shift .. shift + log2_edge - 1) is exchanged with: the free
 * vector bits in turn. */
INLINE int GBEES_REAL_FN(partner)(int bit, int shift, int log2_edge)
{
    int rank = bit - shift; /* how many lane bits of the axis lie below this one */
    int at = LOG2_LANES;

    for (;; at++) {
        if (at >= shift && at < shift + log2_edge)
            continue;
        if (rank-- == 0)
            return at;
    }
}

/* The 8 x 8 cells of a brick of two dimensions: bits 0 to 2 of a cell's number change places with bits 3 to 5. */
INLINE void GBEES_REAL_FN(transpose)(GBEES_REAL_FN(vector) * v)
{
#if LANES == 16 /* bits 0 and 3 are both of a lane */
#pragma GCC unroll 4
    for (int i = 0; i < 64 / LANES; i++)
        v[i] = __builtin_shufflevector(v[i], v[i], SPLIT_ALL(SPLIT_TURN, 0));
#endif
#pragma GCC unroll 3
    for (int bit = 0; bit < 3; bit++) {
        if (bit + 3 < LOG2_LANES)
            continue;
        const int partner = 1 << (bit + 3 - LOG2_LANES), own = bit < LOG2_LANES ? 0 : 1 << (bit - LOG2_LANES);

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++) {
            if (i & partner)
                continue;
            if (!own) {
                GBEES_REAL_FN(exchange)(&v[i], &v[i | partner], bit);
            } else if (i & own) { /* both of a vector */
                GBEES_REAL_FN(vector) other = v[(i | partner) ^ own];

                v[(i | partner) ^ own] = v[i];
                v[i] = other;
            }
        }
    }
}

INLINE void GBEES_REAL_FN(exchange_all)(GBEES_REAL_FN(vector) * v, int shift, int log2_edge)
{
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++) { /* edges of 2 and 4 only: longer ones go another way */
        int bit = shift + b;
        if (b >= log2_edge || bit >= LOG2_LANES)
            break;
        int partner = 1 << (GBEES_REAL_FN(partner)(bit, shift, log2_edge) - LOG2_LANES);

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            if (!(i & partner))
                GBEES_REAL_FN(exchange)(&v[i], &v[i | partner], bit);
    }
}

/* After the exchange, where vector i lies among the planes: its plane times vectors a plane, plus its rest. */
INLINE int GBEES_REAL_FN(place)(int i, int shift, int log2_edge)
{
    int plane = 0, taken = 0, rest = 0, at = 0;

    for (int b = 0; b < log2_edge; b++) {
        int bit = shift + b;
        int where = bit < LOG2_LANES ? GBEES_REAL_FN(partner)(bit, shift, log2_edge) : bit;

        plane |= (i >> (where - LOG2_LANES) & 1) << b;
        taken |= 1 << (where - LOG2_LANES);
    }
    for (int b = 0; b < 6 - LOG2_LANES; b++)
        if (!(taken >> b & 1))
            rest |= (i >> b & 1) << at++;
    return plane * ((64 / LANES) >> log2_edge) + rest;
}

/* Edges of 8 and more: a brick has two axes, or one. */
INLINE void GBEES_REAL_FN(turn_long)(const GBEES_REAL *restrict from, GBEES_REAL *restrict to, int count, int shift,
                                     int log2_edge)
{
    GBEES_REAL_FN(vector) v[64 / LANES];

    if (shift + log2_edge == 6) {
        GBEES_REAL_FN(copy)(to, from, count);
        return;
    }
#pragma GCC unroll 32
    for (int i = 0; i < 64 / LANES; i++)
        v[i] = GBEES_REAL_FN(load)(from + i * LANES);
    GBEES_REAL_FN(transpose)(v);
#pragma GCC unroll 32
    for (int i = 0; i < 64 / LANES; i++)
        GBEES_REAL_FN(store)(to + i * LANES, v[i]);
}

/* cells[cells] -> planes[edge][cells / edge]. */
INLINE void GBEES_REAL_FN(split)(const GBEES_REAL *restrict cells, GBEES_REAL *restrict planes, int count, int shift,
                                 int log2_edge)
{
    if (log2_edge == 0) {
        GBEES_REAL_FN(copy)(planes, cells, count);
    } else if (log2_edge > 2) {
        GBEES_REAL_FN(turn_long)(cells, planes, count, shift, log2_edge);
    } else {
        GBEES_REAL_FN(vector) v[64 / LANES];

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            v[i] = GBEES_REAL_FN(load)(cells + i * LANES);
        GBEES_REAL_FN(exchange_all)(v, shift, log2_edge);
#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            GBEES_REAL_FN(store)(planes + GBEES_REAL_FN(place)(i, shift, log2_edge) * LANES, v[i]);
    }
}

/* The way back. */
INLINE void GBEES_REAL_FN(merge)(const GBEES_REAL *restrict planes, GBEES_REAL *restrict cells, int count, int shift,
                                 int log2_edge)
{
    if (log2_edge == 0) {
        GBEES_REAL_FN(copy)(cells, planes, count);
    } else if (log2_edge > 2) {
        GBEES_REAL_FN(turn_long)(planes, cells, count, shift, log2_edge);
    } else {
        GBEES_REAL_FN(vector) v[64 / LANES];

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            v[i] = GBEES_REAL_FN(load)(planes + GBEES_REAL_FN(place)(i, shift, log2_edge) * LANES);
        GBEES_REAL_FN(exchange_all)(v, shift, log2_edge);
#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            GBEES_REAL_FN(store)(cells + i * LANES, v[i]);
    }
}

/* The way back, added to what the cells hold. */
INLINE void GBEES_REAL_FN(merge_add)(const GBEES_REAL *restrict planes, GBEES_REAL *restrict cells, int count,
                                     int shift, int log2_edge)
{
    _Alignas(64) GBEES_REAL part[64];
    int i = 0;

    GBEES_REAL_FN(merge)(planes, part, count, shift, log2_edge);
#pragma GCC unroll 32
    for (; i + LANES <= count; i += LANES)
        GBEES_REAL_FN(store)(cells + i, GBEES_REAL_FN(load)(cells + i) + GBEES_REAL_FN(load)(part + i));
    for (; i < count; i++)
        cells[i] += part[i];
}
