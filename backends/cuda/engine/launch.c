/* launch.c - starts a kernel on as many blocks as there is work for, and waits for it.
 *
 * Blocks meet several times a step.  A small grid's are one cluster, for which the hardware has a barrier of its own;
 * those of a larger one are all there at once (a cooperative launch), and meet over a counter.  Steps are launched in
 * a row with what comes between them, as far ahead as can be guessed: a kernel whose turn it is not does nothing.
 */
#include "engine.h"
#include <math.h>
#include <string.h>

/* Parameters of a kernel: all drivers take so many bytes. */
_Static_assert(sizeof(gbees_setup) + sizeof(gbees_state) + 2 * sizeof(uint64_t) <= 4096, "of gbees_small()");

/* A brick a warp, but no more blocks than can be there at once. */
static unsigned blocks_for(const gbees_engine *e, int kernel)
{
    uint64_t blocks = ((uint64_t)e->state->count + e->warps[kernel] - 1) / e->warps[kernel];
    uint64_t most = (uint64_t)e->most_blocks[kernel];

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* One whose blocks are a cluster, or any number of blocks that do not meet.  Those that follow each other are
 * launched before the one ahead has ended, for whose end they wait (device/platform.h, wait_for_launch()). */
static CUresult launch_early(const gbees_engine *e, int kernel, unsigned blocks, int clustered, void **arguments)
{
    CUlaunchConfig config;
    CUlaunchAttribute attributes[2];

    memset(&config, 0, sizeof config);
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[1].value.clusterDim.x = blocks;
    attributes[1].value.clusterDim.y = attributes[1].value.clusterDim.z = 1;
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = ENGINE_WARP_SIZE * e->warps[kernel];
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = e->stream;
    config.attrs = attributes;
    config.numAttrs = clustered ? 2 : 1;
    return e->api->cuLaunchKernelEx(&config, e->kernel[kernel], arguments, NULL);
}

static int is_clustered(const gbees_engine *e)
{
    return e->cluster > 0 && e->state->count <= ENGINE_CLUSTER_BRICKS;
}

/* Of a cluster's grids those that its own kernel for steps takes on. */
static int is_small(const gbees_engine *e)
{
    return is_clustered(e) && e->kernel[KERNEL_SMALL] && !e->capacity_exceeded && e->state->linked == e->state->count;
}

/* Blocks that need not meet, any number of them. */
static CUresult launch_free(const gbees_engine *e, int kernel, unsigned blocks, void **arguments)
{
    if (e->cluster > 0) /* the GPU is one that knows both */
        return launch_early(e, kernel, blocks, 0, arguments);
    return e->api->cuLaunchKernel(e->kernel[kernel], blocks, 1, 1, ENGINE_WARP_SIZE * e->warps[kernel], 1, 1, 0,
                                  e->stream, arguments, NULL);
}

static CUresult launch(gbees_engine *e, int kernel, void **arguments)
{
    gbees_setup *m = &e->setup;
    const int steps =
        kernel == KERNEL_ADVANCE || kernel == KERNEL_SMALL || kernel == KERNEL_ADVECT_ALL || kernel == KERNEL_PRUNE;

    m->threshold = e->budget.threshold;
    m->clustered = steps && is_clustered(e);
    m->barrier = kernel == KERNEL_PRUNE ? 1 : kernel == KERNEL_ADVECT_ALL ? 2 : 0;
    m->brick_limit =
        m->clustered && e->brick_limit > 2 * ENGINE_CLUSTER_BRICKS ? 2 * ENGINE_CLUSTER_BRICKS : e->brick_limit;
    if (m->clustered)
        return launch_early(e, kernel, (unsigned)e->cluster, 1, arguments);
    return e->api->cuLaunchCooperativeKernel(e->kernel[kernel], blocks_for(e, kernel), 1, 1,
                                             ENGINE_WARP_SIZE * e->warps[kernel], 1, 1, 0, e->stream, arguments);
}

/* The state to the GPU; after the launches, the state back when all is done. */
static int send_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    memset(e->state->barrier, 0, sizeof e->state->barrier);
    return cuda_check(e->api, e->api->cuMemcpyHtoDAsync(e->device_state.at, e->found, sizeof *e->found, e->stream),
                      doing, error);
}

static int fetch_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    int status = cuda_check(
        e->api, e->api->cuMemcpyDtoHAsync(e->found, e->device_state.at, sizeof *e->found, e->stream), doing, error);

    return status ? status : cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), doing, error);
}

