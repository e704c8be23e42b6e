/* prune.h - a prune of a small grid: finds the needed cells, drops the bricks that have none, and moves the others to
 * slots 1, 2, ..., all in shared memory. (shrink.h has that of a grid of any size.)
 *
 *   phase                               who, reads -> writes
 *   take_snapshots()                    each warp: its bricks, P -> snapshots
 *   -- cluster barrier --
 *   find_kept()                         each warp: its neighbours' snapshots in other blocks -> is_kept in all blocks
 *   report_pass(), -- cluster barrier --
 *   compact_keys()                      each block: is_kept -> keys, hash table and old slots of its own
 *   finish_small_prune()                each block's first thread: the sums of all blocks -> the step state
 *   load_bricks()                       each warp: snapshots in other blocks, P -> its new bricks, P's other array
 *
 * Whether a cell is needed is computed by the warp that has it, from the cells upwind of it. mark_downwind() marks
 * cells from those upwind of them; here blocks would then have to change each other's memory by atomics.
 */
#ifndef GBEES_CUDA_SMALL_PRUNE_H
#define GBEES_CUDA_SMALL_PRUNE_H

#include "device/prune.h"
#include "device/small/grow.h"

/* ---- which bricks are kept ------------------------------------------------------------------------------------- */

/* The snapshot of the brick in a slot, in the shared memory of the block that has it: the inverse of warp_place() and
 * slot_of(). */
GBEES_NUM const brick_snapshot *snapshot_of(small_block *b, uint32_t slot)
{
    /* A cluster has 8 blocks or 16: shifts in place of divisions. */
    const uint32_t row = (slot - 1) >> lowest_bit(block_count()), block = (slot - 1) & (block_count() - 1);
    const uint32_t warp = BLOCK_WARPS - 1 - row % BLOCK_WARPS;

    return (const brick_snapshot *)cluster_memory_of(&b->snapshot[warp][row / BLOCK_WARPS], block);
}

/* Copies flow and rate of this warp's bricks to their snapshots, with the cells that are active now. Other blocks may
 * read them after the next barrier. By each warp. */
GBEES_NUM void take_snapshots(const gbees_setup *m, small_block *b, const small_warp *warp)
{
    const number *p = rows_of(m, b->state.current);
    const number threshold = least_above(m->threshold * b->state.run.ledger.mass);

#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        const number *row = p + (size_t)slot_of(warp, i) * CELLS;
        const small_brick *brick = &warp->brick[i];
        brick_snapshot *snapshot = &b->snapshot[block_warp()][i];

        for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
            snapshot->flow[d] = brick->flow[d];
        if (warp_lane() == 0)
            snapshot->rate = brick->rate;
#pragma unroll
        for (int first = 0; first < CELLS; first += WARP_SIZE)
            put_ballot(&snapshot->active, first, warp_ballot(row[first + warp_lane()] >= threshold));
    }
}

/* The active cells of a brick that probability leaves in both directions. */
GBEES_NUM uint64_t flow_of_snapshot(const brick_snapshot *snapshot, int d, int f)
{
    return snapshot->active & snapshot->flow[d] & snapshot->flow[f];
}

/* The active cells of the brick in a slot that probability leaves in both directions; none if slot is 0. */
GBEES_NUM uint64_t flow_of_slot(small_block *b, uint32_t slot, int d, int f)
{
    return slot ? flow_of_snapshot(snapshot_of(b, slot), d, f) : 0;
}

/* The cells of a brick that are one cell downwind, in direction d, of the cells `own` in it, or of the cells `upwind`
 * in the brick beside it on the upwind side. */
GBEES_NUM uint64_t cells_downwind(const gbees_shape *shape, uint64_t own, uint64_t upwind, int d)
{
    return gbees_shape_inside(shape, own, d) | gbees_shape_across(shape, upwind, d);
}

/* The needed cells of a brick: the active ones, and those downwind of active ones in one direction or two, in this
 * brick or in those upwind. The brick upwind in both directions counts only if the one upwind in f is there: it is
 * that one's neighbour, as in mark_downwind(). By a warp, a pair of directions a lane. */
GBEES_NUM uint64_t needed_cells(const gbees_setup *m, small_block *b, const small_brick *brick,
                                const brick_snapshot *snapshot)
{
    const gbees_shape *shape = &m->shape;
    uint64_t needed = 0;

#pragma unroll 1
    for (int which = warp_lane(); which < PAIRS; which += WARP_SIZE) {
        const direction_pair *pair = &b->pair[which];
        const int d = pair->d, f = pair->f, has_two = f != d;
        const uint32_t upwind_d = brick->link[d ^ 1], upwind_f = has_two ? brick->link[f ^ 1] : 0;
        const uint32_t upwind_both = upwind_f ? small_find(b, neighbor_key(brick->key, pair->offset, -1)) : 0;
        const uint64_t flow = flow_of_snapshot(snapshot, d, f), flow_d = flow_of_slot(b, upwind_d, d, f);
        const uint64_t flow_f = flow_of_slot(b, upwind_f, d, f), flow_both = flow_of_slot(b, upwind_both, d, f);
        const uint64_t here = cells_downwind(shape, flow, flow_d, d);
        const uint64_t beside = cells_downwind(shape, flow_f, flow_both, d); /* in the brick upwind in f */

        needed |= has_two ? cells_downwind(shape, here, beside, f) : here;
    }
    return warp_or(needed) | snapshot->active;
}

/* Stores in all blocks whether each brick of this warp is kept. Adds the kept bricks' mass to sums->mass, updates
 * sums->max_active_rate by their largest rate, and adds the number of needed cells to sums->outflow: so all three are
 * reported as the sums of a step are. By each warp. */
