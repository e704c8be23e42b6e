/* launch.c - chooses the number of blocks, launches kernels one behind the other, and fetches the state that they
 * have left.
 *
 * Blocks wait for each other at barriers several times a step.  A small grid's blocks are one cluster, which has a
 * barrier in hardware; those of a larger grid are all resident at once (a cooperative launch) and count up a word in
 * memory.  The host launches several kernels without waiting between them, as far ahead as it can guess which are
 * due: one that is not due reads that in state->stop, and returns at once.
 */
#include "launch.h"
#include "engine.h"
#include "load.h"
#include "numerics/sweeps.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK_BRICKS = 320, /* bricks of a block of KERNEL_ADVECT with `ctu`, where all bricks take the same time */
    STEPS_AHEAD = 16,   /* steps that are launched before the host reads the state, if each is several launches */
    PRUNES_AHEAD = 32   /* launches up to a prune, if one launch takes all steps between prunes */
};

/* The parameters of a kernel have at most 4096 bytes, on every GPU. */
_Static_assert(sizeof(gbees_setup) + sizeof(gbees_update_params) + sizeof(uint64_t) <= 4096, "of gbees_find_best()");

/* ---- one kernel ---- */

/* The number of blocks: a warp for each brick, but no more blocks than are resident at once. */
static unsigned blocks_for(const gbees_engine *e, int kernel)
{
    uint64_t blocks = ((uint64_t)e->state->count + e->warps[kernel] - 1) / e->warps[kernel];
    uint64_t most = (uint64_t)e->most_blocks[kernel];

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* Launches a cluster of blocks, or blocks that have no grid barrier, before the kernel ahead in the stream has ended:
 * the kernel itself waits for that end (wait_for_launch() of device/platform.h). */
static CUresult launch_early(const gbees_engine *e, int kernel, unsigned blocks, int is_cluster, void **arguments)
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
    config.numAttrs = is_cluster ? 2 : 1;
    return e->api->cuLaunchKernelEx(&config, e->kernel[kernel], arguments, NULL);
}

/* Launches blocks that have no grid barrier. */
static CUresult launch_free(const gbees_engine *e, int kernel, unsigned blocks, void **arguments)
{
    if (e->cluster > 0) /* GPUs that have clusters can launch early, too */
        return launch_early(e, kernel, blocks, 0, arguments);
    return e->api->cuLaunchKernel(e->kernel[kernel], blocks, 1, 1, ENGINE_WARP_SIZE * e->warps[kernel], 1, 1, 0,
                                  e->stream, arguments, NULL);
}

/* Whether the grid is so small that its blocks are one cluster. */
static int is_clustered(const gbees_engine *e)
{
    return e->cluster > 0 && e->state->count <= ENGINE_CLUSTER_BRICKS;
}

/* Launches blocks that have grid barriers: as a cluster, or cooperatively. */
static CUresult launch(gbees_engine *e, int kernel, void **arguments)
{
    const uint32_t cluster_limit = 2 * ENGINE_CLUSTER_BRICKS;
    gbees_setup *m = &e->setup;

    m->threshold = e->budget.threshold;
    m->clustered = kernel_table[kernel].is_clustered && is_clustered(e);
    m->barrier = kernel_table[kernel].barrier;
    m->brick_limit = m->clustered && e->brick_limit > cluster_limit ? cluster_limit : e->brick_limit;
    if (m->clustered)
        return launch_early(e, kernel, (unsigned)e->cluster, 1, arguments);
    return e->api->cuLaunchCooperativeKernel(e->kernel[kernel], blocks_for(e, kernel), 1, 1,
                                             ENGINE_WARP_SIZE * e->warps[kernel], 1, 1, 0, e->stream, arguments);
}

/* Launches a kernel of steps, or the prune that these stop for: both have the parameter `target`, the number of the
 * step at which they end. */
static CUresult launch_until(gbees_engine *e, int kernel, uint64_t target)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &target};

    return launch(e, kernel, arguments);
}

/* ---- the state ---- */

int engine_send_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    memset(e->state->barrier, 0, sizeof e->state->barrier);
    return cuda_check(e->api, e->api->cuMemcpyHtoDAsync(e->device_state.at, e->found, sizeof *e->found, e->stream),
                      doing, error);
}

