/* backend.c - what the CUDA module exports. */
#include "offline.h"

static int refuse(gbees_error *error)
{
    return gbees_error_set(error, GBEES_EBACKEND, "the CUDA backend compiles kernels, but can't run them yet");
}

static double estimate(const gbees_problem *problem)
{
    (void)problem;
    return 0;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    (void)problem, (void)options, (void)engine;
    return refuse(error);
}

static void destroy(gbees_engine *engine)
{
    (void)engine;
}

static int advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    (void)engine, (void)clock, (void)max_steps;
    return refuse(error);
}

static int update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    (void)engine, (void)clock, (void)measurement, (void)evidence;
    return refuse(error);
}

static int statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *out, gbees_error *error)
{
    (void)engine, (void)clock, (void)out;
    return refuse(error);
}

static int cells(gbees_engine *engine, gbees_cell_visitor *visitor, void *context, gbees_error *error)
{
    (void)engine, (void)visitor, (void)context;
    return refuse(error);
}

static void totals(const gbees_engine *engine, gbees_totals *out)
{
    (void)engine;
    *out = (gbees_totals){0};
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "cuda",
    .title = "one NVIDIA GPU",
    .probe = cuda_probe,
    .compile = cuda_compile_only,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .update = update,
    .statistics = statistics,
    .cells = cells,
    .totals = totals,
};
