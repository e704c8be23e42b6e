/* backend.c - the descriptor that the CUDA module exports, and those of its functions that open a GPU. */
#include "common/initial_grid.h"
#include "cuda/compile/offline.h"
#include "cuda/compile/spec.h"
#include "cuda/compile/toolchain.h"
#include "cuda/driver/arch.h"
#include "engine.h"
#include "integrator.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* What an engine or an integrator uses and does not own: the libraries, the compiled programs, the GPU. */
typedef struct session {
    cuda_api api;
    program_set kernels;
    CUdevice device;
    CUcontext context; /* retained by the session, too: see open_context() */
} session;

/* Closes a session, or NULL. */
static void close_session(session *s)
{
    if (!s)
        return;
    program_set_destroy(&s->api, &s->kernels);
    if (s->context)
        (void)s->api.cuDevicePrimaryCtxRelease(s->device);
    cuda_api_close(&s->api);
    free(s);
}

/* A thread's function: opens the GPU's context, which takes longer than anything else before the first step, while
 * kernels are looked up.  If it fails, it fails again when the engine opens the GPU, which reports it. */
static void *open_context(void *session_to_open)
{
    session *s = session_to_open;

    if (s->api.cuDevicePrimaryCtxRetain(&s->context, s->device))
        s->context = NULL;
    return NULL;
}

/* The set of programs (bit k: program k) that the first steps can do without: those for large grids, unless the
 * initial grid is large. */
static unsigned left_for_later(const gbees_problem *problem)
{
    gbees_shape shape;
    unsigned later = 1u << PROGRAM_REMAP;

    gbees_shape_set(&shape, problem->dimension, 64);
    if (initial_grid_estimate(problem, &shape) < ENGINE_LARGE_BRICKS)
        later |= 1u << PROGRAM_ADVECT | 1u << PROGRAM_MARKS;
    return later;
}

/* Makes all programs of a problem, and opens the GPU meanwhile. `shared`: for a grid that several GPUs may share. */
static int build(session *s, const gbees_problem *problem, int exact, int shared, gbees_error *error)
{
    pthread_t opener;
    char arch[16];
    int status = cuda_device_arch(&s->api, s->device, arch, error);

    if (status)
        return status;
    const int opening = pthread_create(&opener, NULL, open_context, s) == 0;
    const program_order order = {
        .problem = problem, .arch = arch, .exact = exact, .shared = shared, .later = left_for_later(problem)};
    status = program_set_build(&s->api, &order, &s->kernels, error);
    if (opening)
        (void)pthread_join(opener, NULL);
    return status;
}

/* Opens a session for a problem: the libraries, the GPU, and all programs. */
static int open_session(const gbees_problem *problem, const gbees_engine_options *options, session **out,
                        gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    const int shared = parallel && !cuda_ranks_are_alone(problem);
    session *s = calloc(1, sizeof *s);

    if (!s)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to set up the CUDA backend");
    int status = toolchain_open(&s->api, 1, error);
    if (!status)
        status = cuda_ranks_choose_device(&s->api, shared ? options : NULL, &s->device, error);
    if (!status)
        status = build(s, problem, options && options->deterministic, shared, error);
    if (status)
        close_session(s);
    else
        *out = s;
    return status;
}

/* All ranks: makes the engine of this rank, or of one process, with the initial density, or in the state of a source.
 * The status is the same on all ranks. */
static int make(const gbees_problem *problem, const gbees_engine_options *options, const engine_source *source,
                gbees_engine **engine, gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    const int is_left_out = parallel && parallel->rank > 0 && cuda_ranks_are_alone(problem); /* it opens no GPU */
    session *s = NULL;
    int status = is_left_out ? 0 : open_session(problem, options, &s, error);

    if (parallel)
        status = gbees_parallel_agree(parallel, status, error);
    if (!status && is_left_out)
        return gbees_parallel_agree(parallel, 0, error); /* as in cuda_engine_create() */
    if (!status) {
        const int connects = options && options->ranks_per_gpu <= 1; /* NCCL has a GPU a rank */

        status = cuda_engine_create(&(engine_place){&s->api, s->device, &s->kernels, connects}, problem, options,
                                    source, engine, error);
    }
    if (status)
        close_session(s);
    return status;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    return make(problem, options, NULL, engine, error);
}