int engine_fetch_state(gbees_engine *e, const char *doing, gbees_error *error)
{
    return device_fetch(&e->memory, e->found, e->device_state.at, sizeof *e->found, doing, error);
}

int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, gbees_error *error)
{
    const char *doing = kernel_table[kernel].doing;
    void *all[8] = {&e->setup, &e->device_state.at};

    for (int i = 0; i < count; i++)
        all[2 + i] = arguments[i];
    int status = engine_send_state(e, doing, error);
    if (!status)
        status = cuda_check(e->api, launch(e, kernel, all), doing, error);
    return status ? status : engine_fetch_state(e, doing, error);
}

int engine_start(gbees_engine *e, int kernel, void **arguments, gbees_error *error)
{
    return cuda_check(e->api, launch_free(e, kernel, (unsigned)e->most_blocks[kernel], arguments),
                      kernel_table[kernel].doing, error);
}

int engine_launch_prune(gbees_engine *e, gbees_error *error)
{
    const char *doing = kernel_table[KERNEL_PRUNE].doing;
    int status = engine_send_state(e, doing, error);

    if (!status)
        status = cuda_check(e->api, launch_until(e, KERNEL_PRUNE, 0), doing, error);
    return status ? status : engine_fetch_state(e, doing, error);
}

/* ---- an update ---- */

int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error)
{
    void *with_params[] = {&e->setup, params, &e->device_state.at}, *without[] = {&e->setup, &e->device_state.at};
    const struct {
        int kernel;
        void **arguments;
    } passes[] = {{KERNEL_FIND_BEST, with_params}, {KERNEL_MULTIPLY, with_params}, {KERNEL_SCALE, without}};
    static const char pruning[] = "pruning after a measurement";
    int status = engine_send_state(e, kernel_table[KERNEL_FIND_BEST].doing, error);

    for (size_t k = 0; k < sizeof passes / sizeof *passes && !status; k++) {
        const int kernel = passes[k].kernel;

        status = cuda_check(e->api, launch_free(e, kernel, blocks_for(e, kernel), passes[k].arguments),
                            kernel_table[kernel].doing, error);
    }
    if (!status)
        status = cuda_check(e->api, launch_until(e, KERNEL_PRUNE, 0), pruning, error);
    return status ? status : engine_fetch_state(e, pruning, error);
}

/* ---- steps whose passes are launches of their own ---- */

/* Launches one pass of a step, or the marks after the last.  There are as many blocks as are resident at once where
 * warps take their work from a queue (sweeps) or go through all bricks in strides (marks); with `ctu` there are more,
 * so that blocks which end early are replaced. */
static CUresult launch_pass(gbees_engine *e, int kernel, int pass)
{
    void *arguments[] = {&e->setup, &e->device_state.at, &pass};
    const uint64_t parts = (e->state->count + (uint64_t)BLOCK_BRICKS - 1) / BLOCK_BRICKS;
    const int resident = kernel == KERNEL_MARK || e->setup.sweeps;
    const uint64_t blocks = resident ? (uint64_t)e->most_blocks[kernel] : parts;

    return launch_free(e, kernel, (unsigned)blocks, arguments);
}

int engine_launch_pass(gbees_engine *e, int kernel, int pass, gbees_error *error)
{
    return cuda_check(e->api, launch_pass(e, kernel, pass), kernel_table[kernel].doing, error);
}

int engine_planned_passes(const gbees_engine *e)
{
    return gbees_problem_noise_in_sweeps(e->problem) ? gbees_sweep_passes(e->problem->dimension, e->state->plan.parts)
                                                     : e->passes;
}

/* Launches so many passes of a large grid's step, and the marks after them. */
static CUresult launch_passes(gbees_engine *e, int passes)
{
    CUresult result = CUDA_SUCCESS;

    for (int pass = 0; pass < passes && result == CUDA_SUCCESS; pass++)
        result = launch_pass(e, KERNEL_ADVECT, pass);
    return result == CUDA_SUCCESS ? launch_pass(e, KERNEL_MARK, 0) : result;
}

/* Launches the advection of a step, of a large grid in so many passes, then KERNEL_ADVANCE, which ends the step and
 * begins the next one; with a prune between the two if `is_pruned` is set. */