int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, const char *doing, gbees_error *error)
{
    void *all[8] = {&e->setup, &e->device_state.at};

    for (int i = 0; i < count; i++)
        all[2 + i] = arguments[i];
    int status = send_state(e, doing, error);
    if (!status)
        status = cuda_check(e->api, launch(e, kernel, all), doing, error);
    return status ? status : fetch_state(e, doing, error);
}

/* Steps, or the prune that they have stopped for. */
static CUresult launch_until(gbees_engine *e, int kernel, uint64_t target)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &target};

    return launch(e, kernel, arguments);
}

int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error)
{
    static const struct {
        int kernel;
        const char *doing;
    } passes[] = {{KERNEL_FIND_BEST, "comparing with a measurement"},
                  {KERNEL_MULTIPLY, "updating with a measurement"},
                  {KERNEL_SCALE, "normalising the density"}};
    static const char pruning[] = "pruning after a measurement";
    enum { PASSES = sizeof passes / sizeof *passes };
    void *with_params[] = {&e->setup, params, &e->device_state.at}, *without[] = {&e->setup, &e->device_state.at};
    int status = send_state(e, passes[0].doing, error);

    for (int k = 0; k < PASSES && !status; k++) {
        const int kernel = passes[k].kernel;

        status = cuda_check(
            e->api, launch_free(e, kernel, blocks_for(e, kernel), kernel == KERNEL_SCALE ? without : with_params),
            passes[k].doing, error);
    }
    if (!status)
        status = cuda_check(e->api, launch_until(e, KERNEL_PRUNE, 0), pruning, error);
    return status ? status : fetch_state(e, pruning, error);
}

/* Its blocks need not meet: more of them than can be there at once, so that none waits for the slowest; or, where
 * warps take what is next or all have as much to do, as many as can be there. */
static CUresult launch_apart(gbees_engine *e, int kernel, int pass)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &pass};
    const uint64_t shares = (e->state->count + (uint64_t)ENGINE_BLOCK_BRICKS - 1) / ENGINE_BLOCK_BRICKS;
    const int resident = kernel == KERNEL_MARK || e->setup.sweeps;
    const uint64_t blocks = resident ? (uint64_t)e->most_blocks[kernel] : shares;

    return launch_free(e, kernel, (unsigned)blocks, arguments);
}

/* A step's passes, and what comes after them: each does nothing if the one before did not leave it anything. */
static CUresult launch_passes(gbees_engine *e)
{
    const int passes = e->setup.sweeps ? e->setup.shape.n : e->row_arrays - 1; /* ADVECT_PASSES of the kernels */
    CUresult result = CUDA_SUCCESS;

    for (int pass = 0; pass < passes && result == CUDA_SUCCESS; pass++)
        result = launch_apart(e, KERNEL_ADVECT, pass);
    return result == CUDA_SUCCESS ? launch_apart(e, KERNEL_MARK, 0) : result;
}

static CUresult launch_advection(gbees_engine *e, uint64_t target, int is_pruned)
{
    void *arguments[] = {&e->setup, &e->device_state.at};
    CUresult result = e->setup.advect_apart ? launch_passes(e) : launch(e, KERNEL_ADVECT_ALL, arguments);

    if (result == CUDA_SUCCESS)
        result = launch_until(e, KERNEL_ADVANCE, target);
    if (result == CUDA_SUCCESS && is_pruned)
        result = launch_until(e, KERNEL_PRUNE, target);
    return result == CUDA_SUCCESS && is_pruned ? launch_until(e, KERNEL_ADVANCE, target) : result;
}

/* Steps whose density is moved by a kernel of its own; the last kernel of each begins the next one. */
static CUresult launch_advected_steps(gbees_engine *e, uint64_t target)
{
    const gbees_state *s = e->state;
    const uint64_t wanted = target - s->run.steps, interval = e->setup.prune_interval;
    CUresult result = s->stop == STOP_AGAIN ? launch_until(e, KERNEL_ADVANCE, target) : CUDA_SUCCESS;

    for (uint64_t k = 0; k < ENGINE_STEPS_AHEAD && k < wanted && result == CUDA_SUCCESS; k++)
        result = launch_advection(e, target, (s->run.clock.phase + k + 1) % interval == 0);
    return result;
}

/* How often steps and a prune are likely to alternate.  One time too many takes some microseconds, one too few has
 * the host wait and begin again. */
