/* statistics.c - moments of the density, counts of cells, and the cells themselves, for a record. */
#include "common/circular.h"
#include "engine.h"
#include "ranks.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { BATCH = ENGINE_BATCH, BRICK = 64 /* cells of a brick, at most */ };

/* Adds a chunk's moments, and takes its peak if that is higher. */
static void add_moments(kernel_moments *total, const kernel_moments *part)
{
    total->mass += part->mass;
    total->log += part->log;
    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        total->first[j] += part->first[j];
        total->turn[j][0] += part->turn[j][0];
        total->turn[j][1] += part->turn[j][1];
    }
    for (int j = 0; j < KERNEL_SECONDS; j++)
        total->second[j] += part->second[j];
    if (part->peak > total->peak) {
        total->peak = part->peak;
        total->peak_slot = part->peak_slot;
        total->peak_cell = part->peak_cell;
    }
}

/* Sets means, covariance, entropy and peak from the moments, which are in cells, in the units of the grid's axes. */
static void fill_statistics(const gbees_engine *e, const kernel_moments *s, const int32_t *peak_key,
                            gbees_statistics *out)
{
    const gbees_shape *shape = &e->g.shape;
    const gbees_problem *problem = e->problem;
    double volume = 1, mean[GBEES_MAX_DIM];
    int n = shape->n, at = 0;

    for (int j = 0; j < n; j++) {
        mean[j] = s->first[j] / s->mass;
        out->mean[j] = problem->mean[j] + problem->width[j] * mean[j];
        volume *= problem->width[j];
        out->peak_index[j] = peak_key[j] * shape->edge[j] + gbees_shape_local(shape, s->peak_cell, j);
    }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double c = (s->second[at++] / s->mass - mean[j] * mean[k]) * problem->width[j] * problem->width[k];

            /* Averaging over cells adds the variance inside a cell, h^2/12, which the density does not have. */
            if (e->method.averages && j == k)
                c = fmax(c - problem->width[j] * problem->width[j] / 12, 0);
            out->covariance[j * n + k] = out->covariance[k * n + j] = c;
        }
    for (int j = 0; j < n; j++)
        circular_set(problem, j, s->turn[j], s->mass, out);
    out->mass = s->mass;
    out->peak = s->peak / s->mass;
    out->entropy = -(s->log / s->mass - log(s->mass) - log(volume));
}

/* Counts the active and the needed cells by p* and the present mass.  The active cells of the last step are restored,
 * so that a record does not change the run. */
static int count_cells(gbees_engine *e, gbees_statistics *statistics, gbees_error *error)
{
    if (e->is_initial) {
        statistics->cells = e->run.work.needed;
        statistics->cells_above = e->initial_above;
        return 0;
    }
    uint64_t *marks = malloc((e->g.count + 1u) * sizeof *marks);
    int status =
        marks ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory for the counts of %u bricks", e->g.count);
    status = ranks_agree(e->ranks, status, error);
    if (status) {
        free(marks);
        return status;
    }
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++)
        marks[k] = e->rows.active[e->g.used[k]];
    statistics->cells = engine_mark_needed(e, &statistics->cells_above);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++)
        e->rows.active[e->g.used[k]] = marks[k];
    free(marks);
    gbees_work_count(&e->run.work, statistics->cells);
    return 0;
}

int engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics, gbees_error *error)
{
    uint32_t chunks = engine_chunks(e), chunk = engine_chunk(e);

    (void)clock; /* the sums do not depend on time */
    *statistics = (gbees_statistics){0};
    if (e->ranks) {
        kernel_moments all;
        int32_t peak_key[GBEES_MAX_DIM];

        ranks_moments(e, &all, peak_key);
        fill_statistics(e, &all, peak_key, statistics);
        statistics->cells_raw = engine_bricks(e) * (uint64_t)e->cells;
        return count_cells(e, statistics, error);
    }
    kernel_moments *parts = calloc(chunks + 1u, sizeof *parts);
    if (!parts)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the moments of %u bricks", e->g.count);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(dynamic)
    for (uint32_t at = 0; at < chunks; at++) {
        kernel_moments part; /* on the stack: neighbours in parts[] share cache lines */

        engine_moments(e, at * chunk, engine_chunk_end(e, at), &part);
        parts[at] = part;
    }
    for (uint32_t at = 1; at < chunks; at++)
        add_moments(&parts[0], &parts[at]);
    fill_statistics(e, &parts[0], grid_key(&e->g, parts[0].peak_slot), statistics);
    free(parts);
    int status = count_cells(e, statistics, error);
    statistics->cells_raw = (uint64_t)e->g.count * (uint64_t)e->cells;
    return status;
}

/* Cells that are passed to a visitor together. */
typedef struct batch {
    size_t count;
    int32_t local[GBEES_MAX_DIM][BRICK]; /* indices of a brick's cells within it */
    int32_t index[GBEES_MAX_DIM][BATCH];
    double p[BATCH];
} batch;

/* Passes a batch to the visitor and empties it; returns what the visitor returns. */
static int flush(const gbees_engine *e, batch *b, gbees_cell_visitor *visitor, void *context)
{
    const int32_t *index[GBEES_MAX_DIM];
    size_t count = b->count;

    for (int j = 0; j < e->g.shape.n; j++)
        index[j] = b->index[j];
    b->count = 0;
    return count ? visitor(context, count, index, b->p) : 0;
}

/* Appends the cells of a brick with P >= least to the batch, and passes it on unless another brick has room. */
static int visit_brick(const gbees_engine *e, uint32_t slot, double least, batch *b, gbees_cell_visitor *visitor,
                       void *context)
{
    const gbees_shape *shape = &e->g.shape;
    const int32_t *key = grid_key(&e->g, slot);

    unsigned char found[BRICK];
    size_t count = 0;

    for (int cell = 0; cell < shape->cells; cell++) {
        const double p = engine_p(e, (size_t)slot * (size_t)e->cells + (size_t)cell);

        found[count] = (unsigned char)cell;
        b->p[b->count + count] = p / e->run.ledger.mass;
        count += p >= least;
    }
    for (int j = 0; j < shape->n; j++)
        for (size_t k = 0; k < count; k++)
            b->index[j][b->count + k] = key[j] * shape->edge[j] + b->local[j][found[k]];
    b->count += count;
    return b->count + BRICK <= BATCH ? 0 : flush(e, b, visitor, context);
}

int engine_visit_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                       gbees_error *error)
{
    const double mass = e->run.ledger.mass; /* 0 if targets have taken all: then no cell has any */
    const double least = fraction > 0 && mass > 0 ? fraction * engine_threshold(e) * mass : DBL_TRUE_MIN;
    batch *b = malloc(sizeof *b);
    int stop = 0;

    if (!b)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for a record's cells");
    b->count = 0;
    for (int j = 0; j < e->g.shape.n; j++)
        for (int cell = 0; cell < e->g.shape.cells; cell++)
            b->local[j][cell] = gbees_shape_local(&e->g.shape, cell, j);
    for (uint32_t k = 0; k < e->g.count && !stop; k++)
        if (!engine_is_ghost(e, e->g.used[k]))
            stop = visit_brick(e, e->g.used[k], least, b, visitor, context);
    if (!stop)
        stop = flush(e, b, visitor, context);
    free(b);
    return stop;
}
