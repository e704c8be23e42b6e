/* prune.c - drops the bricks that no one needs: mark, scan, compact, rehash (paper, Algorithm 3).
 *
 * Needed are the cells with P >= p* and the face and edge neighbours that they flow into; a brick stays as long as it
 * has a needed cell, and its other cells stay with it.
 */
#include "common/failure.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

static inline void add_needed(gbees_engine *e, uint32_t slot, uint64_t set)
{
    if (e->inside)
        set &= e->inside[slot];
    if (e->threads == 1) {
        e->needed[slot] |= set;
        return;
    }
    if (slot && (set & ~__atomic_load_n(&e->needed[slot], __ATOMIC_RELAXED)))
        __atomic_or_fetch(&e->needed[slot], set, __ATOMIC_RELAXED); /* an OR: any order gives the same */
}

/* One cell further in a direction: the cells that stay in the brick and those that go over to its neighbour, and how
 * far the bits of either set turn (gbees_shape_inside() and _across() without their choices). */
typedef struct move {
    uint64_t stay, go;
    unsigned inside, across;
} move;

static void make_moves(const gbees_shape *shape, move *moves)
{
    for (int d = 0; d < 2 * shape->n; d++) {
        const int axis = d >> 1;
        const unsigned stride = 1u << shape->shift[axis], span = (unsigned)(shape->edge[axis] - 1) * stride;

        moves[d].go = gbees_shape_side(shape, d);
        moves[d].stay = ~moves[d].go;
        moves[d].inside = (d & 1 ? stride : 64 - stride) % 64;
        moves[d].across = (d & 1 ? 64 - span : span) % 64;
    }
}

static inline uint64_t turn(uint64_t set, unsigned by)
{
    return set << by | set >> (64 - by) % 64;
}

/* Cells of a brick and of its neighbour in the direction: one cell further that way. */
static inline void shift(const move *m, uint64_t *here, uint64_t *there)
{
    *there = turn(*there & m->stay, m->inside) | turn(*here & m->go, m->across);
    *here = turn(*here & m->stay, m->inside);
}

/* A set of cells that flows in the direction: as far as a step goes, here and in the neighbour. */
static inline void add_shifted(const move *m, int reach, uint64_t set, uint64_t *here, uint64_t *there)
{
    uint64_t across = 0;

    for (int k = 0; k < reach; k++) {
        shift(m, &set, &across);
        *here |= set;
        *there |= across;
    }
}

/* What is needed of the brick and of its neighbours is put together first: only that goes to memory. */
static inline void mark_downwind(gbees_engine *e, const move *moves, uint32_t slot, int reach)
{
    const int directions = 2 * e->g.shape.n;
    uint64_t own = e->active[slot], beside[2 * GBEES_MAX_DIM] = {0};
    engine_outflow out;

    engine_leaving(e, slot, own, NULL, &out);
    for (int i = 0; i < out.count; i++) {
        const int d = out.direction[i];
        const uint32_t neighbor = grid_neighbor(&e->g, slot, d);

        add_shifted(&moves[d], reach, out.cells[i], &own, &beside[d]);
        for (int k = i + 1; k < out.count; k++) {
            const int f = out.direction[k];
            uint64_t both = out.cells[i] & out.cells[k], across = 0, diagonal = 0;

            if (!both || f == gbees_opposite(d))
                continue;
            for (int step = 0; step < reach; step++) {
                shift(&moves[d], &both, &across);
                add_shifted(&moves[f], reach, both, &own, &beside[f]);
                add_shifted(&moves[f], reach, across, &beside[d], &diagonal);
            }
            if (diagonal)
                add_needed(e, grid_neighbor(&e->g, neighbor, f), diagonal);
        }
    }
    add_needed(e, slot, own);
    for (int d = 0; d < directions; d++)
        if (beside[d])
            add_needed(e, grid_neighbor(&e->g, slot, d), beside[d]);
}

