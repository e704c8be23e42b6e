/* density.c - sums of the density; its product with a factor; the buffer that sweeps and prunes use in turn. */
#include "engine.h"
#include "numerics/fixed.h"
#include "ranks.h"
#include <stdlib.h>

double engine_exact_sum(gbees_engine *e)
{
    int64_t total = 0;

#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static) reduction(+ : total)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;

        for (int cell = 0; cell < e->cells && !engine_is_ghost(e, e->g.used[k]); cell++)
            total += gbees_fixed(engine_p(e, at + (size_t)cell));
    }
    ranks_sum(e->ranks, &total, 1);
    return gbees_fixed_value(total);
}

/* The sum of P over used bricks k, from <= k < to, with except[k] == 0. */
static double sum_others(const gbees_engine *e, const unsigned char *except, uint32_t from, uint32_t to)
{
    double sum = 0;

    for (uint32_t k = from; k < to; k++)
        if (!except[k])
            sum += e->kernel->sum_rows(&e->context, e->rows.p, k, k + 1);
    return sum;
}

int engine_sum_any(gbees_engine *e, const unsigned char *except, double *sum, gbees_error *error)
{
    uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);

    if (e->ranks) {
        *sum = ranks_sum_density(e, except);
        return 0;
    }
    double *parts = malloc((chunks + 1u) * sizeof *parts);
    if (!parts)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the sum over %u bricks", e->g.count);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t at = 0; at < chunks; at++) {
        const uint32_t from = at * chunk, to = engine_chunk_end(e, at);

        parts[at] = except ? sum_others(e, except, from, to) : e->kernel->sum_rows(&e->context, e->rows.p, from, to);
    }
    *sum = 0;
    for (uint32_t at = 0; at < chunks; at++)
        *sum += parts[at];
    free(parts);
    return 0;
}

int engine_sum(gbees_engine *e, const unsigned char *except, double *sum, gbees_error *error)
{
    if (except || !e->method.deterministic)
        return engine_sum_any(e, except, sum, error);
    *sum = engine_exact_sum(e);
    return 0;
}

void engine_scale(gbees_engine *e, double factor)
{
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        size_t at = (size_t)e->g.used[k] * (size_t)e->cells;

        for (int cell = 0; cell < e->cells; cell++)
            engine_set_p(e, at + (size_t)cell, engine_p(e, at + (size_t)cell) * factor);
    }
}

void *engine_buffer(gbees_engine *e, size_t size)
{
    const size_t least = size ? size : 1; /* NULL is an error, also for a rank without bricks */

    if (e->workspace.buffer_size < least) {
        free(e->workspace.buffer);
        e->workspace.buffer_size = least + least / 4; /* with a reserve, as the grid grows */
        e->workspace.buffer = malloc(e->workspace.buffer_size);
        e->workspace.buffer_size = e->workspace.buffer ? e->workspace.buffer_size : 0;
    }
    return e->workspace.buffer;
}
