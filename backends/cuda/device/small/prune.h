/* prune.h - a prune of a cluster's grid (shrink.h), without leaving the blocks' memories.
 *
 * What a cell needs lies in its own brick and those beside it, so that each warp asks the snapshot of its bricks'
 * neighbours, in the memories of their blocks, and all tell all which bricks stay.  From that each block computes
 * where these go, all by itself; whoever has a brick then takes what there is to know of it from where it was.
 */
#ifndef GBEES_CUDA_SMALL_PRUNE_H
#define GBEES_CUDA_SMALL_PRUNE_H

#include "device/advance.h"
#include "device/prune.h"
#include "device/small/grow.h"

/* ---- which bricks stay ----------------------------------------------------------------------------------------- */

/* What a brick was, where it was. */
GBEES_NUM const brick_snapshot *snapshot_of(small_block *b, uint32_t slot)
{
    /* warp_place(); a cluster has 8 blocks or 16. */
    const uint32_t row = (slot - 1) >> lowest_bit(block_count()), block = (slot - 1) & (block_count() - 1);
    const uint32_t warp = BLOCK_WARPS - 1 - row % BLOCK_WARPS;

    return (const brick_snapshot *)cluster_memory_of(&b->snapshot[warp][row / BLOCK_WARPS], block);
}

/* Its cells above p*, as they are now; all is left for others to read once all have met. */
GBEES_NUM void take_snapshots(const gbees_setup *m, small_block *b, const small_warp *warp)
{
    const number *p = rows_of(m, b->state.current), enough = least_above(m->threshold * b->state.run.ledger.mass);

#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        const number *row = p + (size_t)(1 + warp->place + i * warp->warps) * CELLS;
        const small_brick *brick = &warp->brick[i];
        brick_snapshot *snapshot = &b->snapshot[block_warp()][i];

        for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
            snapshot->flow[d] = brick->flow[d];
        if (warp_lane() == 0)
            snapshot->rate = brick->rate;
#pragma unroll
        for (int first = 0; first < CELLS; first += WARP_SIZE)
            put_ballot(&snapshot->active, first, warp_ballot(row[first + warp_lane()] >= enough));
    }
}

/* A brick's cells above p* that flow in both directions. */
GBEES_NUM uint64_t cells_flowing(small_block *b, uint32_t slot, int d, int f)
{
    if (!slot)
        return 0;
    const brick_snapshot *snapshot = snapshot_of(b, slot);
    return snapshot->active & snapshot->flow[d] & snapshot->flow[f];
}

/* The needed cells of a brick: mark_downwind(), as seen from where they lie.  What flows in two directions comes from
 * the brick itself, from those upwind along either axis, and from the one upwind along both: by way of the one beside
 * this one, without which it is not found. */
GBEES_NUM uint64_t needed_cells(const gbees_setup *m, small_block *b, const small_brick *brick,
                                const brick_snapshot *snapshot)
{
    const gbees_shape *shape = &m->shape;
    uint64_t needed = 0;

#pragma unroll 1
    for (int which = warp_lane(); which < PAIRS; which += WARP_SIZE) {
        const int d = b->pair[which].d, f = b->pair[which].f, has_two = f != d;
        const uint32_t over = brick->link[d ^ 1], across = has_two ? brick->link[f ^ 1] : 0;
        const uint32_t corner = across ? small_find(b, neighbor_key(brick->key, b->pair[which].by, -1)) : 0;
        const uint64_t here = snapshot->active & snapshot->flow[d] & snapshot->flow[f],
                       along = cells_flowing(b, over, d, f);
        const uint64_t beside = cells_flowing(b, across, d, f), both = cells_flowing(b, corner, d, f);
        const uint64_t first = gbees_shape_inside(shape, here, d) | gbees_shape_across(shape, along, d);
        const uint64_t second = gbees_shape_inside(shape, beside, d) | gbees_shape_across(shape, both, d);

        needed |= has_two ? gbees_shape_inside(shape, first, f) | gbees_shape_across(shape, second, f) : first;
    }
    return warp_or(needed) | snapshot->active;
}

/* Tells all blocks which of a warp's bricks stay; their mass, their needed cells and their largest rate go with the
 * block's note, as if they were a step's mass, outflow and rate. */
GBEES_NUM void find_kept(const gbees_setup *m, small_block *b, const small_warp *warp, warp_sums *sums)
{
    const number *p = rows_of(m, b->state.current);

#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        const uint32_t slot = 1 + warp->place + i * warp->warps;
        number value[SLICE_CELLS];

        view_row(p, slot, value); /* on their way meanwhile */
        const uint64_t needed = needed_cells(m, b, &warp->brick[i], &b->snapshot[block_warp()][i]);

        for (uint32_t block = (uint32_t)warp_lane(); block < block_count(); block += WARP_SIZE)
            *(uint8_t *)cluster_memory_of(&b->compaction.is_kept[slot], block) = needed != 0;
        if (!needed)
            continue;
        sums->busy = fmax(sums->busy, warp->brick[i].rate);
        sums->outflow += warp_lane() == 0 ? count_bits(needed) : 0;
#pragma unroll
        for (int k = 0; k < SLICE_CELLS; k++)
            sums->mass += gbees_fixed((double)value[k]);
    }
}

