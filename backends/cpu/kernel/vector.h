/* vector.h - vectors of LANES numbers: loads, comparisons, choices lane by lane, fused products.
 *
 * GNU C's vectors have arithmetic and comparisons.  For other operations each instruction set has its own intrinsics:
 * NATIVE(operation) is the name of one in this object's precision and vector length.
 */
#ifndef GBEES_CPU_VECTOR_H
#define GBEES_CPU_VECTOR_H

#include "target.h"
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

#if defined(__AVX512F__) && GBEES_REAL_BITS == 32
typedef __m512 native;
typedef __mmask16 native_mask;
#define NATIVE(operation) _mm512_##operation##_ps
#define NATIVE_COMPARE _mm512_cmp_ps_mask
#elif defined(__AVX512F__)
typedef __m512d native;
typedef __mmask8 native_mask;
#define NATIVE(operation) _mm512_##operation##_pd
#define NATIVE_COMPARE _mm512_cmp_pd_mask
#elif defined(__AVX__) && GBEES_REAL_BITS == 32
typedef __m256 native;
#define NATIVE(operation) _mm256_##operation##_ps
#elif defined(__AVX__)
typedef __m256d native;
#define NATIVE(operation) _mm256_##operation##_pd
#elif defined(__SSE2__) && GBEES_REAL_BITS == 32
typedef __m128 native;
#define NATIVE(operation) _mm_##operation##_ps
#elif defined(__SSE2__)
typedef __m128d native;
#define NATIVE(operation) _mm_##operation##_pd
#endif

/* A choice of lanes: the bits of a mask register where there are such registers, else a vector of 0 and -1. */
#if defined(__AVX512F__)
typedef unsigned lane_mask;
#else
typedef __typeof__((vector){0} > (vector){0}) lane_mask;
#endif

/* Loads and stores a whole vector.  A memcpy() would become moves of pieces, for all of which a later load of the
 * whole has to wait. */
INLINE vector load(const real *from)
{
    return *(const vector *)from;
}

INLINE void store(real *to, vector v)
{
    *(vector *)to = v;
}

/* Copies `count` numbers, which need not be whole vectors. */
INLINE void copy_cells(real *restrict to, const real *restrict from, int count)
{
    int i = 0;

    for (; i + LANES <= count; i += LANES)
        store(to + i, load(from + i));
    for (; i < count; i++)
        to[i] = from[i];
}

/* Lanes where a > b. */
INLINE lane_mask lanes_above(vector a, vector b)
{
#if defined(__AVX512F__)
    return NATIVE_COMPARE((native)a, (native)b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}

/* Lanes where a >= b. */
INLINE lane_mask lanes_at_least(vector a, vector b)
{
#if defined(__AVX512F__)
    return NATIVE_COMPARE((native)a, (native)b, _CMP_GE_OQ);
#else
    return a >= b;
#endif
}

/* Lanes where a and b differ, or one is not a number. */
INLINE lane_mask lanes_unequal(vector a, vector b)
{
#if defined(__AVX512F__)
    return NATIVE_COMPARE((native)a, (native)b, _CMP_NEQ_UQ);
#else
    return a != b;
#endif
}

/* Bit l: lane l is chosen. */
INLINE unsigned lane_bits(lane_mask mask)
{
#if defined(__AVX512F__)
    return mask;
#elif defined(__SSE2__)
    return (unsigned)NATIVE(movemask)((native)mask);
#elif defined(__aarch64__) && GBEES_REAL_BITS == 32
    return vaddvq_u32(vandq_u32((uint32x4_t)mask, (uint32x4_t){1, 2, 4, 8}));
#elif defined(__aarch64__)
    return (unsigned)vaddvq_u64(vandq_u64((uint64x2_t)mask, (uint64x2_t){1, 2}));
#else
    unsigned bits = 0;

    for (int l = 0; l < LANES; l++)
        bits |= (unsigned)(mask[l] & 1) << l;
    return bits;
#endif
}

/* a in the chosen lanes, b in the others. */
INLINE vector choose(lane_mask mask, vector a, vector b)
{
#if defined(__AVX512F__)
    return (vector)NATIVE(mask_blend)((native_mask)mask, (native)b, (native)a);
#elif defined(__AVX__)
    return (vector)NATIVE(blendv)((native)b, (native)a, (native)mask);
#else
    return (vector)(((lane_mask)a & mask) | ((lane_mask)b & ~mask));
#endif
}

/* a > b ? a : b. */
INLINE vector gbees_highest_vector(vector a, vector b)
{
#if defined(__AVX__)
    return (vector)NATIVE(max)((native)a, (native)b);
#else
    return choose(a > b, a, b);
#endif
}

/* a < b ? a : b. */
INLINE vector gbees_lowest_vector(vector a, vector b)
{
#if defined(__AVX__)
    return (vector)NATIVE(min)((native)a, (native)b);
#else
    return choose(a < b, a, b);
#endif
}

/* ---- the masses of the split schemes, of numbers and of vectors ------------------------------------------------ */

/* a b + c, rounded once. */
INLINE real gbees_fused(real a, real b, real c)
{
#if GBEES_REAL_BITS == 32
    return __builtin_fmaf(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

/* a b + c in each lane, rounded once. */
INLINE vector gbees_fused_vector(vector a, vector b, vector c)
{
#if defined(__AVX512F__) || defined(__FMA__)
    return (vector)NATIVE(fmadd)((native)a, (native)b, (native)c);
#elif defined(__aarch64__) && GBEES_REAL_BITS == 32
    return (vector)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__aarch64__)
    return (vector)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    for (int l = 0; l < LANES; l++)
        c[l] = gbees_fused(a[l], b[l], c[l]);
    return c;
#endif
}

/* k in all lanes. */
INLINE vector gbees_same_vector(double k)
{
    return (real)k - (vector){0};
}

#include "numerics/ctu.h"
#include "numerics/split.h"
#include "numerics/split7.h"
#include "numerics/split_cuts.h"
#include "numerics/split_mass.h"
#include "numerics/split_noise.h"
#define GBEES_VALUE vector
#define GBEES_VALUE_FN(name) name##_vector
#include "numerics/split.h"
#include "numerics/split7.h"

#endif
