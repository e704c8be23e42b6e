/* kernel_mask.h - comparisons of a brick's cells as bit masks.  A template: see kernel.c.
 *
 * Compilers don't make bit masks of vector comparisons by themselves; the instructions for it differ by machine.
 */

/* Bit i: a[i] >= b, or, given `strict`, a[i] > b. */
INLINE uint64_t GBEES_REAL_FN(mask)(const GBEES_REAL *a, GBEES_REAL b, int count, int strict)
{
    uint64_t bits = 0;

#if defined(__AVX512F__)
    if (count == 64) {
        for (int i = 0; i < 64 / LANES; i++) {
#if LANES == 16
            __m512 x = _mm512_loadu_ps(a + i * LANES), y = _mm512_set1_ps(b);
            uint64_t m = strict ? _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ) : _mm512_cmp_ps_mask(x, y, _CMP_GE_OQ);
#else
            __m512d x = _mm512_loadu_pd(a + i * LANES), y = _mm512_set1_pd(b);
            uint64_t m = strict ? _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ) : _mm512_cmp_pd_mask(x, y, _CMP_GE_OQ);
#endif
            bits |= m << (i * LANES);
        }
        return bits;
    }
#elif defined(__AVX__)
    if (count == 64) {
        for (int i = 0; i < 64 / LANES; i++) {
#if LANES == 8
            __m256 x = _mm256_loadu_ps(a + i * LANES), y = _mm256_set1_ps(b);
            int m = _mm256_movemask_ps(strict ? _mm256_cmp_ps(x, y, _CMP_GT_OQ) : _mm256_cmp_ps(x, y, _CMP_GE_OQ));
#else
            __m256d x = _mm256_loadu_pd(a + i * LANES), y = _mm256_set1_pd(b);
            int m = _mm256_movemask_pd(strict ? _mm256_cmp_pd(x, y, _CMP_GT_OQ) : _mm256_cmp_pd(x, y, _CMP_GE_OQ));
#endif
            bits |= (uint64_t)m << (i * LANES);
        }
        return bits;
    }
#endif
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(strict ? a[i] > b : a[i] >= b) << i;
    return bits;
}
