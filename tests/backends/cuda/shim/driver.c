/* driver.c - the driver of a GPU made of threads: the functions that the CUDA backend's engine calls.  A launch runs
 * each block of the kernel in a thread of its own. */
#include "driver.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Thread_local uint32_t shim_block, shim_blocks;
_Thread_local int shim_waited;
uint32_t shim_cluster_barrier;

const shim_variant *shim_chosen;
int shim_failing_launch, shim_gpus = 64, shim_most_blocks = 4, shim_cluster;
const char *shim_failing_after;

/* ---- launches ----------------------------------------------------------------------------------------------------
 */

/* As shim_kernel; a CUfunction points to one of these. */
static const char *const names[SHIM_KERNELS] = {
    "gbees_start",     "gbees_rehash",     "gbees_advance",       "gbees_prune", "gbees_count",   "gbees_find_best",
    "gbees_multiply",  "gbees_scale",      "gbees_statistics",    "gbees_pack",  "gbees_advect",  "gbees_advect_all",
    "gbees_mark",      "gbees_range",      "gbees_marginal_sums", "gbees_frame", "gbees_remap",   "gbees_grow",
    "gbees_link",      "gbees_relink",     "gbees_select",        "gbees_keys",  "gbees_sample",  "gbees_insert",
    "gbees_copy_rows", "gbees_copy_marks", "gbees_stay",          "gbees_keep",  "gbees_inspect", "gbees_noise_rates",
    "gbees_diffuse",   "gbees_integrate",  "gbees_follow",
};

typedef struct launch {
    shim_kernel kernel;
    void **arguments;
    uint32_t block, blocks;
    int early;  /* 1: it may begin before the kernel ahead of it has ended */
    int waited; /* it has waited for that end */
} launch;

static shim_kernel kernel_of(CUfunction f)
{
    size_t i = 0;

    while (i < SHIM_KERNELS && (const char *)f != names[i])
        i++;
    return (shim_kernel)i;
}

static void *run_block(void *context)
{
    launch *l = context;

    shim_block = l->block;
    shim_blocks = l->blocks;
    shim_waited = 0;
    shim_chosen->run(l->kernel, l->arguments);
    l->waited = shim_waited;
    return NULL;
}

/* Whether this launch is the one that fails. */
static int is_to_fail(CUfunction f)
{
    if (!shim_failing_after)
        return shim_failing_launch > 0 && --shim_failing_launch == 0;
    if (strcmp((const char *)f, shim_failing_after) == 0)
        shim_failing_after = NULL;
    return 0;
}

/* Runs `count` blocks of a launch, from block `all.block` on. An early launch fails if one of its blocks has not
 * called wait_for_launch(): on a GPU it might then read what the kernel ahead of it has not yet written. */
static CUresult launch_some(CUfunction f, launch all, unsigned count)
{
    pthread_t thread[SHIM_MOST_BLOCKS];
    launch l[SHIM_MOST_BLOCKS];
    int waited = 1;

    if (is_to_fail(f))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (unsigned b = 0; b < count; b++) {
        l[b] = all;
        l[b].block += b;
        if (pthread_create(&thread[b], NULL, run_block, &l[b]))
            abort();
    }
    for (unsigned b = 0; b < count; b++) {
        (void)pthread_join(thread[b], NULL);
        waited = waited && l[b].waited;
    }
    return all.early && !waited ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

/* Runs all blocks of a launch, SHIM_MOST_BLOCKS at a time: such kernels have no barrier of the grid. */
static CUresult launch_all(CUfunction f, launch all)
{
    CUresult result = CUDA_SUCCESS;

    for (; all.block < all.blocks && result == CUDA_SUCCESS; all.block += SHIM_MOST_BLOCKS) {
        const unsigned left = all.blocks - all.block;

        result = launch_some(f, all, left < SHIM_MOST_BLOCKS ? left : SHIM_MOST_BLOCKS);
    }
    return result;
}

static CUresult launch_cooperative(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                                   unsigned tz, unsigned shared, CUstream stream, void **arguments)
{
    (void)by, (void)bz, (void)tx, (void)ty, (void)tz, (void)shared, (void)stream;
    return bx > (unsigned)shim_most_blocks ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                           : launch_some(f, (launch){kernel_of(f), arguments, 0, bx, 0, 0}, bx);
}

static CUresult launch_any(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                           unsigned shared, CUstream stream, void **arguments, void **extra)
{
    (void)by, (void)bz, (void)tx, (void)ty, (void)tz, (void)shared, (void)stream, (void)extra;
    return launch_all(f, (launch){kernel_of(f), arguments, 0, bx, 0, 0});
}

/* Launches one cluster, or blocks without a barrier of the grid; both run after all earlier launches. */
static CUresult launch_early(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra)
{
    const launch all = {kernel_of(f), arguments, 0, config->gridDimX, 1, 0};

    (void)extra;
    if (!shim_cluster || config->numAttrs < 1 ||
        config->attrs[0].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        return CUDA_ERROR_INVALID_VALUE;
    if (config->numAttrs == 1)
        return launch_all(f, all);
    if (config->attrs[1].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
        config->attrs[1].value.clusterDim.x != config->gridDimX || config->gridDimX > SHIM_MOST_BLOCKS)
        return CUDA_ERROR_INVALID_VALUE;
    shim_cluster_barrier = 0;
    return launch_some(f, all, all.blocks);
}

static CUresult set_function_attribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    (void)f, (void)attribute, (void)value;
    return shim_cluster ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- the driver ---------------------------------------------------------------------------------------------------
 */

static char thing; /* what a handle points to */

static CUresult get_count(int *count)
{
    *count = shim_gpus;
    return CUDA_SUCCESS;
}

static CUresult get_device(CUdevice *device, int number)
{
    *device = number;
    return number < shim_gpus ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

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
    for (size_t i = 0; i < SHIM_KERNELS; i++)
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
    api->cuDeviceGetCount = get_count;
    api->cuDeviceGet = get_device;
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
