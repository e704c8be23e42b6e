/* sha256_x86.c - SHA-256 with x86's SHA instructions; see sha256.h. */
#include "sha256.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* Returns words 4 i ... 4 i + 3 of the message schedule, computed from the 16 words before them. `w` is a ring
 * buffer: words 4 j ... 4 j + 3 are in w[j % 4]. */
static inline WITH_SHA __m128i extend(const __m128i w[4], int i)
{
    __m128i sum = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);

    sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
    return _mm_sha256msg2_epu32(sum, w[(i + 3) & 3]);
}

/* A gbees_sha256_blocks. The instructions take the state's words a to h as two vectors, abef and cdgh, each from the
 * highest lane to the lowest. */
static WITH_SHA void add_blocks(uint32_t *state, const void *data, size_t count)
{
    const __m128i *from = data, swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    const __m128i low = _mm_loadu_si128((const __m128i *)state), high = _mm_loadu_si128((const __m128i *)state + 1);
    const __m128i cdab = _mm_shuffle_epi32(low, 0xb1), efgh = _mm_shuffle_epi32(high, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

    for (; count > 0; count--, from += 4) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];

        for (int i = 0; i < 16; i++) {
            w[i & 3] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128(from + i), swap) : extend(w, i);
            __m128i k =
                _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(const void *)gbees_sha256_constants + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)state + 1, _mm_alignr_epi8(dchg, feba, 8));
}

gbees_sha256_blocks *gbees_sha256_x86(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) ? add_blocks : NULL;
}

#else

gbees_sha256_blocks *gbees_sha256_x86(void)
{
    return NULL;
}

#endif
