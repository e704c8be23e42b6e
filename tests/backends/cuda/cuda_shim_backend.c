/* cuda_shim_backend.c - the CUDA backend on a GPU made of threads, as a module (cuda_shim.c says for what model).
 *
 * In the environment, read when an engine is created:
 *   SHIM_BLOCKS          blocks at once, at most (4)
 *   SHIM_CLUSTER         1: blocks of a small grid are one cluster, with a barrier of its own
 *   SHIM_MEMORY          bytes that there are (2^32)
 *   SHIM_VIRTUAL         1: memory is mapped into reserved addresses, as by a real driver; 0: arrays are copied
 *   SHIM_FAILING_LAUNCH  which launch fails
 *   SHIM_LATE            milliseconds after which the kernels are there that the first steps can do without; below 0:
 *                        ... after which they have failed to be made
 */
#ifndef GBEES_LIMITED
#define GBEES_LIMITED 0
#endif
#ifndef GBEES_ORDER
#define GBEES_ORDER 5
#endif
#ifndef GBEES_SMALL
#define GBEES_SMALL 0
#endif

#include "cuda/compile/spec.h"
#include "cuda/engine/engine.h"
#include "cuda_shim_driver.h"
#include <stdlib.h>
#include <time.h>

static int probe(char *text, size_t size)
{
    if (size)
        text[0] = '\0';
    return 0;
}

static double estimate(const gbees_problem *problem)
{
    (void)problem;
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

static int is_made_for(const gbees_problem *problem)
{
    const gbees_numerics *numerics = &problem->numerics;

    return problem->dimension == GBEES_N && (numerics->precision == GBEES_DOUBLE) == GBEES_REAL_IS_DOUBLE &&
           cuda_spec_is_drift_f64(problem) == GBEES_DRIFT_F64 &&
           gbees_scheme_is_split(numerics->scheme) == GBEES_SPLIT &&
           (numerics->scheme == GBEES_SCHEME_CTU_POSITIVE) == GBEES_LIMITED &&
           gbees_scheme_is_preserving(numerics->scheme) == GBEES_PRESERVING &&
           (!gbees_scheme_is_split(numerics->scheme) || gbees_scheme_order(numerics->scheme) == GBEES_ORDER) &&
           ((problem->model->flags & GBEES_TIME_DEPENDENT) != 0) == GBEES_DRIFT_TIME_DEPENDENT &&
           problem->bounded == GBEES_BOUNDED && problem->rotated == GBEES_ROTATED;
}

static void check_that_all_is_given_back(void)
{
    if (cuda_shim_taken() != 0)
        abort();
}

/* A kernel for small grids is in the text of those that are made for it. */
static int is_there(int which)
{
    return GBEES_SMALL || which != PROGRAM_SMALL;
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
    return setting("SHIM_LATE", 0) != 0 &&
           (which == PROGRAM_SMALL || which == PROGRAM_ADVECT || which == PROGRAM_MARKS);
}

static int add_program(const gbees_problem *problem, int which, gbees_error *error)
{
    static const program_spec none;

    programs.part[which] = (program){.shape = {10, 1, 0}}; /* bricks a block, of what are one warp's in truth */
    if (!is_there(which) || !program_is_wanted(problem, shim_cluster ? "sm_90" : "sm_80", which))
        return 0;
    if (is_late(which))
        return program_set_begin(&programs, which, &api, &none, make_late, error);
    programs.part[which].image = malloc(1);
    return 0;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    (void)options;
    if (!is_made_for(problem))
        return gbees_error_set(error, GBEES_EUSAGE, "%s is made for another dimension, precision or scheme",
                               SHIM_NAME);
    cuda_shim_open(&api);
    shim_failing_launch = (int)setting("SHIM_FAILING_LAUNCH", 0);
    shim_most_blocks = (int)setting("SHIM_BLOCKS", 4);
    shim_cluster = (int)setting("SHIM_CLUSTER", 0);
    shim_memory = (size_t)setting("SHIM_MEMORY", (size_t)1 << 32);
    shim_virtual = (int)setting("SHIM_VIRTUAL", 0);
    if (shim_most_blocks < 1 || shim_most_blocks > SHIM_MOST_BLOCKS)
        return gbees_error_set(error, GBEES_EUSAGE, "SHIM_BLOCKS: 1 to %d", SHIM_MOST_BLOCKS);
    int status = 0;
    for (int p = 0; p < PROGRAMS && !status; p++)
        status = add_program(problem, p, error);
    if (!status)
        status = cuda_engine_create(&api, 0, &programs, problem, engine, error);
    if (status)
        program_set_destroy(NULL, &programs);
    if (status)
        check_that_all_is_given_back();
    else if ((*engine)->large > 0)
        (*engine)->large = (uint32_t)setting("SHIM_LARGE", (*engine)->large);
    return status;
}

static void destroy(gbees_engine *engine)
{
    cuda_engine_destroy(engine);
    program_set_destroy(NULL, &programs);
    check_that_all_is_given_back();
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = SHIM_NAME,
    .title = "the CUDA backend on threads",
    .probe = probe,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .advance = cuda_engine_advance,
    .update = cuda_engine_update,
    .statistics = cuda_engine_statistics,
    .cells = cuda_engine_cells,
    .totals = cuda_engine_totals,
    .capture = cuda_engine_capture,
    .capture_cells = cuda_engine_capture_cells,
    .capture_free = cuda_engine_capture_free,
    .marginals = cuda_engine_marginals,
};
