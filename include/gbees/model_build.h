/* gbees/model_build.h - defines a plugin's batched functions (gbees/model.h) from its equations, and its card.
 *
 * A batched function is a loop over points that calls the equations (gbees/model_equations.h) with the dimension and
 * the component as constants, so that the compiler drops what a component does not need and vectorises the loop.
 * The macros below define the functions. Their parameters are:
 *
 *     AXES    "own": points and drifts in the model's axes; "framed": in a framed grid's (gbees/model_framed.h)
 *     R, S    "float" and "_f", or "double" and "_d"
 *     N, J    dimension and component
 */
#ifndef GBEES_MODEL_BUILD_H
#define GBEES_MODEL_BUILD_H

/* Either header gives sqrt(), sin() ... for float and double by one name. C++ has overloads in <math.h>; its
 * <tgmath.h> would include std::complex, which has a function called real. */
#ifdef __cplusplus
#include <math.h>
#else
#include <tgmath.h>
#endif

#ifdef GBEES_DIM
#define GBEES_DIM_MIN GBEES_DIM
#define GBEES_DIM_MAX GBEES_DIM
#endif
#if GBEES_DIM_MIN < 1 || GBEES_DIM_MAX > 8 || GBEES_DIM_MIN > GBEES_DIM_MAX
#error "gbees: a model has 1 to 8 dimensions: check GBEES_DIM, or GBEES_DIM_MIN and GBEES_DIM_MAX"
#endif

#ifdef GBEES_HAS_DIFFUSION
#if GBEES_HAS_DIFFUSION != GBEES_DIAGONAL && GBEES_HAS_DIFFUSION != GBEES_FULL
#error "gbees: GBEES_HAS_DIFFUSION is GBEES_DIAGONAL or GBEES_FULL"
#endif
#define GBEES_DIFFUSION_KIND GBEES_HAS_DIFFUSION
#else
#define GBEES_DIFFUSION_KIND 0
#endif

/* The plugin's own file, which is included again and embedded. The compiler must find it by the name that it was
 * given: it runs in the file's folder, or has that in its -I. */
#ifndef GBEES_SOURCE_FILE
#define GBEES_SOURCE_FILE __BASE_FILE__
#endif
#if defined(__has_include)
#if !__has_include(GBEES_SOURCE_FILE)
#error "gbees: add -I. to the compiler's options: gbees/model.h includes the plugin's file, by the name given"
#endif
#endif

#include <gbees/model_math.h>
#ifdef GBEES_SIN
#pragma push_macro("sin")
#undef sin
#define sin(x) GBEES_SIN(x)
#endif
#include <gbees/model_equations.h>
#ifdef GBEES_SIN
#pragma pop_macro("sin")
#endif

/* Compiles a function for several x86 instruction sets; the loader chooses the best that the processor has. */
#if defined(__x86_64__) && defined(__linux__) && !defined(GBEES_NO_CLONES) &&                                        \
    (defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 12)
#define GBEES_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GBEES_CLONES
#endif

/* Fields of the card that a model has no use for may be left out: g++ warns of those, gcc does not. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif

/* Asserts that the iterations of a loop are independent. A drift that can't be vectorised is no error: no warning. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define GBEES_SIMD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GBEES_SIMD _Pragma("GCC ivdep")
#else
#define GBEES_SIMD
#endif

#include <gbees/model_drift.h>

/* ---- optional functions: if the model lacks x, GBEES_IF_x(name) is NULL ---- */

#ifdef GBEES_HAS_MEASURE
#define GBEES_IF_MEASURE(name) name
#define GBEES_MEASURE(AXES, N)                                                                                       \
    static void gbees_##AXES##_measure_##N(int which, size_t count, double t, const double *origin,                  \
                                           const double *const *offset, const double *p, double *const *out)         \
    {                                                                                                                \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_##AXES(double, _d, N);                                                                       \
            double y[GBEES_MAX_DIM] = {0};                                                                           \
            gbees_equation_measure_d(which, N, t, x, p, y);                                                          \
            for (int j = 0; j < GBEES_MAX_DIM && out[j]; j++)                                                        \
                out[j][i] = y[j];                                                                                    \
        }                                                                                                            \
    }
