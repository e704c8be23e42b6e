/* grid.h - the sparse grid: bricks in a heap, found by their multi-index through a hashtable (paper, sections 4.1
 * and 4.2).
 *
 * Heap: `capacity` slots; slot 0 is the null brick, which stands for every absent one and stays empty.
 * Used List: the slots in use, compact, in the order in which bricks are swept.  Free List: a stack of the others.
 * Hashtable: BuzHash, open addressing, linear probing, at most half full; entries are slots, 0 is empty.
 * Neighbours: for each slot the 2n face neighbours' slots, direction 2j down axis j, 2j + 1 up; an array a direction.
 *
 * Bricks are removed by a prune only: mark, scan, compact, rehash.  The grid knows nothing of densities or schemes:
 * arrays that go with the slots are registered, and follow when the heap grows or is put in order.
 */
#ifndef GBEES_CPU_GRID_H
#define GBEES_CPU_GRID_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_PARTS = 128 }; /* of the Used List, at most, that threads take one after the other */
enum { GRID_FIELDS = 32, GRID_ROW = 512 /* bytes, at most */, GRID_KEY_LIMIT = 1 << 25 };

/* An array that goes with the slots. */
typedef struct grid_field {
    void **data;
    size_t size;   /* bytes a slot */
    int transient; /* its content need not survive a prune */
} grid_field;

/* An absent brick: the neighbour of `slot` in direction d, or, f != d, in d and f. */
typedef struct grid_request {
    uint64_t hash; /* of its key */
    uint32_t slot;
    uint8_t d, f;
} grid_request;

/* Those of one part of the bricks, in order. */
typedef struct grid_requests {
    grid_request *request;
    size_t count, capacity;
    int far; /* one is beyond GRID_KEY_LIMIT */
} grid_requests;

typedef struct grid {
    gbees_shape shape;
    int threads;       /* for loops over all bricks, when there are many; at least 1 */
    uint32_t capacity; /* slots in the heap, the null brick included */
    uint32_t count;    /* entries of the Used List */
    uint32_t free_count;
    uint32_t sorted;           /* the first so many used bricks are in order of their keys */
    uint32_t *used;            /* [capacity] */
    uint32_t *free;            /* [capacity] */
    int32_t *key;              /* [capacity][n] */
    uint32_t *neighbor[2 * 8]; /* by direction, [capacity]: sweeps along one axis read two of them */
    uint32_t *table;           /* [table_size] */
    uint64_t table_size;
    uint64_t slot_bytes; /* of the lists and all fields, a slot */
    int field_count;
    grid_field field[GRID_FIELDS];
    uint64_t field_capacity[GRID_FIELDS]; /* slots of each: they differ when memory ran out half way */
    void *scratch; /* of a prune: kept, as memory that is new each time has to be cleared by the system first */
    size_t scratch_size;
    uint64_t peak_bytes;
} grid;

int grid_create(grid *g, int n, int cells, gbees_error *error);
void grid_destroy(grid *g);

/* Makes *data follow the slots: `size` bytes each, GRID_ROW at most. Register before the first insertion. */
int grid_register(grid *g, void **data, size_t size, int transient, gbees_error *error);

/* Second rows of a field, for all slots; they become its own and those that it had are freed. */
void *grid_rows_create(grid *g, void *const *data, gbees_error *error);
void grid_rows_replace(grid *g, void **data, void *rows);

/* The slot of a brick, 0 if it is absent. */
uint32_t grid_find(const grid *g, const int32_t *key);

/* Room for `bricks` more insertions, so that none of them can fail. */
int grid_reserve(grid *g, uint64_t bricks, gbees_error *error);

/* The same, of a key whose hash is known; and what it will read first is asked for: the table's entry, or that
 * entry's key. */
uint64_t grid_hash(const grid *g, const int32_t *key);
uint32_t grid_find_hashed(const grid *g, const int32_t *key, uint64_t hash);
void grid_prefetch_entry(const grid *g, uint64_t hash);
void grid_prefetch_key(const grid *g, uint64_t hash);

/* Inserts an absent brick (room must be there) and links it with its neighbours; its fields are not touched. */
uint32_t grid_insert(grid *g, const int32_t *key);

/* In two parts: many are added one after the other, then used bricks [from, count) are linked by all threads. Until
 * then the neighbours of these bricks, and of those beside them, are not what grid_neighbor() says. */
uint32_t grid_add(grid *g, const int32_t *key, uint64_t hash);
void grid_link(grid *g, uint32_t from);

void grid_request_key(const grid *g, const grid_request *request, int32_t *key);
/* The same as grid_add() for all requests, part by part and each brick once, by all threads. Overwrites their hashes.
 */
int grid_add_requests(grid *g, grid_requests *list, int parts, gbees_error *error);

/* Keeps the used bricks k with keep[k] != 0, frees the others, sorts the bricks by key, moves them to the front of
 * the heap in that order, and rehashes.  Then used[k] == k + 1. Transient fields are left undefined. */
int grid_compact(grid *g, const unsigned char *keep, gbees_error *error);

/* Bytes held now. */
uint64_t grid_bytes(const grid *g);

/* Whether lists, table and neighbours agree; for tests. On failure `text` says what does not. */
int grid_check(const grid *g, char *text, size_t size);

static inline const int32_t *grid_key(const grid *g, uint32_t slot)
{
    return g->key + (size_t)slot * (size_t)g->shape.n;
}

/* The slot of the brick's neighbour in a direction; 0 if there is none. */
static inline uint32_t grid_neighbor(const grid *g, uint32_t slot, int direction)
{
    return g->neighbor[direction][slot];
}

/* The first bricks of pencils along an axis, those without a lower neighbour, of used bricks [from, to): returns how
 * many. first: room for all. */
static inline uint32_t grid_pencils(const grid *g, int axis, uint32_t from, uint32_t to, uint32_t *first)
{
    const uint32_t *below = g->neighbor[2 * axis];
    uint32_t count = 0;

    for (uint32_t k = from; k < to; k++) {
        first[count] = g->used[k];
        count += below[g->used[k]] == 0;
    }
    return count;
}

#endif
