/* prune.c - removes the bricks without a needed cell: mark, scan, compact, rehash (paper, Algorithm 3).
 *
 * Needed cells are the active ones (P >= p*) and the face and edge neighbours that they flow into.
 */
#include "engine.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

/* Marks a set of cells of a brick as needed. Several threads may call it for one brick. */
static inline void add_needed(gbees_engine *e, uint32_t slot, uint64_t set)
{
    if (e->rows.inside)
        set &= e->rows.inside[slot];
    if (e->threads == 1) {
        e->rows.needed[slot] |= set;
        return;
    }
    if (slot && (set & ~__atomic_load_n(&e->rows.needed[slot], __ATOMIC_RELAXED)))
        __atomic_or_fetch(&e->rows.needed[slot], set, __ATOMIC_RELAXED); /* the result is the same for any order */
}

/* How a set of cells is shifted by one cell in a direction: the cells that stay in the brick, those that leave to its
 * neighbour, and by how many bits each of these sets is rotated. Gives what gbees_shape_inside() and
 * gbees_shape_across() give, without branches. */
typedef struct cell_shift {
    uint64_t stay, leave;
    unsigned inside, across;
} cell_shift;

static void make_shifts(const gbees_shape *shape, cell_shift *shifts)
{
    for (int d = 0; d < 2 * shape->n; d++) {
        const int axis = d >> 1;
        const unsigned stride = 1u << shape->shift[axis], span = (unsigned)(shape->edge[axis] - 1) * stride;

        shifts[d].leave = gbees_shape_side(shape, d);
        shifts[d].stay = ~shifts[d].leave;
        shifts[d].inside = (d & 1 ? stride : 64 - stride) % 64;
        shifts[d].across = (d & 1 ? 64 - span : span) % 64;
    }
}

static inline uint64_t rotate(uint64_t set, unsigned by)
{
    return set << by | set >> (64 - by) % 64;
}

/* Shifts sets of cells of a brick, *here, and of its neighbour in the direction, *there, by one cell in that
 * direction. */
static inline void shift(const cell_shift *m, uint64_t *here, uint64_t *there)
{
    *there = rotate(*there & m->stay, m->inside) | rotate(*here & m->leave, m->across);
    *here = rotate(*here & m->stay, m->inside);
}

/* Adds the cells downwind of a set in the direction: those in the brick to *here, those in its neighbour to *there.
 */
static inline void add_shifted(const cell_shift *m, uint64_t set, uint64_t *here, uint64_t *there)
{
    uint64_t across = 0;

    shift(m, &set, &across);
    *here |= set;
    *there |= across;
}

/* Marks the cells that a brick's active cells need. The sets of the brick and of its neighbours are collected first,
 * so that each is written to memory once. */
static inline void mark_downwind(gbees_engine *e, const cell_shift *shifts, uint32_t slot)
{
    const int directions = 2 * e->g.shape.n;
    uint64_t own = e->rows.active[slot], beside[2 * GBEES_MAX_DIM] = {0};
    engine_outflow out;

    engine_find_outflow(e, slot, own, NULL, &out);
    for (int i = 0; i < out.count; i++) {
        const int d = out.direction[i];
        const uint32_t neighbor = grid_neighbor(&e->g, slot, d);

        add_shifted(&shifts[d], out.cells[i], &own, &beside[d]);
        for (int k = i + 1; k < out.count; k++) {
            const int f = out.direction[k];
            uint64_t both = out.cells[i] & out.cells[k], across = 0, diagonal = 0;

            if (!both || f == gbees_opposite(d))
                continue;
            shift(&shifts[d], &both, &across);
            add_shifted(&shifts[f], both, &own, &beside[f]);
            add_shifted(&shifts[f], across, &beside[d], &diagonal);
            if (diagonal)
                add_needed(e, grid_neighbor(&e->g, neighbor, f), diagonal);
        }
    }
    add_needed(e, slot, own);
    for (int d = 0; d < directions; d++)
        if (beside[d])
            add_needed(e, grid_neighbor(&e->g, slot, d), beside[d]);
}

