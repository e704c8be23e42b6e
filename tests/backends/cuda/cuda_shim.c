/* cuda_shim.c - a GPU made of threads: the kernels' text compiled for the host, and the functions of the driver that
 * the CUDA backend calls.  One model, dimension and precision, named by macros:
 *
 *   SHIM_PLUGIN "plugins/lorenz63.c", GBEES_N, GBEES_REAL, GBEES_REAL_IS_DOUBLE, GBEES_DRIFT_F64, GBEES_SPLIT,
 * GBEES_PRESERVING, GBEES_DIFFUSION
 */
#define GBEES_PLATFORM_HEADER "backends/cuda/cuda_shim.h" /* for device/platform.h */
#define GBEES_KERNELS GBEES_KERNELS_ALL

#include "cuda_shim_driver.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "numerics/qualifier.h"

_Thread_local uint32_t shim_block, shim_blocks;
uint32_t shim_cluster_barrier;
char *shim_memory_of[SHIM_MOST_BLOCKS];

#define GBEES_SOURCE_FILE SHIM_PLUGIN
#include "device/equations.h"

/* As cuda_spec_advects_apart(). */
#ifdef GBEES_HAS_DIFFUSION
#define GBEES_ADVECT_APART 0
#else
#define GBEES_ADVECT_APART (GBEES_N > 4)
#endif

#include "device/engine.cu"

/* ---- launches ----------------------------------------------------------------------------------------------------
 */

int shim_failing_launch, shim_most_blocks = 4, shim_cluster;

typedef struct launch {
    const char *name;
    void **a;
    uint32_t block, blocks;
} launch;

static const char *const names[] = {
    "gbees_start",    "gbees_rehash",        "gbees_advance",    "gbees_prune", "gbees_count",  "gbees_find_best",
    "gbees_multiply", "gbees_scale",         "gbees_statistics", "gbees_pack",  "gbees_advect", "gbees_mark",
    "gbees_range",    "gbees_marginal_sums", "gbees_advect_all", "gbees_small",
};

static void *run_block(void *context)
{
    const launch *l = context;
    void **a = l->a;

    shim_block = l->block;
    shim_blocks = l->blocks;
    const gbees_setup *m = a[0];
#define ARGUMENT(type, i) (*(type *)a[i])
    if (l->name == names[0])
        gbees_start(*m, ARGUMENT(gbees_state *, 1));
    else if (l->name == names[1])
        gbees_rehash(*m, ARGUMENT(gbees_state *, 1));
#if GBEES_SMALL
    else if (l->name == names[15])
        gbees_small(*m, ARGUMENT(gbees_state, 1), ARGUMENT(uint64_t, 2), ARGUMENT(gbees_state *, 3));
#endif
    else if (l->name == names[2])
        gbees_advance(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(uint64_t, 2));
    else if (l->name == names[3])
        gbees_prune(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(uint64_t, 2));
    else if (l->name == names[4])
        gbees_count(*m, ARGUMENT(gbees_state *, 1));
    else if (l->name == names[5])
        gbees_find_best(*m, ARGUMENT(gbees_update_params, 1), ARGUMENT(gbees_findings *, 2));
    else if (l->name == names[6])
        gbees_multiply(*m, ARGUMENT(gbees_update_params, 1), ARGUMENT(gbees_findings *, 2));
    else if (l->name == names[7])
        gbees_scale(*m, ARGUMENT(gbees_findings *, 1));
    else if (l->name == names[8])
        gbees_statistics(*m, ARGUMENT(gbees_findings *, 1));
    else if (l->name == names[11])
        gbees_mark(*m, ARGUMENT(gbees_state *, 1));
    else if (l->name == names[10])
        gbees_advect(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(int, 2));
    else if (l->name == names[14])
        gbees_advect_all(*m, ARGUMENT(gbees_state *, 1));
    else if (l->name == names[12])
        gbees_range(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(double, 2));
    else if (l->name == names[13])
        gbees_marginal_sums(*m, ARGUMENT(gbees_state *, 1), ARGUMENT(gbees_histograms, 2), ARGUMENT(double, 3),
                            ARGUMENT(int64_t *, 4));
    else
        gbees_pack(*m, ARGUMENT(gbees_findings *, 1), ARGUMENT(uint32_t, 2), ARGUMENT(uint32_t, 3),
                   ARGUMENT(double, 4), ARGUMENT(uint64_t *, 5), ARGUMENT(int32_t *, 6), ARGUMENT(number *, 7));
#undef ARGUMENT
    return NULL;
}

