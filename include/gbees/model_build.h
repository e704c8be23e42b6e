/* gbees/model_build.h - makes a plugin's batched functions from its equations; included by gbees/model.h.
 *
 * It includes the plugin's file (__BASE_FILE__) once with real = float and once with real = double; each pass
 * defines drift_f / drift_d and so on, which the loops below call with n and the component as constants, so
 * that a compiler drops what a component does not need and vectorises over the points.
 */
#ifndef GBEES_MODEL_BUILD_H
#define GBEES_MODEL_BUILD_H

/* Both give sqrt(), sin() ... for float and for double by one name. C++ has them as overloads; its <tgmath.h> would
 * bring std::complex along, which has a function called real. */
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

/* The file that is included again and embedded. Compile from the file's own folder, or with -I. */
#ifndef GBEES_SOURCE_FILE
#define GBEES_SOURCE_FILE __BASE_FILE__
#endif
#if defined(__has_include)
#if !__has_include(GBEES_SOURCE_FILE)
#error "gbees: add -I. to the compiler's options: gbees/model.h includes the plugin's file, by the name given"
#endif
#endif

#define GBEES_PASTE_(a, b) a##b
#define GBEES_PASTE(a, b) GBEES_PASTE_(a, b)
#define GBEES_FN(name) GBEES_PASTE(name, GBEES_SUFFIX)

#define GBEES_EQUATIONS 1
#define drift GBEES_FN(gbees_equation_drift)
#define measure GBEES_FN(gbees_equation_measure)
#define bound GBEES_FN(gbees_equation_bound)
#define log_likelihood GBEES_FN(gbees_equation_log_likelihood)
#define diffusion GBEES_FN(gbees_equation_diffusion)

#define real float
#define GBEES_SUFFIX _f
#include GBEES_SOURCE_FILE
#undef real
#undef GBEES_SUFFIX

#define real double
#define GBEES_SUFFIX _d
#include GBEES_SOURCE_FILE
#undef real
#undef GBEES_SUFFIX

#undef drift
#undef measure
#undef bound
#undef log_likelihood
#undef diffusion
#undef GBEES_EQUATIONS

/* One function for each kind of processor, chosen when the plugin is loaded. */
#if defined(__x86_64__) && defined(__linux__) && !defined(GBEES_NO_CLONES) &&                                        \
    (defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 12)
#define GBEES_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GBEES_CLONES
#endif

/* A drift that can't be vectorised is no fault of its author's. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define GBEES_SIMD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GBEES_SIMD _Pragma("GCC ivdep")
#else
#define GBEES_SIMD
#endif

#define GBEES_POINT(R, N)                                                                                            \
    R x[N];                                                                                                          \
    _Pragma("GCC unroll 8") for (int k = 0; k < N; k++) x[k] = origin[k] + column[k][i];

#define GBEES_COLUMNS(R, N)                                                                                          \
    const R *column[N];                                                                                              \
    _Pragma("GCC unroll 8") for (int k = 0; k < N; k++) column[k] = offset[k];

#define GBEES_COMPONENT(R, S, N, J)                                                                                  \
    GBEES_CLONES static void gbees_component_##N##_##J##S(size_t count, R t, const R *origin,                        \
                                                          const R *const *offset, const R *p, R *__restrict out)     \
    {                                                                                                                \
        GBEES_COLUMNS(R, N)                                                                                          \
        GBEES_SIMD for (size_t i = 0; i < count; i++)                                                                \
        {                                                                                                            \
            GBEES_POINT(R, N)                                                                                        \
            R dxdt[N];                                                                                               \
            gbees_equation_drift##S(N, t, x, p, dxdt);                                                               \
            out[i] = dxdt[J];                                                                                        \
        }                                                                                                            \
    }

/* The loop over lanes has a length that compilers know: a vector or a few, without a rest, so that what is the same
 * in all planes is kept in registers. */
