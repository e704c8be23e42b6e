/* kernels.h - the CUDA engine's kernels for one problem, compiled for the host.  Each file of variants/ defines what
 * its kernels are made for and includes this:
 *
 *   SHIM_VARIANT          its name, a word
 *   SHIM_MODEL            the model's name
 *   SHIM_PLUGIN           the model's file
 *   GBEES_N               the dimension
 *
 * and, if it is not 0 (device/engine.cu): SHIM_DOUBLE for double precision, GBEES_SPLIT, GBEES_PRESERVING,
 * GBEES_ORDER, GBEES_DRIFT_F64, GBEES_DRIFT_TIME_DEPENDENT, GBEES_BOUNDED,
 * GBEES_ROTATED, GBEES_MOVING, GBEES_DIFFUSION, GBEES_SHARED, GBEES_ABSORBS,
 * GBEES_LOW_REGISTERS.
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
#ifndef GBEES_MOVING
#define GBEES_MOVING 0
#endif

#ifndef GBEES_SHARED
#define GBEES_SHARED 0
#endif
#ifndef GBEES_ABSORBS
#define GBEES_ABSORBS 0
#endif

#include "driver.h"
#include <string.h>
#include <tgmath.h>

#include "numerics/qualifier.h"

#define SHIM_PASTE_(a, b) a##b
#define SHIM_PASTE(a, b) SHIM_PASTE_(a, b)

#define GBEES_SOURCE_FILE SHIM_PLUGIN
#include "device/equations.h"

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
    case SHIM_FRAME:
#if GBEES_MOVING
        gbees_frame(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(int, 2), ARGUMENT(double, 3));
#endif
        break;
    case SHIM_REMAP:
#if GBEES_MOVING
        gbees_remap(ARGUMENT(gbees_remapping, 0), ARGUMENT(int, 1));
#endif
        break;
#if GBEES_SHARED
    case SHIM_GROW:
        gbees_grow(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(uint64_t, 2));
        break;
    case SHIM_LINK:
        gbees_link(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(uint32_t, 3),
                   ARGUMENT(uint64_t, 4));
        break;
    case SHIM_RELINK:
        gbees_relink(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_SELECT:
        gbees_select(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(gbees_key_box, 2), ARGUMENT(gbees_slot_lists, 3),
                     ARGUMENT(uint32_t, 4), ARGUMENT(uint32_t *, 5));
        break;
    case SHIM_KEYS:
        gbees_keys(*m, ARGUMENT(uint32_t *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(int32_t *, 3));
        break;
    case SHIM_SAMPLE:
        gbees_sample(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(int32_t *, 3));
        break;
    case SHIM_INSERT:
        gbees_insert(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(int32_t *, 2), ARGUMENT(uint32_t, 3),
                     ARGUMENT(uint32_t *, 4));
        break;
    case SHIM_COPY_ROWS:
        gbees_copy_rows(ARGUMENT(number *, 0), ARGUMENT(uint32_t *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(number *, 3),
                        ARGUMENT(int, 4));
        break;
    case SHIM_COPY_MARKS:
        gbees_copy_marks(*m, ARGUMENT(uint32_t *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(uint64_t *, 3),
                         ARGUMENT(int, 4));
        break;
    case SHIM_STAY:
        gbees_stay(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(gbees_key_box, 2));
        break;
    case SHIM_KEEP:
        gbees_keep(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_INSPECT:
        gbees_inspect(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(double, 2));
        break;
    case SHIM_NOISE_RATES:
        gbees_noise_rates(*m, ARGUMENT(gbees_state *, 1));
        break;
    case SHIM_DIFFUSE:
        gbees_diffuse(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(int, 2), ARGUMENT(int, 3), ARGUMENT(double, 4));
        break;
#else
    case SHIM_GROW:
    case SHIM_LINK:
    case SHIM_RELINK:
    case SHIM_SELECT:
    case SHIM_KEYS:
    case SHIM_SAMPLE:
    case SHIM_INSERT:
    case SHIM_COPY_ROWS:
    case SHIM_COPY_MARKS:
    case SHIM_STAY:
    case SHIM_KEEP:
    case SHIM_INSPECT:
    case SHIM_NOISE_RATES:
    case SHIM_DIFFUSE:
        break;
#endif
    case SHIM_INTEGRATE:
        gbees_integrate(ARGUMENT(gbees_samples, 0));
        break;
    case SHIM_FOLLOW:
        gbees_follow(ARGUMENT(gbees_samples, 0));
        break;
    case SHIM_KERNELS:
        break;
    }
#undef ARGUMENT
}

#define SHIM_PASTE_(a, b) a##b
#define SHIM_PASTE(a, b) SHIM_PASTE_(a, b)

const shim_variant SHIM_PASTE(shim_variant_, SHIM_VARIANT) = {
    .model = SHIM_MODEL,
    .dimension = GBEES_N,
    .is_double = GBEES_REAL_IS_DOUBLE,
    .drift_f64 = GBEES_DRIFT_F64,
    .split = GBEES_SPLIT,
    .order = GBEES_ORDER,
    .preserving = GBEES_PRESERVING,
    .time_dependent = GBEES_DRIFT_TIME_DEPENDENT,
    .bounded = GBEES_BOUNDED,
    .closed = GBEES_CLOSED,
    .rotated = GBEES_ROTATED,
    .moving = GBEES_MOVING,
    .shared = GBEES_SHARED,
    .absorbs = GBEES_ABSORBS,
    .run = run_kernel,
};
