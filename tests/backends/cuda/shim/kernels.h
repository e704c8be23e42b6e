/* kernels.h - the CUDA engine's kernels for one problem, compiled for the host.  Each file of variants/ defines what
 * its kernels are made for and includes this:
 *
 *   SHIM_VARIANT          its name, a word
 *   SHIM_MODEL            the model's name
 *   SHIM_PLUGIN           the model's file
 *   GBEES_N               the dimension
 *
 * and, if it is not 0 (device/engine.cu): SHIM_DOUBLE for double precision, GBEES_SPLIT, GBEES_PRESERVING,
 * GBEES_ORDER, GBEES_DIVERGENCE, GBEES_LIMITED, GBEES_DRIFT_F64, GBEES_DRIFT_TIME_DEPENDENT, GBEES_BOUNDED,
 * GBEES_ROTATED, GBEES_DIFFUSION, GBEES_SMALL, GBEES_LOW_REGISTERS.
 */
#define GBEES_PLATFORM_HEADER "backends/cuda/shim/platform.h" /* for device/platform.h */
#define GBEES_KERNELS GBEES_KERNELS_ALL

#ifdef SHIM_DOUBLE
#define GBEES_REAL double
#define GBEES_REAL_IS_DOUBLE 1
#else
#define GBEES_REAL float
#define GBEES_REAL_IS_DOUBLE 0
#endif
#ifndef GBEES_SPLIT
#define GBEES_SPLIT 0
#endif
#ifndef GBEES_PRESERVING
#define GBEES_PRESERVING 0
#endif
#ifndef GBEES_ORDER
#define GBEES_ORDER 5
#endif
#ifndef GBEES_DIVERGENCE
#define GBEES_DIVERGENCE 0
#endif
#ifndef GBEES_LIMITED
#define GBEES_LIMITED 0
#endif
#ifndef GBEES_DRIFT_F64
#define GBEES_DRIFT_F64 0
#endif
#ifndef GBEES_DRIFT_TIME_DEPENDENT
#define GBEES_DRIFT_TIME_DEPENDENT 0
#endif
#ifndef GBEES_BOUNDED
#define GBEES_BOUNDED 0
#endif
#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif
#ifndef GBEES_SMALL
#define GBEES_SMALL 0
#endif

#include "driver.h"
#include <string.h>
#include <tgmath.h>

#include "numerics/qualifier.h"

/* ---- the model's equations, as model_build.h makes them for the host ------------------------------------------ */

#define GBEES_DEVICE_MODEL_H /* the prototypes are static here, and the text comes first */
#define GBEES_MODEL_H
#define GBEES_EQUATIONS 1
#define SHIM_PASTE_(a, b) a##b
#define SHIM_PASTE(a, b) SHIM_PASTE_(a, b)
#define GBEES_FN(name) SHIM_PASTE(name, GBEES_SUFFIX)
#define GBEES_DIAGONAL 1
#define GBEES_FULL 2
#define drift GBEES_FN(shim_drift)
#define measure GBEES_FN(shim_measure)
#define bound GBEES_FN(shim_bound)
#define log_likelihood GBEES_FN(shim_log_likelihood)
#define diffusion GBEES_FN(shim_diffusion)

#define real float
#define GBEES_SUFFIX _f
#include SHIM_PLUGIN
#undef real
#undef GBEES_SUFFIX
#define real double
#define GBEES_SUFFIX _d
#include SHIM_PLUGIN
#undef real
#undef GBEES_SUFFIX
#undef drift
#undef measure
#undef bound
#undef log_likelihood
#undef diffusion
#undef GBEES_MODEL_H

#include "device/frames.h"

#if GBEES_ROTATED
#define SHIM_POINT                                                                                                   \
    double at[GBEES_N];                                                                                              \
    gbees_frame_point_d(GBEES_N, p, x, at);                                                                          \
    x = at;
#else
#define SHIM_POINT
#endif

/* What a case's kernels don't call clang would warn of. */
static inline __attribute__((unused)) void gbees_model_drift_f(float t, const float *x, const float *p, float *dxdt)
{
#if GBEES_ROTATED
    float at[GBEES_N], f[GBEES_N];

    gbees_frame_point_f(GBEES_N, p, x, at);
    shim_drift_f(GBEES_N, t, at, p, f);
    gbees_frame_drift_f(GBEES_N, p, f, dxdt);
#else
    shim_drift_f(GBEES_N, t, x, p, dxdt);
#endif
}

static inline __attribute__((unused)) void gbees_model_drift_d(double t, const double *x, const double *p,
                                                               double *dxdt)
{
#if GBEES_ROTATED
    double at[GBEES_N], f[GBEES_N];

    gbees_frame_point_d(GBEES_N, p, x, at);
    shim_drift_d(GBEES_N, t, at, p, f);
    gbees_frame_drift_d(GBEES_N, p, f, dxdt);
#else
    shim_drift_d(GBEES_N, t, x, p, dxdt);
#endif
}