#define GBEES_PLANES(R, S, N, J)                                                                                     \
    GBEES_CLONES static void gbees_planes_##N##_##J##S(size_t planes, size_t lanes, R t, const R *origin,            \
                                                       const R *const *offset, const R *along, const R *p,           \
                                                       R *__restrict out)                                            \
    {                                                                                                                \
        GBEES_COLUMNS(R, N)                                                                                          \
        for (size_t first = 0; first < lanes; first += GBEES_LANES)                                                  \
            for (size_t q = 0; q < planes; q++)                                                                      \
                GBEES_SIMD for (size_t l = 0; l < GBEES_LANES; l++)                                                  \
                {                                                                                                    \
                    R x[N], dxdt[N];                                                                                 \
                    _Pragma("GCC unroll 8") for (int k = 0; k < N; k++) x[k] =                                       \
                        k == J ? along[q] : origin[k] + column[k][first + l];                                        \
                    gbees_equation_drift##S(N, t, x, p, dxdt);                                                       \
                    out[q * lanes + first + l] = dxdt[J];                                                            \
                }                                                                                                    \
    }

#define GBEES_VECTOR(R, S, N)                                                                                        \
    GBEES_CLONES static void gbees_vector_##N##S(size_t count, R t, const R *origin, const R *const *offset,         \
                                                 const R *p, R *const *out)                                          \
    {                                                                                                                \
        GBEES_COLUMNS(R, N)                                                                                          \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT(R, N)                                                                                        \
            R dxdt[N];                                                                                               \
            gbees_equation_drift##S(N, t, x, p, dxdt);                                                               \
            for (int j = 0; j < N; j++)                                                                              \
                out[j][i] = dxdt[j];                                                                                 \
        }                                                                                                            \
    }

#ifdef GBEES_HAS_MEASURE
#define GBEES_MEASURE(N)                                                                                             \
    static void gbees_measure_##N(int which, size_t count, double t, const double *origin,                           \
                                  const double *const *offset, const double *p, double *const *out)                  \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT(double, N)                                                                                   \
            double y[GBEES_MAX_DIM] = {0};                                                                           \
            gbees_equation_measure_d(which, N, t, x, p, y);                                                          \
            for (int j = 0; j < GBEES_MAX_DIM && out[j]; j++)                                                        \
                out[j][i] = y[j];                                                                                    \
        }                                                                                                            \
    }
#define GBEES_MEASURE_NAME(N) gbees_measure_##N
#else
#define GBEES_MEASURE(N)
#define GBEES_MEASURE_NAME(N) NULL
#endif

#ifdef GBEES_HAS_BOUND
#define GBEES_BOUND(N)                                                                                               \
    static void gbees_bound_##N(size_t count, double t, const double *origin, const double *const *offset,           \
                                const double *p, double *out)                                                        \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT(double, N)                                                                                   \
            out[i] = gbees_equation_bound_d(N, t, x, p);                                                             \
        }                                                                                                            \
    }
#define GBEES_BOUND_NAME(N) gbees_bound_##N
#else
#define GBEES_BOUND(N)
#define GBEES_BOUND_NAME(N) NULL
#endif

#ifdef GBEES_HAS_LOG_LIKELIHOOD
#define GBEES_LOG_LIKELIHOOD(N)                                                                                      \
    static void gbees_log_likelihood_##N(int which, size_t count, double t, const double *origin,                    \
                                         const double *const *offset, const double *p, const double *y, double *out) \
    {                                                                                                                \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT(double, N)                                                                                   \
            out[i] = gbees_equation_log_likelihood_d(which, N, t, x, p, y);                                          \
        }                                                                                                            \
    }
#define GBEES_LOG_LIKELIHOOD_NAME(N) gbees_log_likelihood_##N
#else
#define GBEES_LOG_LIKELIHOOD(N)
#define GBEES_LOG_LIKELIHOOD_NAME(N) NULL
#endif

#ifdef GBEES_HAS_DIFFUSION
#define GBEES_NOISE(N)                                                                                               \
    GBEES_CLONES static void gbees_diffusion_##N(size_t count, double t, const double *origin,                       \
                                                 const double *const *offset, const double *p, double *const *out)   \
    {                                                                                                                \
        enum { ENTRIES = GBEES_HAS_DIFFUSION == GBEES_FULL ? N * N : N };                                            \
        GBEES_COLUMNS(double, N)                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                         \
            GBEES_POINT(double, N)                                                                                   \
            double Q[ENTRIES] = {0};                                                                                 \
            gbees_equation_diffusion_d(N, t, x, p, Q);                                                               \
            for (int j = 0; j < ENTRIES; j++)                                                                        \
                out[j][i] = Q[j];                                                                                    \
        }                                                                                                            \
    }