#else
#define GBEES_IF_MEASURE(name) NULL
#define GBEES_MEASURE(AXES, N)
#endif

#ifdef GBEES_HAS_BOUND
#define GBEES_IF_BOUND(name) name
#define GBEES_BOUND(AXES, N)                                                                                         \
    static void gbees_##AXES##_bound_##N(size_t count, double t, const double *origin, const double *const *offset,  \
                                         const double *p, double *out)                                               \
    {                                                                                                                \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_##AXES(double, _d, N);                                                                       \
            out[i] = gbees_equation_bound_d(N, t, x, p);                                                             \
        }                                                                                                            \
    }
#else
#define GBEES_IF_BOUND(name) NULL
#define GBEES_BOUND(AXES, N)
#endif

#ifdef GBEES_HAS_LOG_LIKELIHOOD
#define GBEES_IF_LOG_LIKELIHOOD(name) name
#define GBEES_LOG_LIKELIHOOD(AXES, N)                                                                                \
    static void gbees_##AXES##_log_likelihood_##N(int which, size_t count, double t, const double *origin,           \
                                                  const double *const *offset, const double *p, const double *y,     \
                                                  double *out)                                                       \
    {                                                                                                                \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_##AXES(double, _d, N);                                                                       \
            out[i] = gbees_equation_log_likelihood_d(which, N, t, x, p, y);                                          \
        }                                                                                                            \
    }
#else
#define GBEES_IF_LOG_LIKELIHOOD(name) NULL
#define GBEES_LOG_LIKELIHOOD(AXES, N)
#endif

#ifdef GBEES_HAS_DIFFUSION
#define GBEES_IF_DIFFUSION(name) name
/* entry[SIZE]: Q in the model's axes, its diagonal or n x n; or n x n in the grid's axes. */
#define GBEES_NOISE_own(N)                                                                                           \
    enum { SIZE = FULL ? N * N : N };                                                                                \
    const double *entry = Q
#define GBEES_NOISE_framed(N)                                                                                        \
    enum { SIZE = N * N };                                                                                           \
    double entry[N * N];                                                                                             \
    gbees_frame_noise_d(N, FULL, p, Q, entry)
#define GBEES_NOISE(AXES, N)                                                                                         \
    GBEES_CLONES static void gbees_##AXES##_diffusion_##N(size_t count, double t, const double *origin,              \
                                                          const double *const *offset, const double *p,              \
                                                          double *const *out)                                        \
    {                                                                                                                \
        enum { FULL = GBEES_HAS_DIFFUSION == GBEES_FULL };                                                           \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_##AXES(double, _d, N);                                                                       \
            double Q[FULL ? N * N : N] = {0};                                                                        \
            gbees_equation_diffusion_d(N, t, x, p, Q);                                                               \
            GBEES_NOISE_##AXES(N);                                                                                   \
            for (int j = 0; j < SIZE; j++)                                                                           \
                out[j][i] = entry[j];                                                                                \
        }                                                                                                            \
    }
#else
#define GBEES_IF_DIFFUSION(name) NULL
#define GBEES_NOISE(AXES, N)
#endif

/* At points x alone: a framed grid's are taken there first. */
#ifdef GBEES_HAS_TARGET
#define GBEES_IF_TARGET_own(name) name
#define GBEES_TARGET(N)                                                                                              \
    static void gbees_own_target_##N(int which, size_t count, double t, const double *origin,                        \
                                     const double *const *offset, const double *p, double *out)                      \
    {                                                                                                                \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_own(double, _d, N);                                                                          \
            out[i] = gbees_equation_target_d(which, N, t, x, p);                                                     \
        }                                                                                                            \
    }
#else
#define GBEES_IF_TARGET_own(name) NULL
#define GBEES_TARGET(N)
#endif
#define GBEES_IF_TARGET_framed(name) NULL