/* ---- where they go --------------------------------------------------------------------------------------------- */

/* All keys and the table of what is_kept, and where it was; returns how many there are.  In the order that there is,
 * so that a brick's place is no later than it was. By all of a block. */
GBEES_NUM uint32_t compact_keys(small_block *b)
{
    const uint32_t count = b->count, lower = (1u << warp_lane()) - 1;
    const uint32_t thread = block_warp() * WARP_SIZE + (uint32_t)warp_lane();
    uint32_t total = 0;

    for (uint32_t first = block_warp() * WARP_SIZE; first < count; first += BLOCK_WARPS * WARP_SIZE) {
        const uint32_t slot = 1 + first + (uint32_t)warp_lane();
        const uint32_t votes = warp_ballot(slot <= count && b->compaction.is_kept[slot]);

        if (warp_lane() == 0)
            b->compaction.kept_bits[first / WARP_SIZE] = votes;
    }
    for (uint32_t i = thread; i < SMALL_TABLE; i += BLOCK_WARPS * WARP_SIZE)
        b->table[i] = 0;
    block_sync();
    for (uint32_t first = 0; first < count; first += BLOCK_WARPS * WARP_SIZE) {
        const uint32_t chunk = first / WARP_SIZE + block_warp(), slot = 1 + chunk * WARP_SIZE + (uint32_t)warp_lane();
        uint32_t before = 0;
        small_key key = {{0}};

        total = 0;
        for (uint32_t i = (uint32_t)warp_lane(); i * WARP_SIZE < count; i += WARP_SIZE) {
            const uint32_t here = (uint32_t)count_bits(b->compaction.kept_bits[i]);

            total += here;
            before += i < chunk ? here : 0;
        }
        total = (uint32_t)warp_add((int64_t)total);
        before = (uint32_t)warp_add((int64_t)before);
        const uint32_t is_kept = slot <= count ? b->compaction.kept_bits[chunk] : 0, own = is_kept >> warp_lane() & 1;
        const uint32_t to = before + (uint32_t)count_bits(is_kept & lower) + 1;
        if (own)
            key = b->key[slot];
        block_sync(); /* what is written now has been read: it is no later */
        if (own) {
            small_insert(b, to, key);
            b->compaction.old_slot[to] = (uint16_t)slot;
        }
    }
    block_sync();
    return total;
}

/* The books, by each block's first thread: prune() and count_updates(). */
GBEES_NUM void finish_small_prune(const gbees_setup *m, small_block *b, uint32_t kept)
{
    step_state *k = &b->state;
    const double mass = gbees_fixed_value(k->sums.mass);
    const uint64_t needed = (uint64_t)k->sums.outflow;

    gbees_ledger_prune(&k->run.ledger, mass);
    gbees_work_count(&k->run.work, needed);
    b->count = k->count = k->linked = kept;
    k->current = spare_of(k->current);
    k->sums.max_rate = k->sums.max_active_rate;
    k->stop = !(mass > 0)             ? STOP_EMPTY
              : m->stop_at_prunes     ? STOP_PRUNED
              : kept > m->brick_limit ? STOP_CAPACITY
                                      : STOP_DONE;
    k->goes_on = !k->stop && has_steps_left(k);
}

/* ---- bricks at hand, anew -------------------------------------------------------------------------------------- */

/* Where there is what is to be known of a brick: in the grid's arrays, or where it was before a prune. */
typedef struct brick_source {
    const uint64_t *flow, *active;
    const double *rate;
} brick_source;

GBEES_NUM brick_source source_of_brick(const gbees_setup *m, small_block *b, uint32_t slot, int is_pruned)
{
    brick_source from;

    if (is_pruned) {
        const brick_snapshot *snapshot = snapshot_of(b, b->compaction.old_slot[slot]);

        from.flow = snapshot->flow;
        from.active = &snapshot->active;
        from.rate = &snapshot->rate;
    } else {
        from.flow = m->grid.flow + (size_t)slot * DIRECTIONS;
        from.active = m->grid.active + slot;
        from.rate = m->grid.rate + slot;
    }
    return from;
}

/* All of a warp's: when a launch begins; or after a prune, with their rows, from where these were. */
GBEES_NUM void load_bricks(const gbees_setup *m, small_block *b, small_warp *warp, uint32_t count, int is_pruned,
                           int current)
{
    const number *p = rows_of(m, current);
    number *next = rows_of(m, spare_of(current));

    warp->held = 0;
#pragma unroll 1
    for (uint32_t slot; (slot = 1 + warp->place + warp->held * warp->warps) <= count; warp->held++) {
        const brick_source from = source_of_brick(m, b, slot, is_pruned);
        small_brick *brick = &warp->brick[warp->held];

        for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
            brick->flow[d] = from.flow[d];
        for (int cell = warp_lane(); is_pruned && cell < CELLS; cell += WARP_SIZE)
            next[(size_t)slot * CELLS + (size_t)cell] =
                p[(size_t)b->compaction.old_slot[slot] * CELLS + (size_t)cell];
        init_brick(m, b->key[slot].at, brick);
        if (warp_lane() == 0) {
            brick->active = *from.active;
            brick->rate = *from.rate;
        }
        link_to_neighbors(m, b, brick);
    }
    store_held(b, warp->held, warp->held);
}

#endif