/* Marks the cells that used bricks from .. to - 1 need. */
static void mark_bricks(gbees_engine *e, const cell_shift *shifts, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        const uint32_t slot = e->g.used[k];

        if (e->rows.active[slot])
            mark_downwind(e, shifts, slot);
    }
}

uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above)
{
    uint32_t count = e->g.count, chunks = engine_chunks(e), chunk = engine_chunk(e);
    double threshold = engine_threshold(e) * e->run.ledger.mass;
    uint64_t needed = 0, active = 0;
    cell_shift shifts[2 * GBEES_MAX_DIM];

    ghosts_refresh(e, e->rows.p, -1);
    make_shifts(&e->g.shape, shifts);
    e->context.time = e->inspected;
    e->context.rows.active = e->rows.active;

#pragma omp parallel num_threads(engine_threads(e, count))
    {
#pragma omp for schedule(static) reduction(+ : active)
        for (uint32_t at = 0; at < chunks; at++) {
            active += e->kernel->mark_rows(&e->context, e->rows.p, threshold, at * chunk, engine_chunk_end(e, at));
            for (uint32_t k = at * chunk; k < engine_chunk_end(e, at); k++)
                e->rows.needed[e->g.used[k]] = e->rows.active[e->g.used[k]];
        }
#pragma omp for schedule(static)
        for (uint32_t at = 0; at < chunks; at++)
            mark_bricks(e, shifts, at * chunk, engine_chunk_end(e, at));
#pragma omp single
        e->rows.needed[0] = 0;
#pragma omp for schedule(static) reduction(+ : needed)
        for (uint32_t k = 0; k < count; k++)
            needed += (uint64_t)__builtin_popcountll(e->rows.needed[e->g.used[k]]);
    }
    ranks_count_cells(e, &needed, &active);
    if (above)
        *above = active;
    return needed;
}

/* Sets keep[count] to 1 for used bricks that stay, to 0 for those that a prune removes. */
static int keep_needed(gbees_engine *e, unsigned char *keep, gbees_error *error)
{
    if (e->method.paper)
        return paper_keep(e, keep, error);
    ghosts_keep(e);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        keep[k] = e->rows.needed[e->g.used[k]] != 0;
        e->rows.expanded[e->g.used[k]] &=
            e->rows.active[e->g.used[k]]; /* neighbours of the other cells may be removed now */
    }
    return 0;
}

int engine_prune(gbees_engine *e, double time, gbees_error *error)
{
    return engine_prune_from(e, time, 0, error);
}

int engine_prune_from(gbees_engine *e, double time, double left_out, gbees_error *error)
{
    unsigned char *keep = engine_buffer(e, e->g.count);
    /* With --deterministic the P that stay are summed up, as then all backends get the same bits; otherwise those
     * that are removed, which are fewer. */
    double mass = 0, pruned = 0;

    int status = keep ? 0 : gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", e->g.count);
    status = ranks_agree(e->ranks, status, error);
    if (status)
        return status;
    uint64_t needed = engine_mark_needed(e, NULL);
    status = keep_needed(e, keep, error);
    if (!status && !e->method.deterministic)
        status = engine_sum(e, keep, &pruned, error);
    if (!status)
        status = grid_compact(&e->g, keep, error);
    status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = balance_renew(e, error);
    if (!status && e->method.deterministic)
        status = engine_sum(e, NULL, &mass, error);
    if (status)
        return status;
    if (!e->method.deterministic)
        mass = engine_bricks(e) ? e->run.ledger.mass - (pruned + left_out) : 0;
    gbees_ledger_prune(&e->run.ledger, mass);
    if (!(mass > 0))
        return failure_empty(engine_threshold(e), error);
    gbees_work_count(&e->run.work, needed);
    budget_steer(e, time);
    if (e->problem->numerics.mode != GBEES_MODE_DEFAULT) {
        /* By the division some cells have risen above p*. */
        engine_scale(e, 1 / mass);
        gbees_ledger_normalise(&e->run.ledger);
        e->context.rows.active = e->rows.active;
        (void)e->kernel->mark_rows(&e->context, e->rows.p, engine_threshold(e), 0, e->g.count);
    }
    return status;
}