#ifdef GBEES_HAS_JUMP
#define GBEES_IF_JUMP_own(N) gbees_own_jump_##N
#define GBEES_JUMP(N)                                                                                                \
    static void gbees_own_jump_##N(int which, size_t count, double t, const double *origin,                          \
                                   const double *const *offset, const double *p, const double *value,                \
                                   double *const *out)                                                               \
    {                                                                                                                \
        GBEES_COLUMNS(double, N);                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT_own(double, _d, N);                                                                          \
            double to[N];                                                                                            \
            GBEES_UNROLL for (int k = 0; k < N; k++) to[k] = NAN;                                                    \
            gbees_equation_jump_d(which, N, t, x, p, value, to);                                                     \
            for (int k = 0; k < N; k++)                                                                              \
                out[k][i] = to[k];                                                                                   \
        }                                                                                                            \
    }
#else
#define GBEES_IF_JUMP_own(N) NULL
#define GBEES_JUMP(N)
#endif
#define GBEES_IF_JUMP_framed(N) NULL

/* ---- all functions of one dimension ---- */

/* GBEES_EACH_n(M, N): M(N, J) for J = 0 ... n - 1. GBEES_LIST_n: the same functions' names, separated by commas. */
#define GBEES_EACH_1(M, N) M(N, 0)
#define GBEES_EACH_2(M, N) GBEES_EACH_1(M, N) M(N, 1)
#define GBEES_EACH_3(M, N) GBEES_EACH_2(M, N) M(N, 2)
#define GBEES_EACH_4(M, N) GBEES_EACH_3(M, N) M(N, 3)
#define GBEES_EACH_5(M, N) GBEES_EACH_4(M, N) M(N, 4)
#define GBEES_EACH_6(M, N) GBEES_EACH_5(M, N) M(N, 5)
#define GBEES_EACH_7(M, N) GBEES_EACH_6(M, N) M(N, 6)
#define GBEES_EACH_8(M, N) GBEES_EACH_7(M, N) M(N, 7)

#define GBEES_LIST_1(F, N, S) F##_##N##_0##S
#define GBEES_LIST_2(F, N, S) GBEES_LIST_1(F, N, S), F##_##N##_1##S
#define GBEES_LIST_3(F, N, S) GBEES_LIST_2(F, N, S), F##_##N##_2##S
#define GBEES_LIST_4(F, N, S) GBEES_LIST_3(F, N, S), F##_##N##_3##S
#define GBEES_LIST_5(F, N, S) GBEES_LIST_4(F, N, S), F##_##N##_4##S
#define GBEES_LIST_6(F, N, S) GBEES_LIST_5(F, N, S), F##_##N##_5##S
#define GBEES_LIST_7(F, N, S) GBEES_LIST_6(F, N, S), F##_##N##_6##S
#define GBEES_LIST_8(F, N, S) GBEES_LIST_7(F, N, S), F##_##N##_7##S

#define GBEES_COMPONENTS(N, J)                                                                                       \
    GBEES_COMPONENT_own(float, _f, N, J) GBEES_COMPONENT_own(double, _d, N, J)                                       \
        GBEES_COMPONENT_framed(float, _f, N, J) GBEES_COMPONENT_framed(double, _d, N, J)
#define GBEES_ALL_PLANES(N, J)                                                                                       \
    GBEES_PLANES(float, _f, N, J)                                                                                    \
    GBEES_PLANES(double, _d, N, J)

/* In one and two dimensions planes are too short to pay off. */
#define GBEES_NO_PLANES(F, N, S) NULL
#define GBEES_PLANES_OF_1 GBEES_NO_PLANES
#define GBEES_PLANES_OF_2 GBEES_NO_PLANES
#define GBEES_PLANES_OF_3 GBEES_LIST_3
#define GBEES_PLANES_OF_4 GBEES_LIST_4
#define GBEES_PLANES_OF_5 GBEES_LIST_5
#define GBEES_PLANES_OF_6 GBEES_LIST_6
#define GBEES_PLANES_OF_7 GBEES_LIST_7
#define GBEES_PLANES_OF_8 GBEES_LIST_8

#define GBEES_OPTIONAL(AXES, N)                                                                                      \
    GBEES_MEASURE(AXES, N)                                                                                           \
    GBEES_BOUND(AXES, N)                                                                                             \
    GBEES_LOG_LIKELIHOOD(AXES, N)                                                                                    \
    GBEES_NOISE(AXES, N)

