/* kernel_log.h - the natural logarithm of a vector of doubles: the same bits for every instruction set, within one
 * unit in the last place. */
#ifndef GBEES_CPU_KERNEL_LOG_H
#define GBEES_CPU_KERNEL_LOG_H

#include "kernel_isa.h"
#include <stdint.h>

typedef double kernel_doubles __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef uint64_t kernel_words __attribute__((vector_size(VECTOR_BYTES)));

/* Of positive normal numbers.  x = 2^k m with m from sqrt(1/2) to sqrt(2); log m = f - f^2/2 + s (f^2/2 + R), where
 * f = m - 1, s = f / (2 + f) and R is the series of atanh(s) fitted to that range (the coefficients of fdlibm). */
INLINE kernel_doubles kernel_log(kernel_doubles x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, fraction = 0x000fffffffffffff,
                   whole = 0x4330000000000000; /* of 2^52, whose last digit is 1 */
    kernel_words bits = (kernel_words)x + (one - root_half);
    kernel_doubles k = (kernel_doubles)(bits >> 52 | whole) - (4503599627370496.0 + 1023);
    kernel_doubles f = (kernel_doubles)((bits & fraction) + root_half) - 1;
    kernel_doubles s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    kernel_doubles odd =
        w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    kernel_doubles even =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));

    return k * 6.93147180369123816490e-01 -
           ((half - (s * (half + (odd + even)) + k * 1.90821492927058770002e-10)) - f);
}

#endif
