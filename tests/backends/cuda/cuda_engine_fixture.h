/* cuda_engine_fixture.h - for the tests of the CUDA engine: some runs, and an engine by itself. */
#ifndef GBEES_TESTS_CUDA_ENGINE_FIXTURE_H
#define GBEES_TESTS_CUDA_ENGINE_FIXTURE_H

#include "fixtures/kept_run.h"

/* ---- some runs, and an engine by itself ----------------------------------------------------------------------- */

static const a_case measured = {
    "lorenz63",
    "shim",
    {"records=1", "end=0.5", "measurements=[{time: 0.25, function: z, value: [-2], covariance: [1]}]"}};
static const a_case moving = {"duffing", "shim", {"records=1", "end=1"}};
static const a_case corners = {"lorenz63", "shim", {"records=1", "end=0.6", "scheme=ctu", "precision=double"}};
/* More bricks than the heap begins with. */
static const a_case large = {"lorenz96", "shim", {"dimension=6", "records=1", "end=0.004", "extent=2"}};

static inline void set_back(void)
{
    (void)unsetenv("SHIM_BLOCKS");
    (void)unsetenv("SHIM_CLUSTER");
    (void)unsetenv("SHIM_MEMORY");
    (void)unsetenv("SHIM_VIRTUAL");
    (void)unsetenv("SHIM_FAILING_LAUNCH");
    (void)unsetenv("SHIM_LARGE");
}

/* An engine for the default scenario of lorenz63, and all that it is made of. */
typedef struct bare {
    world w;
    gbees_engine *engine;
    gbees_clock clock;
    gbees_error error;
} bare;

static inline bare open_bare(void)
{
    bare b = {.clock = {.length = 0.1}};

    ck_assert_int_eq(world_open(&b.w, open_registry(), "lorenz63", "shim"), 0);
    ck_assert_int_eq(world_make(&b.w, &(scenario_source){.name = NULL}), 0);
    ck_assert_msg(b.w.backend->create(b.w.problem, &(gbees_engine_options){.threads = 1}, &b.engine, &b.error) == 0,
                  "%s", b.error.text);
    return b;
}

static inline void close_bare(bare *b)
{
    b->w.backend->destroy(b->engine);
    b->w.backend->destroy(NULL);
    world_close(&b->w);
}

static inline int add_up(void *context, size_t count, const int32_t *const *index, const double *p)
{
    double *sum = context;

    for (size_t i = 0; i < count; i++) {
        uint64_t mixed = (uint64_t)(uint32_t)index[0][i] * 31u + (uint64_t)(uint32_t)index[1][i] * 17u;

        sum[0] += p[i];
        sum[1] += p[i] * (double)(mixed % 101u);
    }
    return 0;
}

static inline int stop_at_once(void *context, size_t count, const int32_t *const *index, const double *p)
{
    (void)context, (void)count, (void)index, (void)p;
    return 77;
}

#endif