/* The fields of a gbees_functions. */
#define GBEES_ROW(AXES, N, PLANES, FRAMED, TIMES)                                                                    \
    {                                                                                                                \
        N, {GBEES_LIST_##N(gbees_##AXES, N, _f)}, {GBEES_LIST_##N(gbees_##AXES, N, _d)},                             \
            {PLANES(gbees_planes, N, _f)}, {PLANES(gbees_planes, N, _d)}, gbees_##AXES##_vector_##N##_f,             \
            gbees_##AXES##_vector_##N##_d, GBEES_IF_MEASURE(gbees_##AXES##_measure_##N),                             \
            GBEES_IF_BOUND(gbees_##AXES##_bound_##N), GBEES_IF_LOG_LIKELIHOOD(gbees_##AXES##_log_likelihood_##N),    \
            GBEES_IF_DIFFUSION(gbees_##AXES##_diffusion_##N), GBEES_IF_JUMP_##AXES(N), FRAMED,                       \
            GBEES_IF_TARGET_##AXES(gbees_##AXES##_target_##N), TIMES                                                 \
    }

#define GBEES_DIMENSION(N)                                                                                           \
    GBEES_DRIFT_own(float, _f, N) GBEES_DRIFT_own(double, _d, N) GBEES_DRIFT_times(N)                                \
        GBEES_DRIFT_framed(float, _f, N) GBEES_DRIFT_framed(double, _d, N) GBEES_EACH_##N(GBEES_COMPONENTS, N)       \
            GBEES_OPTIONAL(own, N) GBEES_OPTIONAL(framed, N) GBEES_TARGET(N)                                         \
                GBEES_JUMP(N) static const gbees_functions gbees_functions_framed_##N =                              \
                    GBEES_ROW(framed, N, GBEES_NO_PLANES, NULL, NULL);

#define GBEES_HAS_DIM(N) (GBEES_DIM_MIN <= (N) && (N) <= GBEES_DIM_MAX)
#if GBEES_HAS_DIM(1)
GBEES_DIMENSION(1)
#define GBEES_ROW_1 GBEES_ROW(own, 1, GBEES_PLANES_OF_1, &gbees_functions_framed_1, gbees_own_times_1),
#else
#define GBEES_ROW_1
#endif
#if GBEES_HAS_DIM(2)
GBEES_DIMENSION(2)
#define GBEES_ROW_2 GBEES_ROW(own, 2, GBEES_PLANES_OF_2, &gbees_functions_framed_2, gbees_own_times_2),
#else
#define GBEES_ROW_2
#endif
#if GBEES_HAS_DIM(3)
GBEES_DIMENSION(3)
GBEES_EACH_3(GBEES_ALL_PLANES, 3)
#define GBEES_ROW_3 GBEES_ROW(own, 3, GBEES_PLANES_OF_3, &gbees_functions_framed_3, gbees_own_times_3),
#else
#define GBEES_ROW_3
#endif
#if GBEES_HAS_DIM(4)
GBEES_DIMENSION(4)
GBEES_EACH_4(GBEES_ALL_PLANES, 4)
#define GBEES_ROW_4 GBEES_ROW(own, 4, GBEES_PLANES_OF_4, &gbees_functions_framed_4, gbees_own_times_4),
#else
#define GBEES_ROW_4
#endif
#if GBEES_HAS_DIM(5)
GBEES_DIMENSION(5)
GBEES_EACH_5(GBEES_ALL_PLANES, 5)
#define GBEES_ROW_5 GBEES_ROW(own, 5, GBEES_PLANES_OF_5, &gbees_functions_framed_5, gbees_own_times_5),
#else
#define GBEES_ROW_5
#endif
#if GBEES_HAS_DIM(6)
GBEES_DIMENSION(6)
GBEES_EACH_6(GBEES_ALL_PLANES, 6)
#define GBEES_ROW_6 GBEES_ROW(own, 6, GBEES_PLANES_OF_6, &gbees_functions_framed_6, gbees_own_times_6),
#else
#define GBEES_ROW_6
#endif
#if GBEES_HAS_DIM(7)
GBEES_DIMENSION(7)
GBEES_EACH_7(GBEES_ALL_PLANES, 7)
#define GBEES_ROW_7 GBEES_ROW(own, 7, GBEES_PLANES_OF_7, &gbees_functions_framed_7, gbees_own_times_7),
#else
#define GBEES_ROW_7
#endif
#if GBEES_HAS_DIM(8)
GBEES_DIMENSION(8)
GBEES_EACH_8(GBEES_ALL_PLANES, 8)
#define GBEES_ROW_8 GBEES_ROW(own, 8, GBEES_PLANES_OF_8, &gbees_functions_framed_8, gbees_own_times_8),
#else
#define GBEES_ROW_8
#endif

static const gbees_functions gbees_functions_table[] = {
    GBEES_ROW_1 GBEES_ROW_2 GBEES_ROW_3 GBEES_ROW_4 GBEES_ROW_5 GBEES_ROW_6 GBEES_ROW_7 GBEES_ROW_8};

/* The card, and the file's own text, for run-time compilers. */
#ifdef __cplusplus
extern "C" {
#endif
extern const char gbees_model_source[], gbees_model_source_end[];
extern __attribute__((visibility("default"))) const gbees_model gbees_model_card;
__attribute__((visibility("default"))) int gbees_model_point(gbees_equation equation, int which, int n, double t,
                                                             const double *x, const double *p, const double *y,
                                                             double *out);
#ifdef __cplusplus
}
#endif

/* One equation at one point, with arrays that gbees-plugin check guards. y: of log_likelihood(), which like bound()
 * and target() sets out[0], and of jump(). Returns 0 if the model has no such equation. */
int gbees_model_point(gbees_equation equation, int which, int n, double t, const double *x, const double *p,
                      const double *y, double *out)
{
    (void)which, (void)y;
    switch (equation) {
    case GBEES_EQUATION_DRIFT:
        gbees_equation_drift_d(n, t, x, p, out);
        return 1;
#ifdef GBEES_HAS_MEASURE
    case GBEES_EQUATION_MEASURE:
        gbees_equation_measure_d(which, n, t, x, p, out);
        return 1;
#endif
#ifdef GBEES_HAS_BOUND
    case GBEES_EQUATION_BOUND:
        out[0] = gbees_equation_bound_d(n, t, x, p);
        return 1;
#endif
#ifdef GBEES_HAS_LOG_LIKELIHOOD
    case GBEES_EQUATION_LOG_LIKELIHOOD:
        out[0] = gbees_equation_log_likelihood_d(which, n, t, x, p, y);
        return 1;
#endif
#ifdef GBEES_HAS_DIFFUSION
    case GBEES_EQUATION_DIFFUSION:
        gbees_equation_diffusion_d(n, t, x, p, out);
        return 1;
#endif
#ifdef GBEES_HAS_TARGET
    case GBEES_EQUATION_TARGET:
        out[0] = gbees_equation_target_d(which, n, t, x, p);
        return 1;
#endif
#ifdef GBEES_HAS_JUMP
    case GBEES_EQUATION_JUMP:
        gbees_equation_jump_d(which, n, t, x, p, y, out);
        return 1;
#endif
    default:
        return 0;
    }
}
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".hidden gbees_model_source\n"
        ".hidden gbees_model_source_end\n"
        ".globl gbees_model_source\n"
        ".globl gbees_model_source_end\n"
        "gbees_model_source:\n"
        ".incbin \"" GBEES_SOURCE_FILE "\"\n"
        "gbees_model_source_end:\n"
        ".byte 0\n"
        ".popsection\n");

/* In the order of the fields: C++ requires it. */
#define GBEES_MODEL_HEAD                                                                                             \
    .abi = GBEES_MODEL_ABI, .size = sizeof(gbees_model), .dim_min = GBEES_DIM_MIN, .dim_max = GBEES_DIM_MAX,         \
    .functions = gbees_functions_table,                                                                              \
    .function_count = (int)(sizeof gbees_functions_table / sizeof gbees_functions_table[0]),                         \
    .source = gbees_model_source, .source_end = gbees_model_source_end, .source_file = GBEES_SOURCE_FILE,            \
    .diffusion = GBEES_DIFFUSION_KIND

#define GBEES_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define GBEES_MODEL const gbees_model gbees_model_card

#endif
