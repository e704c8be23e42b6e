/* share.h - a grid that several GPUs share: each has the bricks of a box, and ghosts beside it, copies of its
 * neighbours' bricks (doc/cluster.md).
 *
 * Own bricks are in slots 1 .. count, as ever; ghosts are in slots first_ghost .. first_ghost + ghosts - 1. So passes
 * over the bricks are over own ones, and links lead to ghosts as to any brick.
 */
#ifndef GBEES_CUDA_SHARE_H
#define GBEES_CUDA_SHARE_H

#include "device/shrink.h"

/* Lanes go through `count` entries: the first one of this lane, and the distance to its next. */
GBEES_NUM uint64_t first_entry(void)
{
    return (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane();
}

GBEES_NUM uint64_t entry_stride(void)
{
    return (uint64_t)warp_count() * WARP_SIZE;
}

/* Where a brick lies beside a box: NEAR_INSIDE; outside of it along axis j alone, at most layers[j] bricks away: j;
 * along several axes: DIM; further away: NEAR_NONE. */
GBEES_NUM int class_beside(const gbees_setup *m, const gbees_key_box *box, uint32_t slot)
{
    int outside = 0, class_of_it = NEAR_INSIDE;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        const int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)j];
        const int64_t below = (int64_t)box->low[j] - key, above = (int64_t)key - box->high[j] + 1;
        const int64_t away = below > 0 ? below : above > 0 ? above : 0;

        if (away > box->layers[j])
            return NEAR_NONE;
        class_of_it = away ? j : class_of_it;
        outside += away > 0;
    }
    return outside > 1 ? DIM : class_of_it;
}

/* Appends the slots of the own bricks from + 1 .. that lie beside a box, or in it, to the list of their class, in any
 * order. used[class] counts all of a list, also those behind its end. By whole warps. */
GBEES_NUM void select_pass(const gbees_setup *m, const gbees_state *s, const gbees_key_box *box,
                           const gbees_slot_lists *lists, uint32_t from, uint32_t *used)
{
    const uint64_t last = s->count;

    for (uint64_t first = from + 1 + (uint64_t)warp_index() * WARP_SIZE; first <= last; first += entry_stride()) {
        const uint64_t slot = first + (uint64_t)warp_lane();
        const int near = slot <= last ? class_beside(m, box, (uint32_t)slot) : NEAR_NONE;
        const int list = lists->inside ? (near == NEAR_INSIDE ? 0 : NEAR_NONE) : near;

        if (!warp_any(list >= 0))
            continue;
        for (int k = 0; k <= (lists->inside ? 0 : DIM); k++) {
            const uint32_t votes = warp_ballot(list == k);
            uint32_t at = 0;

            if (votes && warp_lane() == 0)
                at = atomic_fetch_add_32(&used[k], (uint32_t)count_bits(votes));
            at = warp_shuffle(at, 0) + (uint32_t)count_bits(votes & ((1u << warp_lane()) - 1));
            if (list == k && at < lists->size[k])
                lists->slots[k][at] = (uint32_t)slot;
        }
    }
}

/* Copies the keys of a list's bricks to keys[count][DIM]. */
GBEES_NUM void keys_pass(const gbees_setup *m, const uint32_t *list, uint32_t count, int32_t *keys)
{
    for (uint64_t i = first_entry(); i < count; i += entry_stride())
#pragma unroll
        for (int k = 0; k < DIM; k++)
            keys[i * DIM + (uint64_t)k] = m->grid.key[(size_t)list[i] * DIM + (size_t)k];
}

/* The keys of the bricks in slots 1, 1 + stride, ... */
GBEES_NUM void sample_pass(const gbees_setup *m, const gbees_state *s, uint32_t stride, int32_t *keys)
{
    for (uint64_t i = first_entry(); i * stride < s->count; i += entry_stride())
#pragma unroll
        for (int k = 0; k < DIM; k++)
            keys[i * DIM + (uint64_t)k] = m->grid.key[(size_t)(1 + i * stride) * DIM + (size_t)k];
}

/* Inserts bricks by keys[count][DIM], own ones or ghosts, unless they are there; slots, unless NULL: where they are.
 */
GBEES_NUM void insert_pass(const gbees_setup *m, gbees_state *s, const int32_t *keys, uint32_t count, uint32_t *slots)
{
    for (uint64_t i = first_entry(); i < count; i += entry_stride()) {
        const near_key key = {keys + i * DIM, -1, -1};
        const uint32_t slot = table_insert(m, s, key);

        if (slots)
            slots[i] = slot;
    }
    warp_sync();
}

/* Copies rows of cells from a list's slots to buffer[count][CELLS], or back. A warp takes a row. */
GBEES_NUM void copy_rows_pass(number *rows, const uint32_t *list, uint32_t count, number *buffer, int to_slots)
{
    for (uint64_t i = warp_index(); i < count; i += warp_count()) {
        number *row = rows + (size_t)list[i] * CELLS, *packed = buffer + i * CELLS;

        for (int cell = warp_lane(); cell < CELLS; cell += WARP_SIZE) {
            if (to_slots)
                row[cell] = packed[cell];
            else
                packed[cell] = row[cell];
        }
    }
}

/* The same for the active cells. */
GBEES_NUM void copy_marks_pass(const gbees_setup *m, const uint32_t *list, uint32_t count, uint64_t *buffer,
                               int to_slots)
{
    for (uint64_t i = first_entry(); i < count; i += entry_stride()) {
        if (to_slots)
            m->grid.active[list[i]] = buffer[i];
        else
            buffer[i] = m->grid.active[list[i]];
    }
}

/* Links of all own bricks anew, once the hash table has no ghosts. */
GBEES_NUM void relink_pass(const gbees_setup *m, uint32_t count)
{
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
        link_brick(m, slot);
}

/* Marks the bricks inside the own box as needed, all others as not. */
GBEES_NUM void stay_pass(const gbees_setup *m, const gbees_key_box *own, uint32_t count)
{
    for (uint64_t slot = 1 + first_entry(); slot <= count; slot += entry_stride())
        m->grid.needed[slot] = class_beside(m, own, (uint32_t)slot) == NEAR_INSIDE;
}

#endif
