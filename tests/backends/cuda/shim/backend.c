/* backend.c - the CUDA backend on a GPU made of threads, as a module of its own: --backend shim.  It computes the
 * problems for which kernels are compiled (variants/).
 *
 * In the environment, read when an engine is created:
 *   SHIM_BLOCKS          blocks at once, at most (4)
 *   SHIM_MODEL           whose kernels are taken for a model, if not its own
 *   SHIM_CLUSTER         1: blocks of a small grid are one cluster, with a barrier of its own
 *   SHIM_GPUS            that the machine has (64)
 *   SHIM_MEMORY          bytes that there are (2^32)
 *   SHIM_VIRTUAL         1: memory is mapped into reserved addresses, as by a real driver; 0: arrays are copied
 *   SHIM_FAILING_LAUNCH  which launch fails, counted from 1
 *   SHIM_FAILING_AFTER   a kernel, gbees_...: the count begins after its first launch
 *   SHIM_INTEGRATE       1: it integrates samples, while there is no engine
 *   SHIM_LATE            milliseconds after which the kernels are there that the first steps can do without; below 0:
 *                        ... after which they have failed to be made
 */
#include "cuda/compile/spec.h"
#include "cuda/engine/engine.h"
#include "cuda/engine/integrator.h"
#include "driver.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int probe(char *text, size_t size)
{
    if (size)
        text[0] = '\0';
    return 0;
}

/* What an engine borrows goes with the process. */
static cuda_api api;
static program_set programs;

static unsigned long long setting(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- variants ----------------------------------------------------------------------------------------------------
 */

/* All of variants/, unless a program is made of some only. */
#ifndef SHIM_VARIANTS
#define SHIM_VARIANTS(X)                                                                                             \
    X(advect_1d)                                                                                                     \
    X(advect_1d_ctu)                                                                                                 \
    X(advect_2d)                                                                                                     \
    X(advect_2d_mixed)                                                                                               \
    X(advect_2d_preserving)                                                                                          \
    X(advect_2d_seventh)                                                                                             \
    X(advect_2d_time)                                                                                                \
    X(advect_2d_upwind)                                                                                              \
    X(advect_2d_ctu)                                                                                                 \
    X(advect_2d_ctu_mixed)                                                                                           \
    X(advect_2d_ctu_time)                                                                                            \
    X(advect_3d)                                                                                                     \
    X(advect_3d_ctu)                                                                                                 \
    X(advect_4d)                                                                                                     \
    X(advect_4d_ctu)                                                                                                 \
    X(advect_4d_time)                                                                                                \
    X(duffing)                                                                                                       \
    X(duffing_ctu)                                                                                                   \
    X(duffing_rotated)                                                                                               \
    X(encounter)                                                                                                     \
    X(encounter_preserving)                                                                                          \
    X(exits_1d)                                                                                                      \
    X(exits_1d_double)                                                                                               \
    X(exits_2d)                                                                                                      \
    X(exits_4d)                                                                                                      \
    X(exits_wall)                                                                                                    \
    X(linear_1d)                                                                                                     \
    X(linear_8d)                                                                                                     \
    X(linear_4d)                                                                                                     \
    X(linear_8d_ctu)                                                                                                 \
    X(lorenz63)                                                                                                      \
    X(lorenz63_ctu)                                                                                                  \
    X(lorenz63_double)                                                                                               \
    X(lorenz63_moving)                                                                                               \
    X(lorenz96)                                                                                                      \
    X(lorenz96_ctu)                                                                                                  \
    X(nan_drift)                                                                                                     \
    X(noise)                                                                                                         \
    X(noise_4d)                                                                                                      \
    X(noise_bounded)                                                                                                 \
    X(noise_ctu)                                                                                                     \
    X(noise_moving)                                                                                                  \
    X(noise_rotated)                                                                                                 \
    X(pcr3bp)                                                                                                        \
    X(pcr3bp_rotated)                                                                                                \
    X(pcr3bp_seventh)                                                                                                \
    X(phase)                                                                                                         \
    X(walls_closed_1d)                                                                                               \
    X(walls_closed_2d)                                                                                               \
    X(walls_1d)                                                                                                      \
    X(walls_2d)
#endif

#define DECLARE(name) extern const shim_variant shim_variant_##name;
#define POINTER(name) &shim_variant_##name,

SHIM_VARIANTS(DECLARE)
static const shim_variant *const variants[] = {SHIM_VARIANTS(POINTER)};

static int is_made_for(const shim_variant *v, const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;
    const gbees_scheme scheme = numerics->scheme;
    const char *model = getenv("SHIM_MODEL");

    return strcmp(model ? model : problem->model->name, v->model) == 0 && problem->dimension == v->dimension &&
           (numerics->precision == GBEES_DOUBLE) == v->is_double && cuda_spec_is_drift_f64(problem) == v->drift_f64 &&
           gbees_scheme_is_split(scheme) == v->split && (!v->split || gbees_scheme_get(scheme)->order == v->order) &&
           gbees_scheme_get(scheme)->preserving == v->preserving &&
           (problem->model->flags & GBEES_TIME_DEPENDENT || problem->moving) == v->time_dependent &&
           gbees_problem_is_closed(problem) == v->closed && gbees_problem_absorbs(problem) == v->absorbs &&
           problem->bounded == v->bounded && problem->rotated == v->rotated && problem->moving == v->moving;
}

/* The kernels for a problem; NULL if there are none. */
static const shim_variant *choose(const gbees_problem *problem)
{
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
        if (is_made_for(variants[k], problem))
            return variants[k];
    return NULL;
}

/* ---- the engine --------------------------------------------------------------------------------------------------
 */

/* That there are: all of one variant, as the kernels' text is one. */
static int engines;

/* What the last engine leaves behind. */
static void close_last(void)
{
    if (engines > 0)
        return;
    program_set_destroy(NULL, &programs);
    if (cuda_shim_taken() != 0)
        abort();
}

/* What a compiler would take its time for. */
static int make_late(const cuda_api *of, const program_spec *spec, program *out, gbees_error *error)
{
    const long long late = (long long)setting("SHIM_LATE", 0), ms = late < 0 ? -late : late;

    (void)of, (void)spec;
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    if (late < 0)
        return gbees_error_set(error, GBEES_EMODEL, "mine.c:7: what the compiler says of it");
    *out = (program){.image = malloc(1), .shape = {10, 1, 0}};
    return 0;
}

static int is_late(int which)
{
    return setting("SHIM_LATE", 0) != 0 && (which == PROGRAM_ADVECT || which == PROGRAM_MARKS);
}

static int add_program(const gbees_problem *problem, int which, int shared, gbees_error *error)
{
    static const program_spec none;

    programs.part[which] = (program){.shape = {10, 1, 0}}; /* bricks a block, of what are one warp's in truth */
    if (!program_is_wanted(problem, which) && !(shared && program_is_shared(which)))
        return 0;
    if (is_late(which))
        return program_set_begin(&programs, which, &api, &none, make_late, error);
    programs.part[which].image = malloc(1);
    return 0;
}

static int make(const gbees_problem *problem, const engine_source *source, const gbees_engine_options *options,
                gbees_engine **engine, gbees_error *error)
{
    const gbees_parallel *parallel = options ? options->parallel : NULL;
    CUdevice device = 0;
    int status;

    if (parallel && parallel->rank > 0 && cuda_ranks_are_alone(problem))
        return gbees_parallel_agree(parallel, 0, error); /* as rank 0 does */
    shim_chosen = choose(problem);
    if (!shim_chosen || (parallel && !cuda_ranks_are_alone(problem) && !shim_chosen->shared))
        return gbees_error_set(
            error, GBEES_EUSAGE,
            "shim has no kernels of %s for this dimension, precision and scheme: tests/backends/cuda/shim",
            problem->model->name);
    cuda_shim_open(&api);
    shim_failing_launch = (int)setting("SHIM_FAILING_LAUNCH", 0);
    shim_failing_after = getenv("SHIM_FAILING_AFTER");
    shim_most_blocks = (int)setting("SHIM_BLOCKS", 4);
    shim_cluster = (int)setting("SHIM_CLUSTER", 0);
    shim_gpus = (int)setting("SHIM_GPUS", 64);
    shim_memory = (size_t)setting("SHIM_MEMORY", (size_t)1 << 32);
    shim_virtual = (int)setting("SHIM_VIRTUAL", 0);
    if (shim_most_blocks < 1 || shim_most_blocks > SHIM_MOST_BLOCKS)
        return gbees_error_set(error, GBEES_EUSAGE, "SHIM_BLOCKS: 1 to %d", SHIM_MOST_BLOCKS);
    status = cuda_ranks_choose_device(&api, options, &device, error);
    for (int p = 0; p < PROGRAMS && !status && engines == 0; p++)
        status = add_program(problem, p, parallel != NULL, error);
    if (!status)
        status =
            cuda_engine_create(&(engine_place){&api, device, &programs, 0}, problem, options, source, engine, error);
    engines += !status;
    if (status)
        close_last();
    else if ((*engine)->large > 0)
        (*engine)->large = (uint32_t)setting("SHIM_LARGE", (*engine)->large);
    return status;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    return make(problem, NULL, options, engine, error);
}

static int load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error)
{
    return make(problem, &(engine_source){source, context}, options, engine, error);
}

