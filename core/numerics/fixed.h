/* fixed.h - probabilities as integers in units of 2^-60, whose sums do not depend on the order of the terms
 * (doc/method.md, "Determinism"). */
#ifndef GBEES_NUMERICS_FIXED_H
#define GBEES_NUMERICS_FIXED_H

#include "qualifier.h"

/* Converts p, |p| < 8, to the nearest integer, ties to even. */
GBEES_NUM int64_t gbees_fixed(double p)
{
    double scaled = p * 1152921504606846976.0; /* 2^60 */

#ifdef GBEES_DEVICE
    return __double2ll_rn(scaled);
#else
    return (int64_t)__builtin_llrint(scaled);
#endif
}

/* Converts a sum back. */
GBEES_NUM double gbees_fixed_value(int64_t sum)
{
    return (double)sum * (1 / 1152921504606846976.0);
}

#endif
