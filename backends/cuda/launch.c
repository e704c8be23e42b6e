/* launch.c - starts a kernel on as many blocks as there is work for, and waits for it. */
#include "engine.h"

/* A block for each eight bricks, as many as can be there at once at most. */
static unsigned blocks_for(const gbees_engine *e, int kernel)
{
    uint64_t blocks = (e->state->count + (uint64_t)ENGINE_BLOCK_TEAMS - 1) / ENGINE_BLOCK_TEAMS;
    uint64_t most = (uint64_t)e->most_blocks[kernel];

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
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
    e->setup.threshold = e->problem->mass_budget > 0 ? e->steered : e->problem->threshold;
    int status = cuda_check(api, api->cuMemcpyHtoDAsync(state, e->state, sizeof *e->state, e->stream), doing, error);
    if (!status)
        status = cuda_check(api,
                            api->cuLaunchCooperativeKernel(e->kernel[kernel], blocks_for(e, kernel), 1, 1,
                                                           ENGINE_BLOCK_THREADS, 1, 1, 0, e->stream, all),
                            doing, error);
    if (!status)
        status = cuda_check(api, api->cuMemcpyDtoHAsync(e->state, state, sizeof *e->state, e->stream), doing, error);
    if (!status)
        status = cuda_check(api, api->cuStreamSynchronize(e->stream), doing, error);
    return status;
}
