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

/* Marks the cells that a brick's active cells need. The sets of the brick and of its neighbours are collected first,
 * so that each is written to memory once. */
static inline void mark_downwind(gbees_engine *e, uint32_t slot)
{
    const gbees_shape *shape = &e->g.shape;
    uint64_t own = e->rows.active[slot], beside[2 * GBEES_MAX_DIM] = {0};
    gbees_outflow out;

    engine_find_outflow(e, slot, own, 0, &out);
    for (int i = 0; i < out.count; i++) {
        const int d = out.direction[i];
        const uint32_t neighbor = grid_neighbor(&e->g, slot, d);

        for (int k = i; k < out.count; k++) {
            const int f = out.direction[k];
            const uint64_t cells = gbees_outflow_pair(&out, i, k);

            if (!cells)
                continue;
            const gbees_downwind to = gbees_downwind_of(shape, cells, d, f);
            own |= to.own;
            beside[d] |= to.beside_d;
            beside[f] |= to.beside_f;
            if (to.beyond)
                add_needed(e, grid_neighbor(&e->g, neighbor, f), to.beyond);
        }
    }
    add_needed(e, slot, own);
    for (int d = 0; d < 2 * shape->n; d++)
        if (beside[d])
            add_needed(e, grid_neighbor(&e->g, slot, d), beside[d]);
}

uint64_t engine_mark_needed(gbees_engine *e, uint64_t *above)
{
    uint32_t count = e->g.count, chunks = engine_chunks(e), chunk = engine_chunk(e);
    double threshold = engine_threshold(e) * e->run.ledger.mass;
    uint64_t needed = 0, active = 0;

    ghosts_refresh(e, e->rows.p, -1);
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
        for (uint32_t k = 0; k < count; k++)
            if (e->rows.active[e->g.used[k]])
                mark_downwind(e, e->g.used[k]);
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
static void keep_needed(gbees_engine *e, unsigned char *keep)
{
    ghosts_keep(e);
#pragma omp parallel for num_threads(engine_threads(e, e->g.count)) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        keep[k] = e->rows.needed[e->g.used[k]] != 0;
        e->rows.expanded[e->g.used[k]] &=
            e->rows.active[e->g.used[k]]; /* neighbours of the other cells may be removed now */
    }
}

int engine_prune(gbees_engine *e, double time, double left_out, gbees_error *error)
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
    keep_needed(e, keep);
    if (!e->method.deterministic)
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
    return GBEES_OK;
}
