/* table.h - bricks by their multi-index: the paper's hashtable, filled by compare-and-swap. */
#ifndef GBEES_CUDA_TABLE_H
#define GBEES_CUDA_TABLE_H

#include "cells.h"
#include "numerics/buzhash.h"

GBEES_NUM int same_key(const int32_t *stored, const int32_t *key)
{
    int same = 1;

    for (int k = 0; k < DIM; k++)
        same &= fresh_key(stored + k) == key[k];
    return same;
}

/* The slot of a brick, 0 if it is absent. No one inserts meanwhile. */
GBEES_NUM uint32_t table_find(const gbees_setup *m, const int32_t *key)
{
    for (uint64_t at = gbees_buzhash(key, DIM);; at++) {
        uint32_t slot = m->grid.table[at & m->grid.table_mask];

        if (slot == TABLE_EMPTY)
            return 0;
        if (slot < TABLE_DEAD && same_key(m->grid.key + (size_t)slot * DIM, key))
            return slot;
    }
}

/* A new brick's slot and key; its entry stays dead if there is no room. */
GBEES_NUM uint32_t take_slot(const gbees_setup *m, gbees_state *s, const int32_t *key)
{
    uint32_t slot = atomic_add_32(&s->count, 1) + 1;

    if (slot >= m->grid.capacity) {
        publish_32(&s->overflow, 1);
        return TABLE_DEAD;
    }
    for (int k = 0; k < DIM; k++) {
        m->grid.key[(size_t)slot * DIM + (size_t)k] = key[k];
        if (key[k] >= STATE_KEY_LIMIT || key[k] <= -STATE_KEY_LIMIT)
            publish_32(&s->far_axis, (uint32_t)k + 1);
    }
    return slot;
}

/* Inserts a brick unless it is there. Many threads at once. */
GBEES_NUM void table_insert(const gbees_setup *m, gbees_state *s, const int32_t *key)
{
    if (fresh_32(&s->overflow)) /* the host makes room first */
        return;
    for (uint64_t at = gbees_buzhash(key, DIM);; at++) {
        uint32_t *entry = &m->grid.table[at & m->grid.table_mask];
        uint32_t slot = fresh_32(entry);

        if (slot == TABLE_EMPTY) {
            slot = atomic_swap_if(entry, TABLE_EMPTY, TABLE_TAKEN);
            if (slot == TABLE_EMPTY) {
                publish_32(entry, take_slot(m, s, key));
                return;
            }
        }
        while (slot == TABLE_TAKEN) /* the other one writes its key, which takes no lock */
            slot = fresh_32(entry);
        after_fresh();
        if (slot < TABLE_DEAD && same_key(m->grid.key + (size_t)slot * DIM, key))
            return;
    }
}

/* Enters a brick that has a slot, into a table without it. */
GBEES_NUM void table_enter(const gbees_setup *m, uint32_t slot)
{
    const int32_t *stored = m->grid.key + (size_t)slot * DIM;
    int32_t key[DIM];

    for (int k = 0; k < DIM; k++)
        key[k] = stored[k];
    for (uint64_t at = gbees_buzhash(key, DIM);; at++)
        if (atomic_swap_if(&m->grid.table[at & m->grid.table_mask], TABLE_EMPTY, slot) == TABLE_EMPTY)
            return;
}

#endif
