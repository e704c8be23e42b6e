/* equations.h - the model's equations for a GPU: the other half of what gbees/model_build.h makes for the host.
 *
 * The model's text, the header "equations" unless GBEES_SOURCE_FILE says otherwise, is included once with real =
 * float and once with real = double. GBEES_MEASUREMENTS is the number of its measurement functions. The lines that
 * call its functions bear names of their own, "gbees:drift" and so on: an error there is one in their arguments.
 */
#include "device/frames.h"
#include "device/model.h"

#ifndef GBEES_SOURCE_FILE
#define GBEES_SOURCE_FILE "equations"
#endif
#ifndef GBEES_MEASUREMENTS
#define GBEES_MEASUREMENTS 8
#endif

/* As gbees/model.h has them. */
#define GBEES_DIAGONAL 1
#define GBEES_FULL 2

#define GBEES_PASTE_(a, b) a##b
#define GBEES_PASTE(a, b) GBEES_PASTE_(a, b)
#define GBEES_FN(name) GBEES_PASTE(name, GBEES_SUFFIX)

#define GBEES_EQUATIONS 1
#define drift GBEES_FN(gbees_equation_drift)
#define measure GBEES_FN(gbees_equation_measure)
#define bound GBEES_FN(gbees_equation_bound)
#define log_likelihood GBEES_FN(gbees_equation_log_likelihood)
#define diffusion GBEES_FN(gbees_equation_diffusion)

namespace gbees_equations
{
/* Of the functions that a model calls these are long: for large angles they have a loop, and at all faces of a line
 * there would be a copy each.  Of calls with the same argument the compiler makes one. */
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
} // namespace gbees_equations

#undef drift
#undef measure
#undef bound
#undef log_likelihood
#undef diffusion
#undef GBEES_EQUATIONS

/* On a turned grid (GBEES_ROTATED) points are those of its own axes, and drifts along them. */
#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif

GBEES_MODEL_FUNCTION void gbees_model_drift_f(float t, const float *x, const float *p, float *dxdt)
{
#if GBEES_ROTATED
    float at[GBEES_N], f[GBEES_N];

    gbees_frame_point_f(GBEES_N, p, x, at);
#line 1 "gbees:drift"
    gbees_equations::gbees_equation_drift_f(GBEES_N, t, at, p, f);
    gbees_frame_drift_f(GBEES_N, p, f, dxdt);
#else
#line 1 "gbees:drift"
    gbees_equations::gbees_equation_drift_f(GBEES_N, t, x, p, dxdt);
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_drift_d(double t, const double *x, const double *p, double *dxdt)
{
#if GBEES_ROTATED
    double at[GBEES_N], f[GBEES_N];

    gbees_frame_point_d(GBEES_N, p, x, at);
#line 1 "gbees:drift"
    gbees_equations::gbees_equation_drift_d(GBEES_N, t, at, p, f);
    gbees_frame_drift_d(GBEES_N, p, f, dxdt);
#else
#line 1 "gbees:drift"
    gbees_equations::gbees_equation_drift_d(GBEES_N, t, x, p, dxdt);
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_diffusion_d(double t, const double *x, const double *p, double *q)
{
#ifdef GBEES_HAS_DIFFUSION
    enum { FULL = GBEES_HAS_DIFFUSION == GBEES_FULL, ENTRIES = FULL ? GBEES_N * GBEES_N : GBEES_N };
#if GBEES_ROTATED
    double at[GBEES_N], own[ENTRIES], *to = q;

    gbees_frame_point_d(GBEES_N, p, x, at);
    x = at;
    q = own;
#endif
#pragma unroll
    for (int k = 0; k < ENTRIES; k++)
        q[k] = 0;
#line 1 "gbees:diffusion"
    gbees_equations::gbees_equation_diffusion_d(GBEES_N, t, x, p, q);
#if GBEES_ROTATED
    gbees_frame_noise_d(GBEES_N, FULL, p, q, to);
#endif
#else
    (void)t, (void)x, (void)p, (void)q;
#endif
}

GBEES_MODEL_FUNCTION void gbees_model_measure_d(int which, double t, const double *x, const double *p, double *y)
{
#ifdef GBEES_HAS_MEASURE
#if GBEES_ROTATED
    double at[GBEES_N];

    gbees_frame_point_d(GBEES_N, p, x, at);
    x = at;
#endif
    /* `which` is a constant in each call, so that x[which] is a register. */
#define GBEES_CASE(k)                                                                                                \
    case k:                                                                                                          \
        gbees_equations::gbees_equation_measure_d(k, GBEES_N, t, x, p, y);                                           \
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
        gbees_equations::gbees_equation_measure_d(which, GBEES_N, t, x, p, y);
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
#if GBEES_ROTATED
    double at[GBEES_N];

    gbees_frame_point_d(GBEES_N, p, x, at);
    x = at;
#endif
#line 1 "gbees:log_likelihood"
    return gbees_equations::gbees_equation_log_likelihood_d(which, GBEES_N, t, x, p, y);
#else
    (void)which, (void)t, (void)x, (void)p, (void)y;
    return NAN;
#endif
}

GBEES_MODEL_FUNCTION double gbees_model_bound_d(double t, const double *x, const double *p)
{
#ifdef GBEES_HAS_BOUND
#if GBEES_ROTATED
    double at[GBEES_N];

    gbees_frame_point_d(GBEES_N, p, x, at);
    x = at;
#endif
#line 1 "gbees:bound"
    return gbees_equations::gbees_equation_bound_d(GBEES_N, t, x, p);
#else
    (void)t, (void)x, (void)p;
    return 0;
#endif
}
