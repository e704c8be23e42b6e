/* kernel.c - the kernels of one instruction set; see kernel.h. */
#include "kernel.h"
#include "kernel_isa.h"
#include "kernel_moments.h"
#include "noise.h"
#include "numerics/fused.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef double eight_doubles __attribute__((vector_size(64)));

#include "kernel_pencil.h"

#define GBEES_REAL float
#define GBEES_REAL_FN(name) name##_f
#define LANES (VECTOR_BYTES / 4)
#define LOG2_LANES (VECTOR_BYTES == 64 ? 4 : VECTOR_BYTES == 32 ? 3 : 2)
#define COMPONENT component_f
#define PLANES_OF planes_f
#define NEXT_AFTER nextafterf
#define PARAMETERS parameters_f
#define TINY 1e-30f
#include "kernel_precision.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN
#undef LANES
#undef LOG2_LANES
#undef COMPONENT
#undef PLANES_OF
#undef NEXT_AFTER
#undef PARAMETERS
#undef TINY

#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#define LANES (VECTOR_BYTES / 8)
#define LOG2_LANES (VECTOR_BYTES == 64 ? 3 : VECTOR_BYTES == 32 ? 2 : 1)
#define COMPONENT component_d
#define PLANES_OF planes_d
#define NEXT_AFTER nextafter
#define PARAMETERS parameters_d
#define TINY 1e-200
#include "kernel_precision.h"

const kernel_set *PASTE(cpu_kernels_, GBEES_ISA)(void)
{
    static const kernel_set set = {
        {TEXT(GBEES_ISA), inspect_f, find_flow_f, transverse_f, share_f, update_f, update_shared_f, sweep_f,
         diffuse_f, sum_rows_f, mark_rows_f, split_index_f, PASTE(cpu_moments_f_, GBEES_ISA)},
        {TEXT(GBEES_ISA), inspect_d, find_flow_d, transverse_d, share_d, update_d, update_shared_d, sweep_d,
         diffuse_d, sum_rows_d, mark_rows_d, split_index_d, PASTE(cpu_moments_d_, GBEES_ISA)},
    };

    return &set;
}