static int load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error)
{
    return make(problem, options, &(engine_source){source, context}, engine, error);
}

static void destroy(gbees_engine *engine)
{
    session *s = engine ? (session *)(void *)(uintptr_t)engine->api : NULL;

    cuda_engine_destroy(engine);
    close_session(s);
}

/* The functions of each rank's engine. */
const gbees_backend shared_plain = {
    .create = create,
    .destroy = destroy,
    .restart = cuda_engine_restart,
    .advance = cuda_engine_advance,
    .update = cuda_engine_update,
    .statistics = cuda_engine_statistics,
    .cells = cuda_engine_cells,
    .save = cuda_engine_save,
    .load = load,
    .marginals = cuda_engine_marginals,
    .frame_set = cuda_engine_frame_set,
    .frame_fit = cuda_engine_frame_fit,
    .frame_information = cuda_engine_frame_information,
};

/* ---- between engines ---- */

/* Opens a session without an engine, which keeps the GPU's context open: the driver closes it with the last one that
 * has it, and opening it takes long. */
static int hold(gbees_hold **held, gbees_error *error)
{
    session *s = calloc(1, sizeof *s);

    if (!s)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to keep the GPU open");
    int status = toolchain_open(&s->api, 1, error);
    if (!status)
        status = cuda_check(&s->api, s->api.cuDeviceGet(&s->device, 0), "asking for a GPU", error);
    if (!status)
        status =
            cuda_check(&s->api, s->api.cuDevicePrimaryCtxRetain(&s->context, s->device), "opening the GPU", error);
    if (status)
        close_session(s);
    else
        *held = (gbees_hold *)(void *)s;
    return status;
}

static void release(gbees_hold *held)
{
    close_session((session *)(void *)held);
}

/* ---- samples ---- */

/* Finds the program that integrates samples in the cache, or begins to compile it in a thread. */
static int begin_integrator(session *s, const gbees_problem *problem, int which, gbees_error *error)
{
    program_spec spec;
    char arch[16];
    int status = cuda_device_arch(&s->api, s->device, arch, error);

    if (status)
        return status;
    cuda_spec_set(&spec, problem, arch, which, 1);
    status = program_find(&s->api, &spec, &s->kernels.part[which], error);
    if (status || s->kernels.part[which].image)
        return status;
    status = cuda_api_open_compiler(&s->api, error);
    return status ? status : program_set_begin(&s->kernels, which, &s->api, &spec, program_make, error);
}

static int integrator_create(const gbees_problem *problem, int with_tolerance, gbees_integrator **integrator,
                             gbees_error *error)
{
    session *s = calloc(1, sizeof *s);

    if (!s)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to integrate samples");
    int status = toolchain_open(&s->api, 1, error);
    if (!status)
        status = cuda_check(&s->api, s->api.cuDeviceGet(&s->device, 0), "asking for a GPU", error);
    if (!status)
        status = begin_integrator(s, problem, with_tolerance ? PROGRAM_FOLLOW : PROGRAM_INTEGRATE, error);
    if (!status)
        status = cuda_integrator_create(&s->api, s->device, &s->kernels, problem, integrator, error);
    if (status)
        close_session(s);
    return status;
}

static void integrator_destroy(gbees_integrator *integrator)
{
    session *s = integrator ? (session *)(void *)(uintptr_t)cuda_integrator_api(integrator) : NULL;

    cuda_integrator_destroy(integrator);
    close_session(s);
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "cuda",
    .title = "one NVIDIA GPU",
    .absorbs = 1,
    .probe = cuda_probe,
    .compile = cuda_compile_only,
    .estimate = cuda_engine_estimate,
    SHARED_FUNCTIONS,
    .restart = shared_restart,
    .totals = cuda_engine_totals,
    .rank_totals = cuda_engine_rank_totals,
    .capture = cuda_engine_capture,
    .capture_cells = cuda_engine_capture_cells,
    .capture_free = cuda_engine_capture_free,
    .marginals = shared_marginals,
    .hold = hold,
    .release = release,
    .remap = cuda_engine_remap,
    .integrator_create = integrator_create,
    .integrator_run = cuda_integrator_run,
    .integrator_destroy = integrator_destroy,
};