/* Of used bricks [from, to). A reach of 1 as a constant: no loops over it. */
static void mark_bricks(gbees_engine *e, const move *moves, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        const uint32_t slot = e->g.used[k];

        if (!e->active[slot])
            continue;
        if (e->reach == 1)
            mark_downwind(e, moves, slot, 1);
        else
            mark_downwind(e, moves, slot, e->reach);
    }
}

uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above)
{
    uint32_t count = e->g.count, chunks = engine_chunks(e), chunk = engine_chunk(e);
    double threshold = engine_threshold(e) * e->run.ledger.mass;
    uint64_t needed = 0, active = 0;
    move moves[2 * GBEES_MAX_DIM];

    make_moves(&e->g.shape, moves);
    e->context.time = e->inspected;
    e->context.rows.active = e->active;

#pragma omp parallel num_threads(engine_threads(e, count))
    {
#pragma omp for schedule(static) reduction(+ : active)
        for (uint32_t at = 0; at < chunks; at++) {
            active += e->kernel->mark_rows(&e->context, e->p, threshold, at * chunk, engine_chunk_end(e, at));
            for (uint32_t k = at * chunk; k < engine_chunk_end(e, at); k++)
                e->needed[e->g.used[k]] = e->active[e->g.used[k]];
        }
#pragma omp for schedule(static)
        for (uint32_t at = 0; at < chunks; at++)
            mark_bricks(e, moves, at * chunk, engine_chunk_end(e, at));
#pragma omp single
        e->needed[0] = 0;
#pragma omp for schedule(static) reduction(+ : needed)
        for (uint32_t k = 0; k < count; k++)
            needed += (uint64_t)__builtin_popcountll(e->needed[e->g.used[k]]);
    }
    if (above)
        *above = active;
    return needed;
}

void *engine_room(gbees_engine *e, size_t size)
{
    if (e->room_size < size) {
        free(e->room);
        e->room_size = size + size / 4; /* the grid will grow */
        e->room = malloc(e->room_size);
        e->room_size = e->room ? e->room_size : 0;
    }
    return e->room;
}

/* Flags the bricks that stay. */
static int keep_needed(gbees_engine *e, unsigned char *keep, gbees_error *error)
{
    if (e->paper)
        return paper_keep(e, keep, error);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        keep[k] = e->needed[e->g.used[k]] != 0;
        e->served[e->g.used[k]] &= e->active[e->g.used[k]]; /* what other cells asked for may go now */
    }
    return 0;
}

int engine_prune(gbees_engine *e, double time, gbees_error *error)
{
    unsigned char *keep = engine_room(e, e->g.count);
    /* What stays is summed up where backends agree on its bits; else what goes: it is less. */
    double mass = 0, pruned = 0;

    if (!keep)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", e->g.count);
    uint64_t needed = engine_mark_needed(e, NULL);
    int status = keep_needed(e, keep, error);
    if (!status && !e->deterministic)
        status = engine_sum(e, keep, &pruned, error);
    if (!status)
        status = grid_compact(&e->g, keep, error);
    if (!status && e->deterministic)
        status = engine_sum(e, NULL, &mass, error);
    if (status)
        return status;
    if (!e->deterministic)
        mass = e->g.count ? e->run.ledger.mass - pruned : 0;
    gbees_ledger_prune(&e->run.ledger, mass);
    if (!(mass > 0))
        return failure_empty(engine_threshold(e), error);
    gbees_work_count(&e->run.work, needed);
    budget_steer(e, time);
    if (e->split)
        status = engine_couple(e, time, error);
    if (e->problem->numerics.mode != GBEES_MODE_DEFAULT) {
        /* Normalised again, some cells have risen over p*. */
        engine_scale(e, 1 / mass);
        gbees_ledger_normalise(&e->run.ledger);
        e->context.rows.active = e->active;
        (void)e->kernel->mark_rows(&e->context, e->p, engine_threshold(e), 0, e->g.count);
    }
    return status;
}
