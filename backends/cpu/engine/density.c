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

int engine_add_up(gbees_engine *e, const brick_numbers *of, double *sums, gbees_error *error)
{
    const uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);
    const size_t count = (size_t)of->count;

    if (e->ranks)
        return ranks_add_up(e, of, sums, error);
    double *parts = calloc((chunks + 1u) * count, sizeof *parts);
    if (!parts)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for sums over %u bricks", e->g.count);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(dynamic, 1)
    for (uint32_t at = 0; at < chunks; at++)
        of->add(e, of->context, at * chunk, engine_chunk_end(e, at), parts + at * count);
    for (size_t i = 0; i < count; i++) {
        sums[i] = 0;
        for (uint32_t at = 0; at < chunks; at++)
            sums[i] += parts[at * count + i];
    }
    free(parts);
    return 0;
}

/* Sets *sum to the sum of P over used bricks k, from <= k < to, with except[k] == 0; except: NULL: of all. */
static void add_density(gbees_engine *e, const void *except, uint32_t from, uint32_t to, double *sum)
{
    const unsigned char *others = except;

    for (uint32_t k = from; k < to && others; k++)
        if (!others[k])
            *sum += e->kernel->sum_rows(&e->context, e->rows.p, k, k + 1);
    if (!others)
        *sum = e->kernel->sum_rows(&e->context, e->rows.p, from, to);
}

int engine_sum_any(gbees_engine *e, const unsigned char *except, double *sum, gbees_error *error)
{
    return engine_add_up(e, &(brick_numbers){1, add_density, except}, sum, error);
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