static void destroy(gbees_engine *engine)
{
    cuda_engine_destroy(engine);
    engines -= engine != NULL;
    close_last();
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

/* ---- samples ------------------------------------------------------------------------------------------------------
 */

static int integrator_create(const gbees_problem *problem, int with_tolerance, gbees_integrator **integrator,
                             gbees_error *error)
{
    const int part = with_tolerance ? PROGRAM_FOLLOW : PROGRAM_INTEGRATE;

    if (!setting("SHIM_INTEGRATE", 0))
        return gbees_error_set(error, GBEES_EUSAGE, "SHIM_INTEGRATE is not set");
    shim_chosen = choose(problem);
    if (!shim_chosen)
        return gbees_error_set(error, GBEES_EUSAGE, "shim has no kernels of %s", problem->model->name);
    cuda_shim_open(&api);
    shim_memory = (size_t)setting("SHIM_MEMORY", (size_t)1 << 32);
    programs.part[part] = (program){.image = malloc(1), .shape = {10, 1, 0}};
    return cuda_integrator_create(&api, 0, &programs, problem, integrator, error);
}

static void integrator_destroy(gbees_integrator *integrator)
{
    cuda_integrator_destroy(integrator);
    program_set_destroy(NULL, &programs);
    close_last();
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "shim",
    .title = "the CUDA backend on threads",
    .absorbs = 1,
    .probe = probe,
    .estimate = cuda_engine_estimate,
    SHARED_FUNCTIONS,
    .restart = shared_restart,
    .totals = cuda_engine_totals,
    .rank_totals = cuda_engine_rank_totals,
    .capture = cuda_engine_capture,
    .capture_cells = cuda_engine_capture_cells,
    .capture_free = cuda_engine_capture_free,
    .marginals = shared_marginals,
    .remap = cuda_engine_remap,
    .integrator_create = integrator_create,
    .integrator_run = cuda_integrator_run,
    .integrator_destroy = integrator_destroy,
};
