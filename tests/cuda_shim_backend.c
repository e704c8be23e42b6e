/* cuda_shim_backend.c - the CUDA backend on a GPU made of threads, as a module (cuda_shim.c says for what model). */
#include "cuda_shim_driver.h"
#include "engine.h"
#include <stdlib.h>

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
static program_set none;

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    const char *failing = getenv("SHIM_FAILING_LAUNCH"), *memory = getenv("SHIM_MEMORY");

    (void)options;
    cuda_shim_open(&api);
    shim_failing_launch = failing ? atoi(failing) : 0;
    if (memory)
        shim_memory = strtoull(memory, NULL, 10);
    return cuda_engine_create(&api, 0, &none, problem, engine, error);
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
    .destroy = cuda_engine_destroy,
    .advance = cuda_engine_advance,
    .update = cuda_engine_update,
    .statistics = cuda_engine_statistics,
    .cells = cuda_engine_cells,
    .totals = cuda_engine_totals,
};
