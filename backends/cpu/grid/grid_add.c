/* grid_add.c - inserts requested bricks by all threads.
 *
 * A brick may be requested several times, and its slot must be the same for every number of threads: the one that it
 * would have if bricks were inserted one by one.  So each request gets a free slot of its own, in the order of the
 * requests, and enters it into the table unless a lower slot with the same key is there: of all requests for a brick
 * the one with the lowest slot stays.  Then these are counted, and a prefix sum of the counts gives them consecutive
 * slots.
 */
#include "grid.h"
#include "grid_private.h"
#include <string.h>

static const uint64_t NONE = UINT64_MAX; /* in place of a table entry: another request for this brick stays */

void grid_request_key(const grid *g, const grid_request *request, int32_t *key)
{
    gbees_key_move(&g->shape, grid_key(g, request->slot), request->d, request->f, key);
}

/* Free slot number 0, 1, ..., in the order in which grid_add() takes them. */
static uint32_t free_slot(const grid *g, uint64_t number)
{
    return g->free[g->free_count - 1 - number];
}

/* Returns the first entry from `at` on that has a slot with the same key, or is empty, and sets *found to what is in
 * it.  Other threads change entries from empty to a slot, or to another slot with the same key, and never back: so
 * entries that have been passed need not be read again. */
static uint64_t find_entry(const grid *g, uint64_t at, uint32_t slot, uint32_t *found)
{
    const uint64_t mask = g->table_size - 1;
    const int32_t *key = grid_key(g, slot);

    for (at &= mask;; at = (at + 1) & mask) {
        *found = __atomic_load_n(&g->table[at], __ATOMIC_ACQUIRE);
        if (!*found || grid_same_key(g, grid_key(g, *found), key))
            return at;
    }
}

/* Enters a slot, whose key has been stored, unless a lower slot with that key is there; returns the entry. */
static uint64_t claim_entry(grid *g, uint64_t hash, uint32_t slot)
{
    uint32_t found;
    uint64_t at = find_entry(g, hash, slot, &found);

    while (!found || found > slot) {
        if (__atomic_compare_exchange_n(&g->table[at], &found, slot, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            break;
        at = find_entry(g, at, slot, &found);
    }
    return at;
}

/* Enters free slots for the requests of a part, numbers `number` and later, and replaces the requests' hashes by the
 * entries. */
static void claim_all(grid *g, const grid_requests *list, uint64_t number)
{
    enum { AHEAD = 16 };

    for (size_t k = 0; k < list->count; k++) {
        const uint32_t slot = free_slot(g, number + k);

        if (k + AHEAD < list->count)
            grid_prefetch_entry(g, list->request[k + AHEAD].hash);
        grid_request_key(g, &list->request[k], grid_own_key(g, slot));
        list->request[k].hash = claim_entry(g, list->request[k].hash, slot);
    }
}

/* Counts the requests of a part whose slots have stayed in the table, and sets the entries of the others to NONE. */
static uint32_t count_winners(const grid *g, const grid_requests *list, uint64_t number)
{
    uint32_t winners = 0;

    for (size_t k = 0; k < list->count; k++) {
        const int wins = g->table[list->request[k].hash] == free_slot(g, number + k);

        winners += wins != 0;
        list->request[k].hash = wins ? list->request[k].hash : NONE;
    }
    return winners;
}

/* Inserts the bricks of a part's requests that have stayed, with free slots `number` and later. */
static void insert_winners(grid *g, const grid_requests *list, uint32_t number)
{
    for (size_t k = 0; k < list->count; k++) {
        const grid_request *request = &list->request[k];

        if (request->hash == NONE)
            continue;
        const uint32_t slot = free_slot(g, number);
        grid_request_key(g, request, grid_own_key(g, slot));
        g->table[request->hash] = slot;
        g->used[g->count + number++] = slot;
    }
}

int grid_add_requests(grid *g, grid_requests *list, int parts, gbees_error *error)
{
    uint64_t requests[GRID_PARTS];
    uint32_t bricks[GRID_PARTS], total = 0;
    uint64_t all = 0;

    for (int part = 0; part < parts; part++) {
        requests[part] = all;
        all += list[part].count;
    }
    int status = grid_reserve(g, all, error);
    if (status)
        return status;
#pragma omp parallel num_threads(g->threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int part = 0; part < parts; part++)
            claim_all(g, &list[part], requests[part]);
#pragma omp for schedule(dynamic, 1)
        for (int part = 0; part < parts; part++)
            bricks[part] = count_winners(g, &list[part], requests[part]);
#pragma omp single
        for (int part = 0; part < parts; part++) {
            const uint32_t winners = bricks[part];

            bricks[part] = total;
            total += winners;
        }
#pragma omp for schedule(dynamic, 1)
        for (int part = 0; part < parts; part++)
            insert_winners(g, &list[part], bricks[part]);
    }
    g->count += total;
    g->free_count -= total;
    grid_note_peak(g, 0);
    return 0;
}
