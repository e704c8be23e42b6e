/* grid.h - the sparse grid: bricks in a heap, found by their multi-index (key) through a hash table (paper, sections
 * 4.1 and 4.2).
 *
 * Heap: `capacity` slots; slot 0 is the null brick, which stands for every absent one and stays empty.
 * Used List: the slots in use, compact, in the order in which bricks are swept.  Free List: a stack of the others.
 * Hash table: BuzHash, open addressing, linear probing, at most half full; entries are slots, 0 is empty.
 * Neighbours: for each slot the 2n face neighbours' slots, direction 2j down axis j, 2j + 1 up; an array a direction.
 *
 * Bricks are removed by a prune only: mark, scan, compact, rehash.  The grid does not depend on densities or schemes:
 * their arrays, with an element or a row a slot, are registered, and move with the slots when the heap grows or is
 * sorted.
 */
#ifndef GBEES_CPU_GRID_H
#define GBEES_CPU_GRID_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_PARTS = 128 }; /* the most parts of the Used List that threads take one after the other */
enum { GRID_FIELDS = 32, GRID_ROW = 512 /* bytes, at most */, GRID_KEY_LIMIT = 1 << 25 };

/* An array with an element or a row a slot. */
typedef struct grid_field {
    void **data;
    size_t size;   /* bytes a slot */
    int transient; /* a prune may leave its content undefined */
} grid_field;

/* A request to insert an absent brick: the neighbour of `slot` in direction d, or, if f != d, in d and f. */
typedef struct grid_request {
    uint64_t hash; /* of its key */
    uint32_t slot;
    uint8_t d, f;
} grid_request;

/* The requests of one part of the bricks, in order. */
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
    uint32_t sorted;           /* so many of the first used bricks are sorted by key */
    uint32_t *used;            /* [capacity] */
    uint32_t *free;            /* [capacity] */
    int32_t *key;              /* [capacity][n] */
    uint32_t *neighbor[2 * 8]; /* by direction, [capacity]: sweeps along one axis read two of them */
    uint32_t *table;           /* [table_size] */
    uint64_t table_size;
    uint64_t slot_bytes; /* bytes of a slot in the lists and all fields */
    int field_count;
    grid_field field[GRID_FIELDS];
    uint64_t field_capacity[GRID_FIELDS]; /* slots of each: they differ after memory ran out while the heap grew */
    void *scratch;                        /* of a prune: kept, as the system clears new memory */
    size_t scratch_size;
    uint64_t peak_bytes;
} grid;

int grid_create(grid *g, int n, int cells, gbees_error *error);
void grid_destroy(grid *g);

/* Makes *data follow the slots: `size` bytes each, GRID_ROW at most. Register before the first insertion. */
int grid_register(grid *g, void **data, size_t size, int transient, gbees_error *error);

/* grid_rows_create() makes second rows of a field, for all slots; grid_rows_replace() makes them the field's own and
 * frees those that it had. */
void *grid_rows_create(grid *g, void *const *data, gbees_error *error);
void grid_rows_replace(grid *g, void **data, void *rows);

/* The slot of a brick, 0 if it is absent. */
uint32_t grid_find(const grid *g, const int32_t *key);

/* Reserves memory for `bricks` more insertions, so that none of them can fail. */
int grid_reserve(grid *g, uint64_t bricks, gbees_error *error);

/* grid_find() for a key whose hash is known. It reads the table's entry and then that entry's key, which can be
 * prefetched. */
uint64_t grid_hash(const grid *g, const int32_t *key);
uint32_t grid_find_hashed(const grid *g, const int32_t *key, uint64_t hash);
void grid_prefetch_entry(const grid *g, uint64_t hash);
void grid_prefetch_key(const grid *g, uint64_t hash);

/* Inserts an absent brick, for which memory is reserved, and links it with its neighbours; its fields are not set. */
uint32_t grid_insert(grid *g, const int32_t *key);

/* The same in two parts: grid_add() inserts, and grid_link() links used bricks [from, count) by all threads. Until
 * then grid_neighbor() is invalid for these bricks and those beside them. */
uint32_t grid_add(grid *g, const int32_t *key, uint64_t hash);
void grid_link(grid *g, uint32_t from);

/* Sets key[] to the key of the requested brick. */
void grid_request_key(const grid *g, const grid_request *request, int32_t *key);
/* grid_add() for all requests, part by part and each brick once, by all threads. Overwrites the requests' hashes. */
int grid_add_requests(grid *g, grid_requests *list, int parts, gbees_error *error);

/* Keeps the used bricks k with keep[k] != 0, frees the others, sorts the bricks by key, moves them to the front of
 * the heap in that order, and rehashes.  Then used[k] == k + 1. Transient fields are left undefined. */
int grid_compact(grid *g, const unsigned char *keep, gbees_error *error);

/* What a grid's slots, lists and memory are determined by, between a prune and the next: bricks have the slots 1 to
 * `count` in the order of the Used List. */
typedef struct grid_state {
    uint64_t table_size, scratch_size, peak_bytes;
    uint32_t capacity, count, sorted;
} grid_state;

grid_state grid_get_state(const grid *g);
/* Gives an empty grid this state and the bricks with these keys, [count][n]; their fields are not set. */
int grid_set_state(grid *g, const grid_state *state, const int32_t *keys, gbees_error *error);
/* Bytes of a slot in a registered array; 0: it is not registered. */
size_t grid_field_size(const grid *g, void *const *data);

/* Bytes held now. */
uint64_t grid_bytes(const grid *g);

/* Checks that lists, table and neighbours agree, for tests: 0, or 1 with a `text` that names the first fault. */
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

/* Sets first[], which has to hold to - from slots, to the first bricks of pencils along an axis, those without a
 * lower neighbour, among used bricks [from, to); returns how many. */
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
