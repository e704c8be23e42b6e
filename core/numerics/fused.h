/* fused.h - the fused multiply-add a b + c, rounded once. IEEE 754 defines its bits, so they are the same whether one
 * instruction or the C library computes it. The split schemes use it (doc/method.md, "Determinism"). */
#ifndef GBEES_NUMERICS_FUSED_H
#define GBEES_NUMERICS_FUSED_H

#include "qualifier.h"

#ifdef GBEES_DEVICE
GBEES_NUM float gbees_fused_f(float a, float b, float c)
{
    return fmaf(a, b, c);
}

GBEES_NUM double gbees_fused_d(double a, double b, double c)
{
    return fma(a, b, c);
}
#else
GBEES_NUM float gbees_fused_f(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

GBEES_NUM double gbees_fused_d(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#endif

#endif
