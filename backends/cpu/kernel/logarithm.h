/* logarithm.h - the natural logarithm of a vector of doubles: the same bits for every instruction set, within one
 * unit in the last place. */
#ifndef GBEES_CPU_LOGARITHM_H
#define GBEES_CPU_LOGARITHM_H

#include "target.h"
#include <stdint.h>

typedef double double_vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef uint64_t word_vector __attribute__((vector_size(VECTOR_BYTES)));

/* The logarithm of positive normal numbers.  x = 2^k m with m from sqrt(1/2) to sqrt(2); log m = f - f^2/2 + s (f^2/2
 * + R), where f = m - 1, s = f / (2 + f) and R is the series of atanh(s) fitted to that range (the coefficients of
 * fdlibm). */
INLINE double_vector vector_log(double_vector x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, fraction = 0x000fffffffffffff,
                   whole = 0x4330000000000000; /* the bits of 2^52, whose last binary digit is worth 1 */
    word_vector bits = (word_vector)x + (one - root_half);
    double_vector k = (double_vector)(bits >> 52 | whole) - (4503599627370496.0 + 1023);
    double_vector f = (double_vector)((bits & fraction) + root_half) - 1;
    double_vector s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    double_vector odd =
        w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    double_vector even =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));

    return k * 6.93147180369123816490e-01 -
           ((half - (s * (half + (odd + even)) + k * 1.90821492927058770002e-10)) - f);
}

#endif