static uint64_t rounds_ahead(const gbees_engine *e, uint64_t target)
{
    const gbees_state *s = e->state;
    const double rest = e->pace > 0 ? ceil((s->run.clock.length - s->run.clock.elapsed) / e->pace) : 1;
    const double steps = fmin(rest, (double)(target - s->run.steps));
    const double rounds = 1 + floor((s->run.clock.phase + steps) / e->setup.prune_interval);

    return e->setup.stop_at_prunes ? 1 : rounds < ENGINE_PRUNES_AHEAD ? (uint64_t)rounds : ENGINE_PRUNES_AHEAD;
}

/* Steps of a small grid: as many as there are between two prunes, and the prune. */
static CUresult launch_rounds(gbees_engine *e, uint64_t target)
{
    CUresult result = CUDA_SUCCESS;

    for (uint64_t k = rounds_ahead(e, target); k > 0 && result == CUDA_SUCCESS; k--) {
        result = launch_until(e, KERNEL_ADVANCE, target);
        if (result == CUDA_SUCCESS)
            result = launch_until(e, KERNEL_PRUNE, target);
    }
    return result;
}

static int run_launches(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error)
{
    int status = send_state(e, doing, error);

    if (!status)
        status = cuda_check(e->api,
                            e->setup.advect_apart || e->advects_all ? launch_advected_steps(e, target)
                                                                    : launch_rounds(e, target),
                            doing, error);
    return status ? status : fetch_state(e, doing, error);
}

/* Until gbees_small() has written what it leaves: that is some time before the driver knows that it has ended. What
 * follows in the stream waits for its end; what does not is not done but behind a stop. */
static int wait_for_small(gbees_engine *e, uint32_t ended, const char *doing, gbees_error *error)
{
    const gbees_state *s = e->state;
    CUresult result = CUDA_ERROR_NOT_READY;

    while (result == CUDA_ERROR_NOT_READY && __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) != ended) {
        for (int k = 0; k < 1000 && __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) != ended; k++)
            continue;
        result = e->api->cuStreamQuery(e->stream);
    }
    if (result == CUDA_ERROR_NOT_READY && s->stop == STOP_DONE)
        return 0;
    return cuda_check(e->api, e->api->cuStreamSynchronize(e->stream), doing, error);
}

/* A cluster's own kernel prunes by itself, so that one launch does all; now and then the host looks whether the grid
 * is still small.  The state goes there as a parameter, and what is left of it is written into the host's copy. */
static int run_small(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error)
{
    const gbees_state *s = e->state;
    const uint64_t most = (uint64_t)ENGINE_PRUNES_AHEAD * e->setup.prune_interval;
    uint64_t until = target - s->run.steps < most ? target : s->run.steps + most;
    void *arguments[] = {&e->setup, e->state, &until, &e->state};
    const uint32_t ended = s->ended + 1;
    int status = cuda_check(e->api, launch(e, KERNEL_SMALL, arguments), doing, error);

    return status ? status : wait_for_small(e, ended, doing, error);
}

/* Kernels that were not there yet when the first step was: a large grid has to wait for its own, a small one takes
 * the common ones meanwhile, whose bits are the same. */
static int take_kernels(gbees_engine *e, gbees_error *error)
{
    if (!e->setup.advect_apart)
        return is_clustered(e) ? engine_take_program(e, PROGRAM_SMALL, 0, error) : 0;
    int status = engine_take_program(e, PROGRAM_ADVECT, 1, error);
    return status ? status : engine_take_program(e, PROGRAM_MARKS, 1, error);
}

int engine_launch_steps(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error)
{
    gbees_state *s = e->state;
    int status;

    s->stop = STOP_AGAIN;
    e->setup.advect_apart = e->large > 0 && s->count >= e->large;
    do {
        const double elapsed = s->run.clock.elapsed;
        const uint64_t steps = s->run.steps;

        status = take_kernels(e, error);
        if (!status)
            status = is_small(e) ? run_small(e, target, doing, error) : run_launches(e, target, doing, error);
        if (s->run.steps > steps)
            e->pace = (s->run.clock.elapsed - elapsed) / (double)(s->run.steps - steps);
    } while (!status && (s->stop == STOP_ADVECT || s->stop == STOP_AGAIN));
    e->setup.advect_apart = 0;
    e->capacity_exceeded = s->stop == STOP_CAPACITY && s->count <= ENGINE_CLUSTER_BRICKS;
    return status;
}
