/* launch.c - starts a kernel on as many blocks as there is work for, and waits for it.
 *
 * Blocks meet several times a step.  A small grid's are one cluster, for which the hardware has a barrier of its own;
 * those of a larger one are all there at once (a cooperative launch), and meet over a counter.
 */
#include "engine.h"
#include <string.h>

/* A brick a team, but no more blocks than can be there at once. */
static unsigned blocks_for(const gbees_engine *e, int kernel)
{
    uint64_t blocks = ((uint64_t)e->state->count + e->teams[kernel] - 1) / e->teams[kernel];
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
    config.blockDimX = ENGINE_TEAM * e->teams[kernel];
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
    return e->api->cuLaunchCooperativeKernel(e->kernel[kernel], blocks_for(e, kernel), 1, 1,
                                             ENGINE_TEAM * e->teams[kernel], 1, 1, 0, e->stream, arguments);
}

/* The state to the GPU; after the launches, the state back when all is done. */
static int send_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    e->state->barrier = 0;
    e->setup.threshold = e->budget.threshold;
    return cuda_check(e->api, e->api->cuMemcpyHtoDAsync(e->device_state.at, e->state, sizeof *e->state, e->stream),
                      doing, error);
}

static int fetch_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    int status = cuda_check(
        e->api, e->api->cuMemcpyDtoHAsync(e->state, e->device_state.at, sizeof *e->state, e->stream), doing, error);

    return status ? status : cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), doing, error);
}

int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, const char *doing, gbees_error *error)
{
    void *all[8] = {&e->setup};
    int at = 1, first_gain = kernel == KERNEL_FIND_BEST || kernel == KERNEL_MULTIPLY;

    if (first_gain)
        all[at++] = arguments[0];
    all[at++] = &e->device_state.at;
    for (int i = first_gain; i < count; i++)
        all[at++] = arguments[i];
    int status = send_state(e, doing, error);
    if (!status)
        status = cuda_check(e->api, launch(e, kernel, all), doing, error);
    return status ? status : fetch_state(e, doing, error);
}

/* Its blocks need not meet: more of them than can be there at once, so that none waits for the slowest. */
static CUresult launch_apart(gbees_engine *e, int kernel, int pass)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &pass};
    const uint64_t blocks = (e->state->count + (uint64_t)ENGINE_SHARE_BRICKS - 1) / ENGINE_SHARE_BRICKS;

    return e->api->cuLaunchKernel(e->kernel[kernel], (unsigned)blocks, 1, 1, ENGINE_TEAM * e->teams[kernel], 1, 1, 0,
                                  e->stream, arguments, NULL);
}

/* A step's passes, and what comes after them: each does nothing if the one before did not leave it anything. */
static CUresult launch_moves(gbees_engine *e, uint64_t target)
{
    const int passes = e->setup.sweeps ? e->setup.shape.n : e->row_arrays - 1; /* MOVES of the kernels */
    void *advance[] = {&e->setup, &e->device_state.at, &target};
    CUresult result = CUDA_SUCCESS;

    for (int pass = 0; pass < passes && result == CUDA_SUCCESS; pass++)
        result = launch_apart(e, KERNEL_MOVE, pass);
    if (result == CUDA_SUCCESS)
        result = launch_apart(e, KERNEL_MARK, 0);
    return result == CUDA_SUCCESS ? launch(e, KERNEL_ADVANCE, advance) : result;
}

int engine_launch_steps(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &target};
    gbees_state *s = e->state;
    int status = 0;

    e->setup.apart = e->large > 0 && s->count >= e->large;
    s->stop = STOP_AGAIN;
    do {
        const uint64_t wanted = target - s->steps;
        const int again = s->stop == STOP_AGAIN;

        status = send_state(e, doing, error);
        if (!status && again)
            status = cuda_check(e->api, launch(e, KERNEL_ADVANCE, arguments), doing, error);
        for (uint64_t k = 0; e->setup.apart && k < ENGINE_STEPS_AHEAD && k < wanted && !status; k++)
            status = cuda_check(e->api, launch_moves(e, target), doing, error);
        if (!status)
            status = fetch_state(e, doing, error);
    } while (!status && s->stop == STOP_MOVE);
    e->setup.apart = 0;
    return status;
}
