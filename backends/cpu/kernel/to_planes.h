/* to_planes.h - transposes the cells of a brick, cells[cells], to planes[edge][cells / edge] along an axis, and
 * planes to cells.
 *
 * With vectors of 2^m lanes a cell's number has m lane bits and 6 - m vector bits.  Each lane bit of the axis is
 * exchanged with a vector bit that is not the axis's, by a two-source shuffle of each pair of vectors.  Then planes
 * are sets of whole vectors.  The same exchange transposes back.  The order of the cells of a plane is the one that
 * the exchange leaves, and is the same in all planes of an axis.
 */
#ifndef GBEES_CPU_TO_PLANES_H
#define GBEES_CPU_TO_PLANES_H

#include "brick_axis.h"
#include "vector.h"

/* Transposes are inlined where their axis is a constant.  With two or four lanes they have many shuffles: in the
 * kernels for x86 processors without AVX2 they are functions, as inlined they take most of the compiler's time. */
#if defined(__x86_64__) && VECTOR_BYTES == 16
#define TRANSPOSE static __attribute__((noinline, unused))
#else
#define TRANSPOSE INLINE
#endif

/* F(b, l) for all lanes l, as the indices of a shuffle. */
#if LANES == 16
#define EACH_LANE(F, b)                                                                                              \
    F(b, 0), F(b, 1), F(b, 2), F(b, 3), F(b, 4), F(b, 5), F(b, 6), F(b, 7), F(b, 8), F(b, 9), F(b, 10), F(b, 11),    \
        F(b, 12), F(b, 13), F(b, 14), F(b, 15)
#elif LANES == 8
#define EACH_LANE(F, b) F(b, 0), F(b, 1), F(b, 2), F(b, 3), F(b, 4), F(b, 5), F(b, 6), F(b, 7)
#elif LANES == 4
#define EACH_LANE(F, b) F(b, 0), F(b, 1), F(b, 2), F(b, 3)
#else
#define EACH_LANE(F, b) F(b, 0), F(b, 1)
#endif
/* The source of lane l of the lower and of the upper result of an exchange of lane bit b; the second vector's lanes
 * count from LANES.
 */
#define SOURCE_LOW(b, l) ((l) >> (b)&1 ? LANES + ((l) ^ 1 << (b)) : (l))
#define SOURCE_HIGH(b, l) ((l) >> (b)&1 ? LANES + (l) : ((l) ^ 1 << (b)))
/* The source of lane l if bits 0 and 3 of a lane's number change places. */
#define SOURCE_BITS_0_3(b, l) (((l)&6) | ((l) >> 3 & 1) | ((l)&1) << 3)
/* A shuffle's indices have to be constants: so each bit is a case. */
#define EXCHANGE_CASE(b)                                                                                             \
    low = __builtin_shufflevector(*x, *y, EACH_LANE(SOURCE_LOW, b));                                                 \
    high = __builtin_shufflevector(*x, *y, EACH_LANE(SOURCE_HIGH, b));                                               \
    break

/* Exchanges lane bit `bit` with the vector bit in which x and y differ. */
INLINE void exchange_lane_bit(vector *x, vector *y, int bit)
{
    vector low, high;

    switch (bit) {
#if LANES > 8
    case 3:
        EXCHANGE_CASE(3);
#endif
#if LANES > 4
    case 2:
        EXCHANGE_CASE(2);
#endif
#if LANES > 2
    case 1:
        EXCHANGE_CASE(1);
#endif
    default:
        EXCHANGE_CASE(0);
    }
    *x = low;
    *y = high;
}

/* The vector bit with which lane bit `bit` of the axis is exchanged: the first lane bit with the first one that is
 * not the axis's, and so on. */
INLINE int partner_bit(int bit, brick_axis a)
{
    int rank = bit - a.shift; /* how many lane bits of the axis lie below this one */
    int at = LOG2_LANES;

    for (;; at++) {
        if (at >= a.shift && at < a.shift + a.log2_edge)
            continue;
        if (rank-- == 0)
            return at;
    }
}

/* Transposes the 8 x 8 cells of a brick of two dimensions: bits 0 to 2 of a cell's number change places with bits 3
 * to 5. */
