/* table.h - the hash table that finds a brick's slot by its multi-index (key): open addressing, linear probing,
 * insertion by compare-and-swap. */
#ifndef GBEES_CUDA_TABLE_H
#define GBEES_CUDA_TABLE_H

#include "device/cells.h"
#include "numerics/buzhash.h"
#include "numerics/neighbour.h"

/* The key (multi-index) of a brick (d = f = -1), or of its neighbour in direction d and, unless f == d, f. Components
 * are computed when they are needed, since an array of them would take registers. */
typedef struct near_key {
    const int32_t *brick;
    int d, f;
    const gbees_shape *shape; /* with GBEES_CLOSED: its axes */
} near_key;

enum {
    KEY_TOGETHER = DIM <= 4 ? DIM : 1, /* components of a stored key that are loaded at once */
    LONG_PROBE = 8                     /* entries: a long way in a table that is at most half full */
};

/* Makes such a key, for the brick in a slot. */
GBEES_NUM near_key key_near(const gbees_setup *m, uint32_t slot, int d, int f)
{
    near_key key = {m->grid.key + (size_t)slot * DIM, d, f, GBEES_CLOSED ? &m->shape : NULL};

    return key;
}

/* Component k of a key. */
GBEES_NUM int32_t key_number(near_key key, int k)
{
    /* A plain load suffices: this brick was inserted in an earlier pass. */
    return GBEES_CLOSED ? gbees_key_beside(key.shape, key.brick[k], k, key.d, key.f)
                        : gbees_key_step(key.brick[k], k, key.d, key.f);
}

/* The hash of a key: gbees_buzhash(). */
GBEES_NUM uint64_t key_hash(near_key key)
{
    uint64_t hash = 0;

#pragma unroll(KEY_TOGETHER)
    for (int k = 0; k < DIM; k++)
        hash = (hash << 1 | hash >> 63) ^ gbees_buzhash_symbol(key_number(key, k));
    return hash;
}

/* Whether a key is that of the brick in a slot. */
GBEES_NUM int is_key_of(const gbees_setup *m, uint32_t slot, near_key key)
{
    const int32_t *stored = m->grid.key + (size_t)slot * DIM;
    int same = 1;

#pragma unroll(KEY_TOGETHER)
    for (int k = 0; k < DIM && (same || KEY_TOGETHER > 1); k++)
        same &= load_key(stored + k) == key_number(key, k);
    return same;
}

/* The slot of a brick; 0: it is absent. No bricks may be inserted meanwhile. */
GBEES_NUM uint32_t table_find(const gbees_setup *m, near_key key)
{
    for (uint64_t at = key_hash(key);; at++) {
        uint32_t slot = m->grid.table[at & m->grid.table_mask];

        if (slot == TABLE_EMPTY)
            return 0;
        if (slot < TABLE_DEAD && is_key_of(m, slot, key))
            return slot;
    }
}

/* Takes the next slot; if ranks share the grid, the next one of own bricks or of ghosts, by the key. Returns 0 if
 * there is none.
 */
GBEES_NUM uint32_t next_slot(const gbees_setup *m, gbees_state *s, near_key key)
{
    uint32_t slot, end = m->grid.capacity;
#if GBEES_SHARED
    int is_own = 1;

#pragma unroll(KEY_TOGETHER)
    for (int k = 0; k < DIM; k++) {
        const int32_t index = key_number(key, k);

        is_own &= index >= m->low[k] && index < m->high[k];
    }
    if (!is_own) {
        slot = m->first_ghost + atomic_fetch_add_32(&s->ghosts, 1);
        return slot < end ? slot : 0;
    }
    end = m->first_ghost < end ? m->first_ghost : end;
#else
    (void)key;
#endif
    slot = atomic_fetch_add_32(&s->count, 1) + 1;
    return slot < end ? slot : 0;
}

/* Takes a slot for a new brick and stores its key. Returns TABLE_DEAD if the capacity is exceeded; reports this, and
 * a key beyond the limit, in the state. */
GBEES_NUM uint32_t take_slot(const gbees_setup *m, gbees_state *s, near_key key)
{
    uint32_t slot = next_slot(m, s, key), far_axis = 0;

    if (!slot) {
        store_32(&s->overflow, 1);
        return TABLE_DEAD;
    }
#pragma unroll(KEY_TOGETHER)
    for (int k = 0; k < DIM; k++) {
        int32_t index = key_number(key, k);

        m->grid.key[(size_t)slot * DIM + (size_t)k] = index;
        far_axis = index >= STATE_KEY_LIMIT || index <= -STATE_KEY_LIMIT ? (uint32_t)k + 1 : far_axis;
    }
    if (far_axis)
        store_32(&s->far_axis, far_axis);
    return slot;
}

/* Inserts a brick unless it is there already, and returns its slot; 0 or TABLE_DEAD: the heap is full. Many threads
 * may call it at once: an entry changes from TABLE_EMPTY to TABLE_TAKEN by compare-and-swap, and to the slot when the
 * slot's key has been stored. There is no load before the compare-and-swap, as the entry is empty most often. */
GBEES_NUM uint32_t table_insert(const gbees_setup *m, gbees_state *s, near_key key)
{
    const uint64_t hash = key_hash(key);

    for (uint64_t probe = 0;; probe++) {
        uint32_t *entry = &m->grid.table[(hash + probe) & m->grid.table_mask];

        if (probe >= LONG_PROBE && load_32(&s->overflow)) /* the host will enlarge the table first */
            return 0;
        uint32_t slot = atomic_cas_32(entry, TABLE_EMPTY, TABLE_TAKEN);
        if (slot == TABLE_EMPTY) {
            slot = take_slot(m, s, key);
            store_release_32(entry, slot);
            return slot;
        }
        while (slot == TABLE_TAKEN) /* another thread is storing the key, and waits for none */
            slot = load_acquire_32(entry);
        if (slot < TABLE_DEAD && is_key_of(m, slot, key))
            return slot;
    }
}

/* Enters a brick that has a slot and is not in the table. Many threads may call it at once. */
GBEES_NUM void table_enter(const gbees_setup *m, uint32_t slot, near_key key)
{
    for (uint64_t at = key_hash(key);; at++)
        if (atomic_cas_32(&m->grid.table[at & m->grid.table_mask], TABLE_EMPTY, slot) == TABLE_EMPTY)
            return;
}

#endif
