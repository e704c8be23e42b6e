/* load.c - loads the programs into the GPU, and asks the driver how many blocks of each kernel are resident at once,
 * and how large a cluster may be. */
#include "load.h"
#include "engine.h"

enum {
    MOST_BLOCKS = 5,            /* blocks of a multiprocessor: with more, kernels with grid barriers are not faster */
    PORTABLE_CLUSTER_BLOCKS = 8 /* blocks of a cluster on every GPU that has clusters */
};

/* Finds kernel k in its program, which is loaded, and how many of its blocks are resident at once. */
static int find_kernel(gbees_engine *e, int k, gbees_error *error)
{
    const cuda_api *api = e->api;
    const program *p = &e->programs->part[kernel_table[k].program];
    int blocks = 0, warps = p->shape.warps;
    int status = program_function(api, p, kernel_table[k].name, &e->kernel[k], error);

    if (!status)
        status = cuda_check(
            api, api->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, e->kernel[k], ENGINE_WARP_SIZE * warps, 0),
            "asking how many blocks fit", error);
    if (!status && blocks < 1)
        status =
            gbees_error_set(error, GBEES_EBACKEND,
                            "the kernel %s needs more registers or shared memory than this GPU has: --backend cpu "
                            "runs without it",
                            kernel_table[k].name);
    e->warps[k] = (unsigned)warps;
    e->most_blocks[k] = (blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks) * e->multiprocessors;
    return status;
}

/* The number of blocks of a cluster; 0: the GPU has no clusters, as below compute capability 9.0. */
static int find_cluster(const gbees_engine *e)
{
    int supported = 0;

    if (e->api->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, e->device) || !supported)
        return 0;
    return ENGINE_CLUSTER_BLOCKS;
}

/* Allows a kernel clusters of more than PORTABLE_CLUSTER_BLOCKS blocks; returns 0 if the GPU can't have them. */
static int allow_cluster(const gbees_engine *e, int kernel)
{
    return e->api->cuFuncSetAttribute(e->kernel[kernel], CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) ==
           CUDA_SUCCESS;
}

/* Loads a program and finds its kernels. */
static int load(gbees_engine *e, int part, gbees_error *error)
{
    int status = program_load(e->api, &e->programs->part[part], error);

    for (int k = 0; k < KERNELS && !status; k++) {
        if (kernel_table[k].program != part)
            continue;
        status = find_kernel(e, k, error);
        if (!status && e->cluster > 0 && kernel_table[k].is_clustered && !allow_cluster(e, k))
            e->cluster = PORTABLE_CLUSTER_BLOCKS;
    }
    return status;
}

int engine_take_program(gbees_engine *e, int part, int waits, gbees_error *error)
{
    if (!e->programs->job[part])
        return 0;
    int status = program_set_take(e->programs, part, waits, error);
    return !status && e->programs->part[part].image ? load(e, part, error) : status;
}

int engine_load_kernels(gbees_engine *e, gbees_error *error)
{
    const cuda_api *api = e->api;
    int status = cuda_check(
        api, api->cuDeviceGetAttribute(&e->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, e->device),
        "asking for its multiprocessors", error);

    e->cluster = find_cluster(e);
    for (int p = 0; p < PROGRAMS && !status; p++)
        if (e->programs->part[p].image)
            status = load(e, p, error);
    return status;
}
