/* equations.h - the model's equations for the kernels: the functions of device/model.h.
 *
 * The model's text is the header "equations" unless GBEES_SOURCE_FILE says otherwise; gbees/model_equations.h
 * includes it. GBEES_MEASUREMENTS is the number of its measurement functions. With GBEES_ROTATED points and drifts
 * are those of a rotated grid's axes. The lines that call the model's functions have file names of their own,
 * "gbees:drift" and so on: a compiler's error there is one in a function's arguments.
 */
#include "device/model.h"
#include "numerics/table_value.h"
#include <gbees/model.h>

#ifndef GBEES_SOURCE_FILE
#define GBEES_SOURCE_FILE "equations"
#endif
#ifndef GBEES_MEASUREMENTS
#define GBEES_MEASUREMENTS 8
#endif
#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif

#ifdef GBEES_DEVICE
#define GBEES_INLINE static __device__ __forceinline__
#define GBEES_UNROLL _Pragma("unroll")
#define GBEES_UNROLL_ALL GBEES_UNROLL
#define GBEES_OF_MODEL(name) gbees_equations::name

namespace gbees_equations
{
/* These functions are long: for large angles they have a loop. Inlined, each face of a line would have a copy. Calls
 * with the same argument are merged by the compiler. */
template <typename T> static __device__ __noinline__ auto called_sin(T x) -> decltype(::sin(x))
{
    return ::sin(x);
}

template <typename T> static __device__ __noinline__ auto called_cos(T x) -> decltype(::cos(x))
{
    return ::cos(x);
}

template <typename T> static __device__ __noinline__ auto called_tan(T x) -> decltype(::tan(x))
{
    return ::tan(x);
}

template <typename T> static __device__ __forceinline__ auto sin(T x) -> decltype(::sin(x))
{
    return called_sin(x);
}

template <typename T> static __device__ __forceinline__ auto cos(T x) -> decltype(::cos(x))
{
    return called_cos(x);
}

template <typename T> static __device__ __forceinline__ auto tan(T x) -> decltype(::tan(x))
{
    return called_tan(x);
}

#include <gbees/model_equations.h>
} // namespace gbees_equations
#else
#define GBEES_OF_MODEL(name) name
#include <gbees/model_equations.h>
#endif

/* The parameters at the time t: with GBEES_TABLES, which the model's text may define, some follow its tables. */
#ifdef GBEES_TABLES
#define GBEES_MODEL_PARAMETERS(R)                                                                                    \
    R parameters[GBEES_MAX_PARAMETERS];                                                                              \
    GBEES_UNROLL for (int k = 0; k < GBEES_MAX_PARAMETERS; k++) parameters[k] = p[k];                                \
    GBEES_OF_MODEL(gbees_tables_set)(t, parameters)
#else
#define GBEES_MODEL_PARAMETERS(R) const R *parameters = p
#endif