static CUresult launch_advection(gbees_engine *e, uint64_t target, int passes, int is_pruned)
{
    void *arguments[] = {&e->setup, &e->device_state.at};
    CUresult result = e->setup.advect_apart ? launch_passes(e, passes) : launch(e, KERNEL_ADVECT_ALL, arguments);

    if (result == CUDA_SUCCESS)
        result = launch_until(e, KERNEL_ADVANCE, target);
    if (result == CUDA_SUCCESS && is_pruned)
        result = launch_until(e, KERNEL_PRUNE, target);
    return result == CUDA_SUCCESS && is_pruned ? launch_until(e, KERNEL_ADVANCE, target) : result;
}

/* Launches up to STEPS_AHEAD steps whose advection is launches of its own, with the prunes that are due between them;
 * the first step, if it is planned already, in so many passes. */
static CUresult launch_advected_steps(gbees_engine *e, uint64_t target, int passes)
{
    const gbees_state *s = e->state;
    const uint64_t wanted = target - s->run.steps, interval = e->setup.prune_interval;
    CUresult result = s->stop == STOP_AGAIN ? launch_until(e, KERNEL_ADVANCE, target) : CUDA_SUCCESS;

    for (uint64_t k = 0; k < STEPS_AHEAD && k < wanted && result == CUDA_SUCCESS; k++)
        result =
            launch_advection(e, target, k == 0 ? passes : e->passes, (s->run.clock.phase + k + 1) % interval == 0);
    return result;
}

/* ---- steps that one kernel takes, up to the next prune ---- */

/* Guesses how many prunes are due up to `target` or the end of the interval, plus 1.  A launch too many takes some
 * microseconds; after too few the host waits and launches again. */
static uint64_t rounds_ahead(const gbees_engine *e, uint64_t target)
{
    const gbees_state *s = e->state;
    const double rest = e->mean_step > 0 ? ceil((s->run.clock.length - s->run.clock.elapsed) / e->mean_step) : 1;
    const double steps = fmin(rest, (double)(target - s->run.steps));
    const double rounds = 1 + floor((s->run.clock.phase + steps) / e->setup.prune_interval);

    return e->setup.stop_at_prunes ? 1 : rounds < PRUNES_AHEAD ? (uint64_t)rounds : PRUNES_AHEAD;
}

/* Launches steps up to the next prune, and the prune, as often as that is likely to be due. */
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

/* Sends the state, launches steps, waits for them, and fetches the state. */
static int run_launches(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error)
{
    const int is_advected = e->setup.advect_apart || e->advects_all;
    gbees_state *s = e->state;
    const int passes = s->stop == STOP_REPEATED ? engine_planned_passes(e) : e->passes;

    if (s->stop == STOP_REPEATED)
        s->stop = STOP_ADVECT;
    int status = engine_send_state(e, doing, error);

    if (!status)
        status = cuda_check(e->api, is_advected ? launch_advected_steps(e, target, passes) : launch_rounds(e, target),
                            doing, error);
    return status ? status : engine_fetch_state(e, doing, error);
}

/* ---- steps ---- */

int engine_take_large_kernels(gbees_engine *e, gbees_error *error)
{
    int status = engine_take_program(e, PROGRAM_ADVECT, 1, error);

    return status ? status : engine_take_program(e, PROGRAM_MARKS, 1, error);
}

/* Whether the grid has become large enough for ranks to share it, and has no unlinked bricks. */
static int is_to_be_shared(const gbees_engine *e)
{
    return e->state->count >= e->split_from && e->state->count == e->state->linked;
}

int engine_launch_steps(gbees_engine *e, uint64_t target, gbees_error *error)
{
    gbees_state *s = e->state;
    char doing[64];
    int status;

    (void)snprintf(doing, sizeof doing, "advancing from t = %.6g", s->run.clock.time);
    s->stop = STOP_AGAIN;
    e->setup.advect_apart = e->large > 0 && s->count >= e->large;
    do {
        const double elapsed = s->run.clock.elapsed;
        const uint64_t steps = s->run.steps;

        status = e->setup.advect_apart ? engine_take_large_kernels(e, error) : 0;
        if (!status)
            status = run_launches(e, target, doing, error);
        if (s->run.steps > steps)
            e->mean_step = (s->run.clock.elapsed - elapsed) / (double)(s->run.steps - steps);
    } while (!status && (s->stop == STOP_ADVECT || s->stop == STOP_REPEATED || s->stop == STOP_AGAIN) &&
             !is_to_be_shared(e));
    e->setup.advect_apart = 0;
    return status;
}