#define GBEES_NOISE_NAME(N) gbees_diffusion_##N
#else
#define GBEES_NOISE(N)
#define GBEES_NOISE_NAME(N) NULL
#endif

#include <gbees/model_framed.h>

#define GBEES_BOTH(N, J) GBEES_COMPONENT(float, _f, N, J) GBEES_COMPONENT(double, _d, N, J) GBEES_FRAMED_BOTH(N, J)
#define GBEES_ALL(N, J) GBEES_BOTH(N, J) GBEES_PLANES(float, _f, N, J) GBEES_PLANES(double, _d, N, J)
#define GBEES_COMPONENTS_1 GBEES_BOTH(1, 0)
#define GBEES_COMPONENTS_2 GBEES_BOTH(2, 0) GBEES_BOTH(2, 1)
#define GBEES_COMPONENTS_3 GBEES_ALL(3, 0) GBEES_ALL(3, 1) GBEES_ALL(3, 2)
#define GBEES_COMPONENTS_4 GBEES_ALL(4, 0) GBEES_ALL(4, 1) GBEES_ALL(4, 2) GBEES_ALL(4, 3)
#define GBEES_COMPONENTS_5 GBEES_ALL(5, 0) GBEES_ALL(5, 1) GBEES_ALL(5, 2) GBEES_ALL(5, 3) GBEES_ALL(5, 4)
#define GBEES_COMPONENTS_6                                                                                           \
    GBEES_ALL(6, 0) GBEES_ALL(6, 1) GBEES_ALL(6, 2) GBEES_ALL(6, 3) GBEES_ALL(6, 4) GBEES_ALL(6, 5)
#define GBEES_COMPONENTS_7                                                                                           \
    GBEES_ALL(7, 0) GBEES_ALL(7, 1) GBEES_ALL(7, 2) GBEES_ALL(7, 3) GBEES_ALL(7, 4) GBEES_ALL(7, 5) GBEES_ALL(7, 6)
#define GBEES_COMPONENTS_8                                                                                           \
    GBEES_ALL(8, 0)                                                                                                  \
    GBEES_ALL(8, 1) GBEES_ALL(8, 2) GBEES_ALL(8, 3) GBEES_ALL(8, 4) GBEES_ALL(8, 5) GBEES_ALL(8, 6) GBEES_ALL(8, 7)

#define GBEES_LIST_1(F, S) F##_1_0##S
#define GBEES_LIST_2(F, S) F##_2_0##S, F##_2_1##S
#define GBEES_LIST_3(F, S) F##_3_0##S, F##_3_1##S, F##_3_2##S
#define GBEES_LIST_4(F, S) F##_4_0##S, F##_4_1##S, F##_4_2##S, F##_4_3##S
#define GBEES_LIST_5(F, S) F##_5_0##S, F##_5_1##S, F##_5_2##S, F##_5_3##S, F##_5_4##S
#define GBEES_LIST_6(F, S) F##_6_0##S, F##_6_1##S, F##_6_2##S, F##_6_3##S, F##_6_4##S, F##_6_5##S
#define GBEES_LIST_7(F, S) F##_7_0##S, F##_7_1##S, F##_7_2##S, F##_7_3##S, F##_7_4##S, F##_7_5##S, F##_7_6##S
#define GBEES_LIST_8(F, S)                                                                                           \
    F##_8_0##S, F##_8_1##S, F##_8_2##S, F##_8_3##S, F##_8_4##S, F##_8_5##S, F##_8_6##S, F##_8_7##S

#define GBEES_PLANES_LIST_1(S) NULL
#define GBEES_PLANES_LIST_2(S) NULL
#define GBEES_PLANES_LIST_3(S) GBEES_LIST_3(gbees_planes, S)
#define GBEES_PLANES_LIST_4(S) GBEES_LIST_4(gbees_planes, S)
#define GBEES_PLANES_LIST_5(S) GBEES_LIST_5(gbees_planes, S)
#define GBEES_PLANES_LIST_6(S) GBEES_LIST_6(gbees_planes, S)
#define GBEES_PLANES_LIST_7(S) GBEES_LIST_7(gbees_planes, S)
#define GBEES_PLANES_LIST_8(S) GBEES_LIST_8(gbees_planes, S)