/* With GBEES_ROTATED x becomes a point of the model's axes. */
#if GBEES_ROTATED
#define GBEES_MODEL_POINT(R, S)                                                                                      \
    R at[GBEES_N];                                                                                                   \
    GBEES_OF_MODEL(gbees_frame_point##S)(GBEES_N, p, x, at);                                                         \
    x = at
#else
#define GBEES_MODEL_POINT(R, S) (void)0
#endif

GBEES_MODEL_FUNCTION void gbees_model_drift_f(float t, const float *x, const float *p, float *dxdt)
{
#if GBEES_ROTATED
    const float *y = x;
    float f[GBEES_N], *along = dxdt;

    dxdt = f;
#endif
    GBEES_MODEL_POINT(float, _f);
    GBEES_MODEL_PARAMETERS(float);
#line 1 "gbees:drift"
    GBEES_OF_MODEL(gbees_equation_drift_f)(GBEES_N, t, x, parameters, dxdt);
#if GBEES_ROTATED
    GBEES_UNROLL for (int j = 0; j < GBEES_N; j++) along[j] =
        GBEES_OF_MODEL(gbees_frame_along_f)(GBEES_N, j, p, y, f);
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_drift_d(double t, const double *x, const double *p, double *dxdt)
{
#if GBEES_ROTATED
    const double *y = x;
    double f[GBEES_N], *along = dxdt;

    dxdt = f;
#endif
    GBEES_MODEL_POINT(double, _d);
    GBEES_MODEL_PARAMETERS(double);
#line 1 "gbees:drift"
    GBEES_OF_MODEL(gbees_equation_drift_d)(GBEES_N, t, x, parameters, dxdt);
#if GBEES_ROTATED
    GBEES_UNROLL for (int j = 0; j < GBEES_N; j++) along[j] =
        GBEES_OF_MODEL(gbees_frame_along_d)(GBEES_N, j, p, y, f);
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_diffusion_d(double t, const double *x, const double *p, double *q)
{
#ifdef GBEES_HAS_DIFFUSION
    enum { FULL = GBEES_HAS_DIFFUSION == GBEES_FULL, ENTRIES = FULL ? GBEES_N * GBEES_N : GBEES_N };
#if GBEES_ROTATED
    double own[ENTRIES], *to = q;

    q = own;
#endif
    GBEES_MODEL_POINT(double, _d);
    GBEES_MODEL_PARAMETERS(double);
    GBEES_UNROLL for (int k = 0; k < ENTRIES; k++) q[k] = 0;
#line 1 "gbees:diffusion"
    GBEES_OF_MODEL(gbees_equation_diffusion_d)(GBEES_N, t, x, parameters, q);
#if GBEES_ROTATED
    GBEES_OF_MODEL(gbees_frame_noise_d)(GBEES_N, FULL, p, q, to);
#endif
#else
    (void)t, (void)x, (void)p, (void)q;
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_measure_d(int which, double t, const double *x, const double *p, double *y)
{
#ifdef GBEES_HAS_MEASURE
    GBEES_MODEL_POINT(double, _d);
    GBEES_MODEL_PARAMETERS(double);
    /* `which` is a constant in each call, so that x[which] is a register. */
#define GBEES_CASE(k)                                                                                                \
    case k:                                                                                                          \
        GBEES_OF_MODEL(gbees_equation_measure_d)(k, GBEES_N, t, x, parameters, y);                                   \
        break;
#line 1 "gbees:measure"
    switch (which) {
        GBEES_CASE(0)
#if GBEES_MEASUREMENTS > 1
        GBEES_CASE(1)
#endif
#if GBEES_MEASUREMENTS > 2
        GBEES_CASE(2)
#endif
#if GBEES_MEASUREMENTS > 3
        GBEES_CASE(3)
#endif
#if GBEES_MEASUREMENTS > 4
        GBEES_CASE(4)
#endif
#if GBEES_MEASUREMENTS > 5
        GBEES_CASE(5)
#endif
#if GBEES_MEASUREMENTS > 6
        GBEES_CASE(6)
#endif
#if GBEES_MEASUREMENTS > 7
        GBEES_CASE(7)
#endif
#if GBEES_MEASUREMENTS > 8
    default:
        GBEES_OF_MODEL(gbees_equation_measure_d)(which, GBEES_N, t, x, parameters, y);
#endif
    }
#else
    (void)which, (void)t, (void)x, (void)p;
    y[0] = NAN;
#endif
}

GBEES_MODEL_FUNCTION double gbees_model_log_likelihood_d(int which, double t, const double *x, const double *p,
                                                         const double *y)
{
#ifdef GBEES_HAS_LOG_LIKELIHOOD
    GBEES_MODEL_POINT(double, _d);
    GBEES_MODEL_PARAMETERS(double);
#line 1 "gbees:log_likelihood"
    return GBEES_OF_MODEL(gbees_equation_log_likelihood_d)(which, GBEES_N, t, x, parameters, y);
#else
    (void)which, (void)t, (void)x, (void)p, (void)y;
    return NAN;
#endif
}

GBEES_MODEL_FUNCTION double gbees_model_bound_d(double t, const double *x, const double *p)
{
#ifdef GBEES_HAS_BOUND
    GBEES_MODEL_POINT(double, _d);
    GBEES_MODEL_PARAMETERS(double);
#line 1 "gbees:bound"
    return GBEES_OF_MODEL(gbees_equation_bound_d)(GBEES_N, t, x, parameters);
#else
    (void)t, (void)x, (void)p;
    return 0;
#endif
}

#if GBEES_ABSORBS
/* As on the CPU, tables change no parameters of it. */
GBEES_MODEL_FUNCTION double gbees_model_target_d(int which, double t, const double *x, const double *p)
{
    GBEES_MODEL_POINT(double, _d);
#line 1 "gbees:target"
    return GBEES_OF_MODEL(gbees_equation_target_d)(which, GBEES_N, t, x, p);
}
#endif
