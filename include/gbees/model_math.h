/* gbees/model_math.h - functions of math.h at several points at once, for the loops of gbees/model_build.h.
 *
 * The GNU C library has them for vectors of numbers, in libmvec, which comes with -lm: within four units in the last
 * place, several times as fast. Its own header tells the compiler so under -ffast-math alone, which would change the
 * arithmetic, too. A plugin that is linked with -lm asks for them by GBEES_VECTOR_MATH.
 *
 * What is left of a loop behind its last whole vector would be computed by the functions for one number, whose last
 * bits are others. So these points are a vector of their own, with copies of the last one: a result has the same bits
 * wherever its point stands.
 */
#ifndef GBEES_MODEL_MATH_H
#define GBEES_MODEL_MATH_H

#include <math.h>

#if defined(GBEES_VECTOR_MATH) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) &&                  \
    !defined(__clang__) && !defined(__cplusplus)

#define GBEES_LANES_OF __attribute__((__simd__("notinbranch"))) extern
#define GBEES_LANES_OF_ONE(name)                                                                                     \
    GBEES_LANES_OF double(name)(double);                                                                             \
    GBEES_LANES_OF float(name##f)(float);
#define GBEES_LANES_OF_TWO(name)                                                                                     \
    GBEES_LANES_OF double(name)(double, double);                                                                     \
    GBEES_LANES_OF float(name##f)(float, float);

#if __GLIBC_PREREQ(2, 22)
GBEES_LANES_OF_ONE(cos)
GBEES_LANES_OF_ONE(exp)
GBEES_LANES_OF_ONE(log)
GBEES_LANES_OF_TWO(pow)

/* Of a sine and a cosine of one angle gcc makes one call, before it looks for vectors, and no vectors of that. So the
 * equations' sin() is this one, of which it knows nothing; but of a constant, which may be in static data. */
GBEES_LANES_OF __attribute__((const)) double gbees_sin(double) __asm__("sin");
GBEES_LANES_OF __attribute__((const)) float gbees_sinf(float) __asm__("sinf");
#define GBEES_BY_TYPE(x, of_float, of_double) _Generic((x), float : of_float, default : of_double)(x)
#define GBEES_SIN(x)                                                                                                 \
    __builtin_choose_expr(__builtin_constant_p(x), GBEES_BY_TYPE(x, __builtin_sinf, __builtin_sin),                  \
                          GBEES_BY_TYPE(x, gbees_sinf, gbees_sin))
#endif
#if __GLIBC_PREREQ(2, 35)
GBEES_LANES_OF_ONE(acos)
GBEES_LANES_OF_ONE(acosh)
GBEES_LANES_OF_ONE(asin)
GBEES_LANES_OF_ONE(asinh)
GBEES_LANES_OF_ONE(atan)
GBEES_LANES_OF_ONE(atanh)
GBEES_LANES_OF_ONE(cbrt)
GBEES_LANES_OF_ONE(cosh)
GBEES_LANES_OF_ONE(erf)
GBEES_LANES_OF_ONE(erfc)
GBEES_LANES_OF_ONE(exp2)
GBEES_LANES_OF_ONE(expm1)
GBEES_LANES_OF_ONE(log10)
GBEES_LANES_OF_ONE(log1p)
GBEES_LANES_OF_ONE(log2)
GBEES_LANES_OF_ONE(sinh)
GBEES_LANES_OF_ONE(tan)
GBEES_LANES_OF_ONE(tanh)
GBEES_LANES_OF_TWO(atan2)
GBEES_LANES_OF_TWO(hypot)
#endif

#define GBEES_WIDTH(R) (GBEES_GROUP * sizeof(double) / sizeof(R)) /* numbers of the widest vector */
#define GBEES_LAST(R, S)                                                                                             \
    static inline void gbees_last_points##S(int n, size_t first, size_t count, const R *const *offset,               \
                                            R(*x)[GBEES_WIDTH(R)], const R **column)                                 \
    {                                                                                                                \
        for (int k = 0; k < n; k++) {                                                                                \
            for (size_t l = 0; l < GBEES_WIDTH(R); l++)                                                              \
                x[k][l] = offset[k][first + l < count ? first + l : count - 1];                                      \
            column[k] = x[k];                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static inline void gbees_last_component##S(gbees_component##S *f, int n, size_t first, size_t count, R t,        \
                                               const R *origin, const R *const *offset, const R *p, R *out)          \
    {                                                                                                                \
        R x[GBEES_MAX_DIM][GBEES_WIDTH(R)], y[GBEES_WIDTH(R)];                                                       \
        const R *column[GBEES_MAX_DIM] = {0};                                                                        \
                                                                                                                     \
        gbees_last_points##S(n, first, count, offset, x, column);                                                    \
        f(GBEES_WIDTH(R), t, origin, column, p, y);                                                                  \
        for (size_t i = first; i < count; i++)                                                                       \
            out[i] = y[i - first];                                                                                   \
    }                                                                                                                \
    static inline void gbees_last_vector##S(gbees_vector##S *f, int n, size_t first, size_t count, R t,              \
                                            const R *origin, const R *const *offset, const R *p, R *const *out)      \
    {                                                                                                                \
        R x[GBEES_MAX_DIM][GBEES_WIDTH(R)], y[GBEES_MAX_DIM][GBEES_WIDTH(R)], *to[GBEES_MAX_DIM] = {0};              \
        const R *column[GBEES_MAX_DIM] = {0};                                                                        \
                                                                                                                     \
        gbees_last_points##S(n, first, count, offset, x, column);                                                    \
        for (int j = 0; j < n; j++)                                                                                  \
            to[j] = y[j];                                                                                            \
        f(GBEES_WIDTH(R), t, origin, column, p, to);                                                                 \
        for (int j = 0; j < n; j++)                                                                                  \
            for (size_t i = first; i < count; i++)                                                                   \
                out[j][i] = y[j][i - first];                                                                         \
    }
GBEES_LAST(float, _f)
GBEES_LAST(double, _d)
#undef GBEES_LAST

/* Defines a batched function by the loop that does its work. */
#define GBEES_GROUPED(R, S, NAME, LOOP, N, KIND, OUT)                                                                \
    static void NAME(size_t count, R t, const R *origin, const R *const *offset, const R *p, OUT)                    \
    {                                                                                                                \
        const size_t whole = count - count % GBEES_WIDTH(R);                                                         \
                                                                                                                     \
        LOOP(whole, t, origin, offset, p, out);                                                                      \
        if (whole < count)                                                                                           \
            gbees_last_##KIND##S(LOOP, N, whole, count, t, origin, offset, p, out);                                  \
    }

#else
#define GBEES_GROUPED(R, S, NAME, LOOP, N, KIND, OUT)                                                                \
    static void NAME(size_t count, R t, const R *origin, const R *const *offset, const R *p, OUT)                    \
    {                                                                                                                \
        LOOP(count, t, origin, offset, p, out);                                                                      \
    }
#endif

#endif