static CUresult launch_some(CUfunction f, unsigned first, unsigned count, unsigned blocks, void **arguments)
{
    pthread_t thread[SHIM_MOST_BLOCKS];
    launch l[SHIM_MOST_BLOCKS];

    if (shim_failing_launch > 0 && --shim_failing_launch == 0)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (unsigned b = 0; b < count; b++) {
        l[b] = (launch){(const char *)f, arguments, first + b, blocks};
        if (pthread_create(&thread[b], NULL, run_block, &l[b]))
            abort();
    }
    for (unsigned b = 0; b < count; b++)
        (void)pthread_join(thread[b], NULL);
    return CUDA_SUCCESS;
}

static CUresult launch_blocks(CUfunction f, unsigned blocks, void **arguments)
{
    return launch_some(f, 0, blocks, blocks, arguments);
}

static CUresult launch_cooperative(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                                   unsigned tz, unsigned shared, CUstream stream, void **arguments)
{
    (void)by, (void)bz, (void)tx, (void)ty, (void)tz, (void)shared, (void)stream;
    return bx > (unsigned)shim_most_blocks ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                           : launch_blocks(f, bx, arguments);
}

/* Some blocks after the others: they must not meet. */
static CUresult launch_any(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                           unsigned shared, CUstream stream, void **arguments, void **extra)
{
    CUresult result = CUDA_SUCCESS;

    (void)by, (void)bz, (void)tx, (void)ty, (void)tz, (void)shared, (void)stream, (void)extra;
    for (unsigned b = 0; b < bx && result == CUDA_SUCCESS; b += SHIM_MOST_BLOCKS)
        result = launch_some(f, b, bx - b < SHIM_MOST_BLOCKS ? bx - b : SHIM_MOST_BLOCKS, bx, arguments);
    return result;
}

/* Of one cluster, or blocks that must not meet; in both cases after what was launched before. */
static CUresult launch_early(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra)
{
    if (!shim_cluster || config->numAttrs < 1 ||
        config->attrs[0].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        return CUDA_ERROR_INVALID_VALUE;
    if (config->numAttrs == 1)
        return launch_any(f, config->gridDimX, 1, 1, config->blockDimX, 1, 1, 0, config->hStream, arguments, extra);
    if (config->attrs[1].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
        config->attrs[1].value.clusterDim.x != config->gridDimX || config->gridDimX > SHIM_MOST_BLOCKS)
        return CUDA_ERROR_INVALID_VALUE;
    shim_cluster_barrier = 0;
    return launch_blocks(f, config->gridDimX, arguments);
}

static CUresult set_function_attribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    (void)f, (void)attribute, (void)value;
    return shim_cluster ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- the driver ---------------------------------------------------------------------------------------------------
 */

static char thing; /* what a handle points to */

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH                        ? shim_cluster
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT                ? shim_most_blocks
             : attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? shim_virtual
                                                                                    : 0;
    return CUDA_SUCCESS;
}

static CUresult retain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = (CUcontext)(void *)&thing;
    return CUDA_SUCCESS;
}

static CUresult release(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

static CUresult set_current(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *stream, unsigned flags)
{
    (void)flags;
    *stream = (CUstream)(void *)&thing;
    return CUDA_SUCCESS;
}

static CUresult stream_sync(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values)
{
    (void)image, (void)count, (void)options, (void)values;
    *module = (CUmodule)(void *)&thing;
    return CUDA_SUCCESS;
}

static CUresult unload(CUmodule module)
{
    (void)module;
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *f, CUmodule module, const char *name)
{
    (void)module;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *f = (CUfunction)(void *)(uintptr_t)names[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult occupancy(int *blocks, CUfunction f, int threads, size_t shared)
{
    (void)f, (void)threads, (void)shared;
    *blocks = 1;
    return CUDA_SUCCESS;
}

static CUresult error_text(CUresult result, const char **text)
{
    *text = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "an error of the shim";
    return CUDA_SUCCESS;
}

void cuda_shim_open(cuda_api *api)
{
    memset(api, 0, sizeof *api);
    cuda_shim_open_memory(api);
    api->cuGetErrorName = api->cuGetErrorString = error_text;
    api->cuDeviceGetAttribute = get_attribute;
    api->cuDevicePrimaryCtxRetain = retain;
    api->cuDevicePrimaryCtxRelease = release;
    api->cuCtxSetCurrent = set_current;
    api->cuStreamCreate = stream_create;
    api->cuStreamDestroy = stream_sync;
    api->cuStreamSynchronize = stream_sync;
    api->cuModuleLoadDataEx = load;
    api->cuModuleUnload = unload;
    api->cuModuleGetFunction = get_function;
    api->cuOccupancyMaxActiveBlocksPerMultiprocessor = occupancy;
    api->cuLaunchCooperativeKernel = launch_cooperative;
    api->cuLaunchKernel = launch_any;
    api->cuLaunchKernelEx = launch_early;
    api->cuFuncSetAttribute = set_function_attribute;
}