#if GBEES_DIFFUSION
static inline void gbees_model_diffusion_d(double t, const double *x, const double *p, double *q)
{
    enum { FULL = GBEES_HAS_DIFFUSION == GBEES_FULL, ENTRIES = FULL ? GBEES_N * GBEES_N : GBEES_N };
    SHIM_POINT
#if GBEES_ROTATED
    double own[ENTRIES] = {0};

    shim_diffusion_d(GBEES_N, t, x, p, own);
    gbees_frame_noise_d(GBEES_N, FULL, p, own, q);
#else
    memset(q, 0, sizeof *q * ENTRIES);
    shim_diffusion_d(GBEES_N, t, x, p, q);
#endif
}
#endif

static inline void gbees_model_measure_d(int which, double t, const double *x, const double *p, double *y)
{
#ifdef GBEES_HAS_MEASURE
    SHIM_POINT
    shim_measure_d(which, GBEES_N, t, x, p, y);
#else
    (void)which, (void)t, (void)x, (void)p;
    y[0] = NAN;
#endif
}

static inline __attribute__((unused)) double gbees_model_bound_d(double t, const double *x, const double *p)
{
#ifdef GBEES_HAS_BOUND
    SHIM_POINT
    return shim_bound_d(GBEES_N, t, x, p);
#else
    (void)t, (void)x, (void)p;
    return 0;
#endif
}

static inline double gbees_model_log_likelihood_d(int which, double t, const double *x, const double *p,
                                                  const double *y)
{
#ifdef GBEES_HAS_LOG_LIKELIHOOD
    SHIM_POINT
    return shim_log_likelihood_d(which, GBEES_N, t, x, p, y);
#else
    (void)which, (void)t, (void)x, (void)p, (void)y;
    return NAN;
#endif
}

/* As cuda_spec_advects_apart(). */
#ifdef GBEES_HAS_DIFFUSION
#define GBEES_ADVECT_APART 0
#else
#define GBEES_ADVECT_APART (GBEES_N > 4)
#endif

#include "device/engine.cu"

/* ---- the variant -------------------------------------------------------------------------------------------------
 */

/* One block of a launch; `a` points to the kernel's arguments. */
static void run_kernel(shim_kernel kernel, void **a)
{
    const gbees_setup *m = a[0];

#define ARGUMENT(type, i) (*(type *)a[i])
    switch (kernel) {
    case SHIM_START:
        gbees_start(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_REHASH:
        gbees_rehash(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_ADVANCE:
        gbees_advance(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(uint64_t, 2));
        break;
    case SHIM_ADVANCE_SMALL:
#if GBEES_SMALL
        gbees_small(*m, ARGUMENT(gbees_state, 1), ARGUMENT(uint64_t, 2), ARGUMENT(gbees_state *, 3));
#endif
        break;
    case SHIM_PRUNE:
        gbees_prune(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(uint64_t, 2));
        break;
    case SHIM_COUNT:
        gbees_count(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_FIND_BEST:
        gbees_find_best(*m, ARGUMENT(gbees_update_params, 1), ARGUMENT(gbees_findings *, 2));
        break;
    case SHIM_MULTIPLY:
        gbees_multiply(*m, ARGUMENT(gbees_update_params, 1), ARGUMENT(gbees_findings *, 2));
        break;
    case SHIM_SCALE:
        gbees_scale(*m, ARGUMENT(gbees_findings *, 1));
        break;
    case SHIM_STATISTICS:
        gbees_statistics(*m, ARGUMENT(gbees_findings *, 1));
        break;
    case SHIM_PACK:
        gbees_pack(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(uint32_t, 3),
                   ARGUMENT(double, 4), ARGUMENT(uint64_t *, 5), ARGUMENT(int32_t *, 6), ARGUMENT(number *, 7));
        break;
    case SHIM_ADVECT:
        gbees_advect(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(int, 2));
        break;
    case SHIM_ADVECT_ALL:
        gbees_advect_all(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_MARK:
        gbees_mark(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_RANGE:
        gbees_range(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(double, 2));
        break;
    case SHIM_MARGINAL_SUMS:
        gbees_marginal_sums(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(gbees_histograms, 2), ARGUMENT(double, 3),
                            ARGUMENT(int64_t *, 4));
        break;
    case SHIM_KERNELS:
        break;
    }
#undef ARGUMENT
}

const shim_variant SHIM_PASTE(shim_variant_, SHIM_VARIANT) = {
    .model = SHIM_MODEL,
    .dimension = GBEES_N,
    .is_double = GBEES_REAL_IS_DOUBLE,
    .drift_f64 = GBEES_DRIFT_F64,
    .split = GBEES_SPLIT,
    .order = GBEES_ORDER,
    .preserving = GBEES_PRESERVING,
    .divergence = GBEES_DIVERGENCE,
    .limited = GBEES_LIMITED,
    .time_dependent = GBEES_DRIFT_TIME_DEPENDENT,
    .bounded = GBEES_BOUNDED,
    .rotated = GBEES_ROTATED,
    .small = GBEES_SMALL,
    .run = run_kernel,
};