INLINE void transpose(vector *v)
{
#if LANES == 16 /* bits 0 and 3 are both lane bits */
#pragma GCC unroll 4
    for (int i = 0; i < 64 / LANES; i++)
        v[i] = __builtin_shufflevector(v[i], v[i], EACH_LANE(SOURCE_BITS_0_3, 0));
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
                exchange_lane_bit(&v[i], &v[i | partner], bit);
            } else if (i & own) { /* both are vector bits */
                vector other = v[(i | partner) ^ own];

                v[(i | partner) ^ own] = v[i];
                v[i] = other;
            }
        }
    }
}

/* Exchanges the lane bits of an axis, for edges of 2 and 4. */
INLINE void exchange_lanes(vector *v, brick_axis a)
{
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++) {
        int bit = a.shift + b;
        if (b >= a.log2_edge || bit >= LOG2_LANES)
            break;
        int partner = 1 << (partner_bit(bit, a) - LOG2_LANES);

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            if (!(i & partner))
                exchange_lane_bit(&v[i], &v[i | partner], bit);
    }
}

/* The place of vector i among those of all planes, after the exchange: its plane times the vectors of a plane, plus
 * its place in the plane. */
INLINE int vector_place(int i, brick_axis a)
{
    int plane = 0, taken = 0, rest = 0, at = 0;

    for (int b = 0; b < a.log2_edge; b++) {
        int bit = a.shift + b;
        int where = bit < LOG2_LANES ? partner_bit(bit, a) : bit;

        plane |= (i >> (where - LOG2_LANES) & 1) << b;
        taken |= 1 << (where - LOG2_LANES);
    }
    for (int b = 0; b < 6 - LOG2_LANES; b++)
        if (!(taken >> b & 1))
            rest |= (i >> b & 1) << at++;
    return plane * ((64 / LANES) >> a.log2_edge) + rest;
}

/* Transposes bricks with edges of 8 or 64, which have two axes or one. */
INLINE void regroup_two_axes(const real *restrict from, real *restrict to, brick_axis a)
{
    vector v[64 / LANES];

    if (a.shift + a.log2_edge == 6) {
        copy_cells(to, from, a.cells);
        return;
    }
#pragma GCC unroll 32
    for (int i = 0; i < 64 / LANES; i++)
        v[i] = load(from + i * LANES);
    transpose(v);
#pragma GCC unroll 32
    for (int i = 0; i < 64 / LANES; i++)
        store(to + i * LANES, v[i]);
}

/* Sets planes[edge][cells / edge] from cells[cells]. */
TRANSPOSE void to_planes(const real *restrict cells, real *restrict planes, brick_axis a)
{
    if (a.log2_edge == 0) {
        copy_cells(planes, cells, a.cells);
    } else if (a.log2_edge > 2) {
        regroup_two_axes(cells, planes, a);
    } else {
        vector v[64 / LANES];

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            v[i] = load(cells + i * LANES);
        exchange_lanes(v, a);
#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            store(planes + vector_place(i, a) * LANES, v[i]);
    }
}

/* Sets cells[cells] from planes[edge][cells / edge]. */
TRANSPOSE void from_planes(const real *restrict planes, real *restrict cells, brick_axis a)
{
    if (a.log2_edge == 0) {
        copy_cells(cells, planes, a.cells);
    } else if (a.log2_edge > 2) {
        regroup_two_axes(planes, cells, a);
    } else {
        vector v[64 / LANES];

#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            v[i] = load(planes + vector_place(i, a) * LANES);
        exchange_lanes(v, a);
#pragma GCC unroll 32
        for (int i = 0; i < 64 / LANES; i++)
            store(cells + i * LANES, v[i]);
    }
}

/* Adds planes[edge][cells / edge] to cells[cells]. */
TRANSPOSE void add_from_planes(const real *restrict planes, real *restrict cells, brick_axis a)
{
    _Alignas(64) real part[64];
    int i = 0;

    from_planes(planes, part, a);
#pragma GCC unroll 32
    for (; i + LANES <= a.cells; i += LANES)
        store(cells + i, load(cells + i) + load(part + i));
    for (; i < a.cells; i++)
        cells[i] += part[i];
}

#endif
