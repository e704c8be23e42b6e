/* kernel_lanes.h - choices between vectors, lane by lane.  A template: see kernel.c.
 *
 * The vectors of GNU C have arithmetic and comparisons; for these each machine has instructions of its own.
 */

/* Some lanes: bits of a mask register where there are any, else vectors of 0 and -1. */
#if defined(__AVX512F__)
typedef unsigned GBEES_REAL_FN(lanes);
#else
typedef __typeof__((GBEES_REAL_FN(vector)){0} > (GBEES_REAL_FN(vector)){0}) GBEES_REAL_FN(lanes);
#endif

INLINE GBEES_REAL_FN(lanes) GBEES_REAL_FN(lanes_above)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#elif defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}

INLINE GBEES_REAL_FN(lanes) GBEES_REAL_FN(lanes_least)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ);
#elif defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ);
#else
    return a >= b;
#endif
}

/* Where a and b differ, or are no numbers. */
INLINE GBEES_REAL_FN(lanes) GBEES_REAL_FN(lanes_apart)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_NEQ_UQ);
#elif defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NEQ_UQ);
#else
    return a != b;
#endif
}

/* Bit l: lane l is one of them. */
INLINE unsigned GBEES_REAL_FN(lane_bits)(GBEES_REAL_FN(lanes) lanes)
{
#if defined(__AVX512F__)
    return lanes;
#elif defined(__AVX__) && LANES == 8
    return (unsigned)_mm256_movemask_ps((__m256)lanes);
#elif defined(__AVX__)
    return (unsigned)_mm256_movemask_pd((__m256d)lanes);
#elif defined(__SSE2__) && LANES == 4
    return (unsigned)_mm_movemask_ps((__m128)lanes);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)lanes);
#elif defined(__aarch64__) && LANES == 4
    return vaddvq_u32(vandq_u32((uint32x4_t)lanes, (uint32x4_t){1, 2, 4, 8}));
#elif defined(__aarch64__)
    return (unsigned)vaddvq_u64(vandq_u64((uint64x2_t)lanes, (uint64x2_t){1, 2}));
#else
    unsigned bits = 0;

    for (int l = 0; l < LANES; l++)
        bits |= (unsigned)(lanes[l] & 1) << l;
    return bits;
#endif
}

/* a in these lanes, b in the others. */
INLINE GBEES_REAL_FN(vector)
    GBEES_REAL_FN(choose)(GBEES_REAL_FN(lanes) lanes, GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return (GBEES_REAL_FN(vector))_mm512_mask_blend_ps((__mmask16)lanes, (__m512)b, (__m512)a);
#elif defined(__AVX512F__)
    return (GBEES_REAL_FN(vector))_mm512_mask_blend_pd((__mmask8)lanes, (__m512d)b, (__m512d)a);
#elif defined(__AVX__) && LANES == 8
    return (GBEES_REAL_FN(vector))_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)lanes);
#elif defined(__AVX__)
    return (GBEES_REAL_FN(vector))_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)lanes);
#else
    return (GBEES_REAL_FN(vector))(((GBEES_REAL_FN(lanes))a & lanes) | ((GBEES_REAL_FN(lanes))b & ~lanes));
#endif
}

/* a > b ? a : b, and a < b ? a : b. */
INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(highest)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return (GBEES_REAL_FN(vector))_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX512F__)
    return (GBEES_REAL_FN(vector))_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__) && LANES == 8
    return (GBEES_REAL_FN(vector))_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__AVX__)
    return (GBEES_REAL_FN(vector))_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return GBEES_REAL_FN(choose)(a > b, a, b);
#endif
}

INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(lowest)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b)
{
#if defined(__AVX512F__) && LANES == 16
    return (GBEES_REAL_FN(vector))_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX512F__)
    return (GBEES_REAL_FN(vector))_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__) && LANES == 8
    return (GBEES_REAL_FN(vector))_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__AVX__)
    return (GBEES_REAL_FN(vector))_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return GBEES_REAL_FN(choose)(a < b, a, b);
#endif
}

/* 0 at least, q at most. */
INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(bounded)(GBEES_REAL_FN(vector) mass, GBEES_REAL_FN(vector) q)
{
    const GBEES_REAL_FN(vector) nothing = {0};

    return GBEES_REAL_FN(lowest)(GBEES_REAL_FN(highest)(mass, nothing), q);
}

/* What split.h asks of vectors: a b + c, rounded once, and one number in all lanes. */
INLINE GBEES_REAL_FN(vector)
    GBEES_REAL_FN(gbees_fused_vector)(GBEES_REAL_FN(vector) a, GBEES_REAL_FN(vector) b, GBEES_REAL_FN(vector) c)
{
#if defined(__AVX512F__) && LANES == 16
    return (GBEES_REAL_FN(vector))_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX512F__)
    return (GBEES_REAL_FN(vector))_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__) && LANES == 8
    return (GBEES_REAL_FN(vector))_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__FMA__)
    return (GBEES_REAL_FN(vector))_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__) && LANES == 4
    return (GBEES_REAL_FN(vector))vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__aarch64__)
    return (GBEES_REAL_FN(vector))vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    for (int l = 0; l < LANES; l++)
        c[l] = GBEES_REAL_FN(gbees_fused)(a[l], b[l], c[l]);
    return c;
#endif
}

INLINE GBEES_REAL_FN(vector) GBEES_REAL_FN(gbees_same_vector)(double k)
{
    return (GBEES_REAL)k - (GBEES_REAL_FN(vector)){0};
}
