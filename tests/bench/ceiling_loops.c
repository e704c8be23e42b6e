/* ceiling_loops.c - see ceiling.h. Compiled with contraction, so that a product and a sum are one instruction where
 * the processor has it.
 *
 * Vectors have the width of the registers, and there are as many of them at once as hide the latency of a
 * multiply-add (two units, four or five cycles) and still fit the registers.
 */
#include "ceiling.h"
#include <stdlib.h>
#include <string.h>

enum { ROUND = 8, WIDE = 12 }; /* multiply-adds of a round on each of WIDE vectors */

typedef float float16_wide __attribute__((vector_size(64)));
typedef double double8_wide __attribute__((vector_size(64)));
typedef float float8_wide __attribute__((vector_size(32)));
typedef double double4_wide __attribute__((vector_size(32)));
typedef float float4_wide __attribute__((vector_size(16)));
typedef double double2_wide __attribute__((vector_size(16)));

/* One text for six types: a function can't be written for a type that is not named, nor a pragma for a loop in a
 * macro's caller. x becomes x a + b, which stays near 1. */
#define SPIN(name, vector, real, attribute)                                                                          \
    attribute static double name(size_t rounds, double start)                                                        \
    {                                                                                                                \
        const real a = (real)0.9999, b = (real)0.0001;                                                               \
        vector x[WIDE];                                                                                              \
        double sum = 0;                                                                                              \
                                                                                                                     \
        for (int k = 0; k < WIDE; k++)                                                                               \
            x[k] = (vector){0} + (real)(start + k);                                                                  \
        for (size_t i = 0; i < rounds; i++) {                                                                        \
            _Pragma("GCC unroll 8") for (int j = 0; j < ROUND; j++)                                                  \
            {                                                                                                        \
                _Pragma("GCC unroll 12") for (int k = 0; k < WIDE; k++) x[k] = x[k] * a + b;                         \
            }                                                                                                        \
        }                                                                                                            \
        for (int k = 0; k < WIDE; k++)                                                                               \
            sum += (double)x[k][0];                                                                                  \
        return sum;                                                                                                  \
    }

#define EACH(vector, real) (2.0 * ROUND * WIDE * sizeof(vector) / sizeof(real))

SPIN(spin_float_generic, float4_wide, float, )
SPIN(spin_double_generic, double2_wide, double, )
#if defined(__aarch64__)
#define BASE "neon"
#else
#define BASE "generic"
#endif
static const ceiling_loops generic = {BASE, spin_float_generic, spin_double_generic, EACH(float4_wide, float),
                                      EACH(double2_wide, double)};

#if defined(__x86_64__)
SPIN(spin_float_avx2, float8_wide, float, __attribute__((target("avx2,fma"))))
SPIN(spin_double_avx2, double4_wide, double, __attribute__((target("avx2,fma"))))
static const ceiling_loops avx2 = {"avx2", spin_float_avx2, spin_double_avx2, EACH(float8_wide, float),
                                   EACH(double4_wide, double)};

SPIN(spin_float_avx512, float16_wide, float, __attribute__((target("avx512f"))))
SPIN(spin_double_avx512, double8_wide, double, __attribute__((target("avx512f"))))
static const ceiling_loops avx512 = {"avx512", spin_float_avx512, spin_double_avx512, EACH(float16_wide, float),
                                     EACH(double8_wide, double)};
#endif

const ceiling_loops *ceiling_choose(void)
{
#if defined(__x86_64__)
    const char *wanted = getenv("GBEES_CPU_ISA");
    int limit = !wanted || strcmp(wanted, "avx512") == 0 ? 2 : strcmp(wanted, "avx2") == 0 ? 1 : 0;

    __builtin_cpu_init();
    if (limit > 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &avx512;
    if (limit > 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    return &generic;
}

void ceiling_copy(float *to, const float *from, size_t count)
{
    float *restrict out = to;
    const float *restrict in = from;

    for (size_t i = 0; i < count; i++)
        out[i] = in[i];
}

void ceiling_scale(float *to, const float *from, size_t count)
{
    (void)from;
    for (size_t i = 0; i < count; i++)
        to[i] *= 0.999999f;
}