GBEES_NUM void find_kept(const gbees_setup *m, small_block *b, const small_warp *warp, warp_sums *sums)
{
    const number *p = rows_of(m, b->state.current);

#pragma unroll 1
    for (uint32_t i = 0; i < warp->held; i++) {
        const uint32_t slot = slot_of(warp, i);
        number value[SLICE_CELLS];

        view_row(p, slot, value); /* loaded while the snapshots are read */
        const uint64_t needed = needed_cells(m, b, &warp->brick[i], &b->snapshot[block_warp()][i]);

        for (uint32_t block = (uint32_t)warp_lane(); block < block_count(); block += WARP_SIZE)
            *(uint8_t *)cluster_memory_of(&b->kept.is_kept[slot], block) = needed != 0;
        if (!needed)
            continue;
        sums->max_active_rate = fmax(sums->max_active_rate, warp->brick[i].rate);
        sums->outflow += warp_lane() == 0 ? count_bits(needed) : 0;
#pragma unroll
        for (int k = 0; k < SLICE_CELLS; k++)
            sums->mass += gbees_fixed((double)value[k]);
    }
}

/* ---- compaction ------------------------------------------------------------------------------------------------ */

/* Packs is_kept into words of WARP_SIZE bits, and empties the hash table. By a block. */
GBEES_NUM void pack_kept(small_block *b)
{
    const uint32_t thread = block_warp() * WARP_SIZE + (uint32_t)warp_lane();

    for (uint32_t first = block_warp() * WARP_SIZE; first < b->count; first += BLOCK_WARPS * WARP_SIZE) {
        const uint32_t slot = 1 + first + (uint32_t)warp_lane();
        const uint32_t bits = warp_ballot(slot <= b->count && b->kept.is_kept[slot]);

        if (warp_lane() == 0)
            b->kept.kept_bits[first / WARP_SIZE] = bits;
    }
    for (uint32_t i = thread; i < SMALL_TABLE; i += BLOCK_WARPS * WARP_SIZE)
        b->table[i] = 0;
}

/* Moves the keys of kept bricks to the slots 1, 2, ... in the order that they have, inserts them in the hash table,
 * and stores their old slots. Returns how many they are. By each block, which computes the prefix sums of kept bricks
 * for itself. */
GBEES_NUM uint32_t compact_keys(small_block *b)
{
    const uint32_t count = b->count, lower = (1u << warp_lane()) - 1;
    uint32_t total = 0;

    pack_kept(b);
    block_sync();
    for (uint32_t first = 0; first < count; first += BLOCK_WARPS * WARP_SIZE) {
        const uint32_t word = first / WARP_SIZE + block_warp(), slot = 1 + word * WARP_SIZE + (uint32_t)warp_lane();
        uint32_t before = 0;
        small_key key = {{0}};

        total = 0;
        for (uint32_t i = (uint32_t)warp_lane(); i * WARP_SIZE < count; i += WARP_SIZE) {
            const uint32_t here = (uint32_t)count_bits(b->kept.kept_bits[i]);

            total += here;
            before += i < word ? here : 0;
        }
        total = (uint32_t)warp_add((int64_t)total);
        before = (uint32_t)warp_add((int64_t)before);
        const uint32_t bits = slot <= count ? b->kept.kept_bits[word] : 0, is_kept = bits >> warp_lane() & 1;
        const uint32_t to = before + (uint32_t)count_bits(bits & lower) + 1;
        if (is_kept)
            key = b->key[slot];
        block_sync(); /* a new slot is never above the old one: all keys that are overwritten now have been read */
        if (is_kept) {
            small_insert(b, to, key);
            b->kept.old_slot[to] = (uint16_t)slot;
        }
    }
    block_sync();
    return total;
}

/* Enters the prune into the ledger and the count of work, and decides whether steps follow. By each block's first
 * thread. */
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

/* ---- a warp's bricks ------------------------------------------------------------------------------------------- */

/* Where a brick is loaded from: the grid's arrays, or a snapshot. */
typedef struct brick_source {
    const uint64_t *flow, *active;
    const double *rate;
} brick_source;

/* The source of a brick: after a prune the snapshot of its old slot, else the grid's arrays. */
GBEES_NUM brick_source source_of_brick(const gbees_setup *m, small_block *b, uint32_t slot, int is_pruned)
{
    brick_source from;

    if (is_pruned) {
        const brick_snapshot *snapshot = snapshot_of(b, b->kept.old_slot[slot]);

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

/* Loads all bricks of this warp, and links them: when a launch begins from the grid's arrays, after a prune from the
 * snapshots of the old slots. After a prune also copies their cells, from rows `current` to the other array. By each
 * warp. */
GBEES_NUM void load_bricks(const gbees_setup *m, small_block *b, small_warp *warp, uint32_t count, int is_pruned,
                           int current)
{
    const number *p = rows_of(m, current);
    number *next = rows_of(m, spare_of(current));

    warp->held = 0;
#pragma unroll 1
    for (uint32_t slot; (slot = slot_of(warp, warp->held)) <= count; warp->held++) {
        const brick_source from = source_of_brick(m, b, slot, is_pruned);
        small_brick *brick = &warp->brick[warp->held];

        for (int d = warp_lane(); d < DIRECTIONS; d += WARP_SIZE)
            brick->flow[d] = from.flow[d];
        for (int cell = warp_lane(); is_pruned && cell < CELLS; cell += WARP_SIZE)
            next[(size_t)slot * CELLS + (size_t)cell] = p[(size_t)b->kept.old_slot[slot] * CELLS + (size_t)cell];
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
