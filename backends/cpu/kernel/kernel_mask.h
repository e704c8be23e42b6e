/* kernel_mask.h - comparisons of a brick's cells as bit masks.  A template: see kernel.c.
 *
 * Compilers don't make bit masks of comparisons by themselves.
 */

/* Bit i: a[i] >= b, or, given `strict`, a[i] > b. */
INLINE uint64_t GBEES_REAL_FN(mask)(const GBEES_REAL *a, GBEES_REAL b, int count, int strict)
{
    uint64_t bits = 0;

    if (count == 64) {
        const GBEES_REAL_FN(vector) level = b - (GBEES_REAL_FN(vector)){0};

#pragma GCC unroll 32
        for (int i = 0; i < 64; i += LANES) {
            GBEES_REAL_FN(vector) v = GBEES_REAL_FN(load)(a + i);
            GBEES_REAL_FN(lanes)
            lanes = strict ? GBEES_REAL_FN(lanes_above)(v, level) : GBEES_REAL_FN(lanes_least)(v, level);

            bits |= (uint64_t)GBEES_REAL_FN(lane_bits)(lanes) << i;
        }
        return bits;
    }
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(strict ? a[i] > b : a[i] >= b) << i;
    return bits;
}