#define GBEES_DIMENSION(N)                                                                                           \
    GBEES_FRAMED_DRIFTS(N)                                                                                           \
    GBEES_COMPONENTS_##N GBEES_VECTOR(float, _f, N) GBEES_VECTOR(double, _d, N) GBEES_MEASURE(N) GBEES_BOUND(N)      \
        GBEES_LOG_LIKELIHOOD(N) GBEES_NOISE(N) GBEES_FRAMED_ROW(N)
#define GBEES_ROW(N)                                                                                                 \
    {N,                                                                                                              \
     {GBEES_LIST_##N(gbees_component, _f)},                                                                          \
     {GBEES_LIST_##N(gbees_component, _d)},                                                                          \
     {GBEES_PLANES_LIST_##N(_f)},                                                                                    \
     {GBEES_PLANES_LIST_##N(_d)},                                                                                    \
     gbees_vector_##N##_f,                                                                                           \
     gbees_vector_##N##_d,                                                                                           \
     GBEES_MEASURE_NAME(N),                                                                                          \
     GBEES_BOUND_NAME(N),                                                                                            \
     GBEES_LOG_LIKELIHOOD_NAME(N),                                                                                   \
     GBEES_NOISE_NAME(N),                                                                                            \
     &gbees_functions_framed_##N},

#define GBEES_HAS_DIM(N) (GBEES_DIM_MIN <= (N) && (N) <= GBEES_DIM_MAX)
#if GBEES_HAS_DIM(1)
GBEES_DIMENSION(1)
#endif
#if GBEES_HAS_DIM(2)
GBEES_DIMENSION(2)
#endif
#if GBEES_HAS_DIM(3)
GBEES_DIMENSION(3)
#endif
#if GBEES_HAS_DIM(4)
GBEES_DIMENSION(4)
#endif
#if GBEES_HAS_DIM(5)
GBEES_DIMENSION(5)
#endif
#if GBEES_HAS_DIM(6)
GBEES_DIMENSION(6)
#endif
#if GBEES_HAS_DIM(7)
GBEES_DIMENSION(7)
#endif
#if GBEES_HAS_DIM(8)
GBEES_DIMENSION(8)
#endif

static const gbees_functions gbees_functions_table[] = {
#if GBEES_HAS_DIM(1)
    GBEES_ROW(1)
#endif
#if GBEES_HAS_DIM(2)
        GBEES_ROW(2)
#endif
#if GBEES_HAS_DIM(3)
            GBEES_ROW(3)
#endif
#if GBEES_HAS_DIM(4)
                GBEES_ROW(4)
#endif
#if GBEES_HAS_DIM(5)
                    GBEES_ROW(5)
#endif
#if GBEES_HAS_DIM(6)
                        GBEES_ROW(6)
#endif
#if GBEES_HAS_DIM(7)
                            GBEES_ROW(7)
#endif
#if GBEES_HAS_DIM(8)
                                GBEES_ROW(8)
#endif
};

/* The card, and the file's own text, for run-time compilers. */
#ifdef __cplusplus
extern "C" {
#endif
extern const char gbees_model_source[], gbees_model_source_end[];
extern __attribute__((visibility("default"))) const gbees_model gbees_model_card;
#ifdef __cplusplus
}
#endif
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

/* In the order of the fields, as C++ has it. */
#define GBEES_MODEL_HEAD                                                                                             \
    .abi = GBEES_MODEL_ABI, .size = sizeof(gbees_model), .dim_min = GBEES_DIM_MIN, .dim_max = GBEES_DIM_MAX,         \
    .functions = gbees_functions_table,                                                                              \
    .function_count = (int)(sizeof gbees_functions_table / sizeof gbees_functions_table[0]),                         \
    .source = gbees_model_source, .source_end = gbees_model_source_end, .source_file = GBEES_SOURCE_FILE,            \
    .diffusion = GBEES_DIFFUSION_KIND

#define GBEES_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define GBEES_MODEL const gbees_model gbees_model_card

#endif
