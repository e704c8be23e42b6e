/* launch.c - starts a kernel on as many blocks as there is work for, and waits for it.
 *
 * Blocks meet several times a step.  A small grid's are one cluster, for which the hardware has a barrier of its own;
 * those of a larger one are all there at once (a cooperative launch), and meet over a counter.
 */
#include "engine.h"
#include <string.h>

/* A block for each eight bricks, as many as can be there at once at most. */
static unsigned blocks_for(const gbees_engine *e, int kernel)
{
    uint64_t blocks = (e->state->count + (uint64_t)ENGINE_BLOCK_TEAMS - 1) / ENGINE_BLOCK_TEAMS;
    uint64_t most = (uint64_t)e->most_blocks[kernel];

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

static CUresult launch_cluster(const gbees_engine *e, int kernel, void **arguments)
{
    CUlaunchConfig config;
    CUlaunchAttribute attribute;

    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = (unsigned)e->cluster;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.gridDimX = (unsigned)e->cluster;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = ENGINE_BLOCK_THREADS;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = e->stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return e->api->cuLaunchKernelEx(&config, e->kernel[kernel], arguments, NULL);
}

static CUresult launch(gbees_engine *e, int kernel, void **arguments)
{
    gbees_setup *m = &e->setup;

    m->clustered = kernel == KERNEL_ADVANCE && e->cluster > 0 && e->state->count <= ENGINE_CLUSTER_BRICKS;
    m->room = m->clustered && e->room > 2 * ENGINE_CLUSTER_BRICKS ? 2 * ENGINE_CLUSTER_BRICKS : e->room;
    if (m->clustered)
        return launch_cluster(e, kernel, arguments);
    return e->api->cuLaunchCooperativeKernel(e->kernel[kernel], blocks_for(e, kernel), 1, 1, ENGINE_BLOCK_THREADS, 1,
                                             1, 0, e->stream, arguments);
}

int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, const char *doing, gbees_error *error)
{
    const cuda_api *api = e->api;
    CUdeviceptr state = e->device_state.at;
    void *all[8] = {&e->setup};
    int at = 1, first_gain = kernel == KERNEL_FIND_BEST || kernel == KERNEL_MULTIPLY;

    if (first_gain)
        all[at++] = arguments[0];
    all[at++] = &state;
    for (int i = first_gain; i < count; i++)
        all[at++] = arguments[i];
    e->state->barrier = 0;
    e->setup.threshold = e->budget.threshold;
    int status = cuda_check(api, api->cuMemcpyHtoDAsync(state, e->state, sizeof *e->state, e->stream), doing, error);
    if (!status)
        status = cuda_check(api, launch(e, kernel, all), doing, error);
    if (!status)
        status = cuda_check(api, api->cuMemcpyDtoHAsync(e->state, state, sizeof *e->state, e->stream), doing, error);
    if (!status)
        status = cuda_check(api, api->cuStreamSynchronize(e->stream), doing, error);
    return status;
}
