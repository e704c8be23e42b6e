/* ranks.h - passes over the bricks of a grid that several GPUs share (doc/cluster.md): which bricks lie where beside
 * a box, and copies of their keys, rows and active cells for messages to other GPUs.
 *
 * Each GPU owns the bricks in a box, in slots 1 .. count, and has ghosts, copies of other GPUs' bricks near that box,
 * in slots first_ghost .. first_ghost + ghosts - 1. Passes over the slots 1 .. count are over own bricks only; links
 * lead to ghosts as to any brick. The host calls these passes between those of a step (cuda/engine/ranks.h).
 */
#ifndef GBEES_CUDA_DEVICE_RANKS_H
#define GBEES_CUDA_DEVICE_RANKS_H

#include "device/shrink.h"

/* The lanes of all warps go through a list together: the first entry of this lane. */
GBEES_NUM uint64_t first_entry(void)
{
    return (uint64_t)warp_index() * WARP_SIZE + (uint64_t)warp_lane();
}

/* The distance from an entry of this lane to its next one: the number of all lanes. */
GBEES_NUM uint64_t entry_stride(void)
{
    return (uint64_t)warp_count() * WARP_SIZE;
}

/* The class of a brick beside a box: NEAR_INSIDE in it; j outside of it along axis j alone; DIM outside along several
 * axes; NEAR_NONE more than layers[j] bricks away along an axis j. */
GBEES_NUM int class_beside(const gbees_setup *m, const gbees_key_box *box, uint32_t slot)
{
    int outside = 0, class_of_it = NEAR_INSIDE;

#pragma unroll
    for (int j = 0; j < DIM; j++) {
        const int32_t key = m->grid.key[(size_t)slot * DIM + (size_t)j];
        const int64_t away = gbees_key_outside(key, box->low[j], box->high[j]);

        if (away > box->layers[j])
            return NEAR_NONE;
        class_of_it = away ? j : class_of_it;
        outside += away > 0;
    }
    return outside > 1 ? DIM : class_of_it;
}

/* Appends the slots of own bricks from + 1 .. count to the list of their class beside a box (lists->inside: to list
 * 0, if they are in the box), in any order, and adds their number to used[class], where the list ends. A list that is
 * too short gets as many as fit; used[class] counts all, so that the host knows the length that it needs. By whole
 * warps. */
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

/* Copies the keys of the own bricks in slots 1, 1 + stride, ... to keys[..][DIM]. */
GBEES_NUM void sample_pass(const gbees_setup *m, const gbees_state *s, uint32_t stride, int32_t *keys)
{
    for (uint64_t i = first_entry(); i * stride < s->count; i += entry_stride())
#pragma unroll
        for (int k = 0; k < DIM; k++)
            keys[i * DIM + (uint64_t)k] = m->grid.key[(size_t)(1 + i * stride) * DIM + (size_t)k];
}

/* Inserts the bricks with keys[count][DIM], own ones or ghosts, unless they are there, and stores their slots in
 * slots[count] unless that is NULL. */
GBEES_NUM void insert_pass(const gbees_setup *m, gbees_state *s, const int32_t *keys, uint32_t count, uint32_t *slots)
{
    for (uint64_t i = first_entry(); i < count; i += entry_stride()) {
        const near_key key = {keys + i * DIM, -1, -1, &m->shape};
        const uint32_t slot = table_insert(m, s, key);

        if (slots)
            slots[i] = slot;
    }
    warp_sync();
}

/* Copies the rows of the bricks in list[count] to buffer[count][CELLS], or with to_slots from there to the rows. A
 * warp copies a row. */
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

/* Copies the active cells of the bricks in list[count] to buffer[count], or with to_slots from there. */
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

/* Sets the links of all own bricks anew. The hash table has no ghosts, so that no link leads to one. */
GBEES_NUM void relink_pass(const gbees_setup *m, uint32_t count)
{
    for (uint32_t slot = 1 + warp_index(); slot <= count; slot += warp_count())
        link_brick(m, slot);
}

/* Sets `needed` of the own bricks: not 0 in the box, 0 outside, as they belong to other ranks. The prune after it
 * drops the latter. */
GBEES_NUM void stay_pass(const gbees_setup *m, const gbees_key_box *own, uint32_t count)
{
    for (uint64_t slot = 1 + first_entry(); slot <= count; slot += entry_stride())
        m->grid.needed[slot] = class_beside(m, own, (uint32_t)slot) == NEAR_INSIDE;
}

#endif
