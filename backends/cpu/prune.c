/* prune.c - drops the bricks that no one needs: mark, scan, compact, rehash (paper, Algorithm 3).
 *
 * Needed are the cells with P >= p* and the face and edge neighbours that they flow into; a brick stays as long as it
 * has a needed cell, and its other cells stay with it.
 */
#include "common/failure.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

static void add_needed(gbees_engine *e, uint32_t slot, uint64_t set)
{
    if (e->inside)
        set &= e->inside[slot];
    if (slot && (set & ~__atomic_load_n(&e->needed[slot], __ATOMIC_RELAXED)))
        __atomic_or_fetch(&e->needed[slot], set, __ATOMIC_RELAXED); /* an OR: any order gives the same */
}

/* Cells of a brick and of its neighbour in direction d: one cell further that way. */
static inline void shift(const gbees_shape *shape, int d, uint64_t *here, uint64_t *there)
{
    *there = gbees_shape_inside(shape, *there, d) | gbees_shape_across(shape, *here, d);
    *here = gbees_shape_inside(shape, *here, d);
}

/* A set of cells that flows in direction d: as far as a step goes, here and in the neighbour. */
static inline void add_shifted(const gbees_shape *shape, int reach, uint64_t set, int d, uint64_t *here,
                               uint64_t *there)
{
    uint64_t across = 0;

    for (int k = 0; k < reach; k++) {
        shift(shape, d, &set, &across);
        *here |= set;
        *there |= across;
    }
}

/* What is needed of the brick and of its neighbours is put together first: only that goes to memory. */
static inline void mark_downwind(gbees_engine *e, uint32_t slot, int reach)
{
    const gbees_shape *shape = &e->g.shape;
    const uint64_t *flow = e->flow + (size_t)slot * (size_t)(2 * shape->n);
    uint64_t own = e->active[slot], beside[2 * GBEES_MAX_DIM] = {0};

    for (int d = 0; d < 2 * shape->n; d++) {
        uint64_t out = e->active[slot] & flow[d];

        if (!out)
            continue;
        add_shifted(shape, reach, out, d, &own, &beside[d]);
        for (int f = (d | 1) + 1; f < 2 * shape->n; f++) {
            uint64_t both = out & flow[f];

            if (!both)
                continue;
            uint64_t across = 0, diagonal = 0;
            for (int k = 0; k < reach; k++) {
                shift(shape, d, &both, &across);
                add_shifted(shape, reach, both, f, &own, &beside[f]);
                add_shifted(shape, reach, across, f, &beside[d], &diagonal);
            }
            if (diagonal)
                add_needed(e, grid_neighbor(&e->g, grid_neighbor(&e->g, slot, d), f), diagonal);
        }
    }
    add_needed(e, slot, own);
    for (int d = 0; d < 2 * shape->n; d++)
        if (beside[d])
            add_needed(e, grid_neighbor(&e->g, slot, d), beside[d]);
}

/* A reach of 1 as a constant: no loops over it. */
static void mark_brick(gbees_engine *e, uint32_t slot)
{
    if (e->reach == 1)
        mark_downwind(e, slot, 1);
    else
        mark_downwind(e, slot, e->reach);
}

uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above)
{
    uint32_t count = e->g.count, chunks = engine_chunks(e), chunk = engine_chunk(e);
    double threshold = engine_threshold(e) * e->mass;
    uint64_t needed = 0, active = 0;

    e->context.active = e->active;

#pragma omp parallel num_threads(engine_threads(e, count))
    {
#pragma omp for schedule(static) reduction(+ : active)
        for (uint32_t at = 0; at < chunks; at++) {
            active += e->kernel->mark_rows(&e->context, e->p, threshold, at * chunk, engine_chunk_end(e, at));
            for (uint32_t k = at * chunk; k < engine_chunk_end(e, at); k++)
                e->needed[e->g.used[k]] = e->active[e->g.used[k]];
        }
#pragma omp for schedule(dynamic, 1024)
        for (uint32_t k = 0; k < count; k++)
            if (e->active[e->g.used[k]])
                mark_brick(e, e->g.used[k]);
#pragma omp for schedule(static) reduction(+ : needed)
        for (uint32_t k = 0; k < count; k++)
            needed += (uint64_t)__builtin_popcountll(e->needed[e->g.used[k]]);
    }
    if (above)
        *above = active;
    return needed;
}

static int reserve_flags(gbees_engine *e, gbees_error *error)
{
    if (e->keep_size < e->g.count) {
        unsigned char *flags = realloc(e->keep, e->g.count);

        if (!flags)
            return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", e->g.count);
        e->keep = flags;
        e->keep_size = e->g.count;
    }
    return 0;
}

int engine_prune(gbees_engine *e, double time, gbees_error *error)
{
    int status = reserve_flags(e, error);

    if (status)
        return status;
    uint64_t needed = engine_mark_needed(e, NULL);
    if (e->paper)
        status = paper_keep(e, e->keep, error);
    else
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
        for (uint32_t k = 0; k < e->g.count; k++) {
            e->keep[k] = e->needed[e->g.used[k]] != 0;
            e->served[e->g.used[k]] &= e->active[e->g.used[k]]; /* what other cells asked for may go now */
        }
    if (!status)
        status = grid_compact(&e->g, e->keep, error);
    double mass = 0;
    if (!status)
        status = engine_sum(e, &mass, error);
    if (status)
        return status;
    e->totals.mass_pruned += e->mass - mass;
    e->mass = mass;
    if (!(mass > 0))
        return failure_empty(engine_threshold(e), error);
    engine_count(e, needed);
    budget_steer(e, time);
    if (e->split)
        status = engine_couple(e, time, error);
    if (e->problem->numerics.mode != GBEES_MODE_DEFAULT) {
        /* Normalised again, some cells have risen over p*. */
        engine_scale(e, 1 / mass);
        e->totals.mass_normalised += 1 - mass;
        e->mass = 1;
        e->context.active = e->active;
        (void)e->kernel->mark_rows(&e->context, e->p, engine_threshold(e), 0, e->g.count);
    }
    return status;
}
