/* grid.h - the sparse grid: bricks in a heap, found by their multi-index (key) through a hash table (paper, sections
 * 4.1 and 4.2).
 *
 * Heap: `capacity` slots; slot 0 is the null brick, which stands for every absent one and stays empty.
 * Used List: the slots in use, without gaps, in the order in which bricks are swept; "used brick k" is the brick in
 * slot used[k].  Free List: a stack of the other slots. Hash table: BuzHash, open addressing, linear probing, at most
 * half full; entries are slots, 0: empty. Neighbours: for each slot those of the 2n face neighbours, in direction 2j
 * down axis j, 2j + 1 up; an array for each direction.
 *
 * Only a prune removes bricks: mark, scan, compact, rehash.  The grid knows nothing of densities and schemes: their
 * arrays (fields), with an element or a row for each slot, are registered, and move with the slots when the heap
 * grows or is sorted.
 */
#ifndef GBEES_CPU_GRID_H
#define GBEES_CPU_GRID_H

#include "numerics/brick.h"
#include "numerics/neighbour.h"
#include <gbees/error.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GRID_PARTS = 128,        /* parts of the Used List that threads take one after the other, at most */
    GRID_FIELDS = 40,        /* arrays, at most */
    GRID_ROW = 512,          /* bytes of a slot in an array, at most */
    GRID_KEY_LIMIT = 1 << 25 /* of a key's components, in absolute value */
};

/* An array with an element or a row for each slot. */
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

/* The requests of a part of the bricks, in their order. */
typedef struct grid_requests {
    grid_request *request;
    size_t count, capacity;
    int far; /* 1: a request is for a brick beyond GRID_KEY_LIMIT */
} grid_requests;

typedef struct grid {
    gbees_shape shape;
    int threads;       /* for loops over all bricks, when there are many; at least 1 */
    uint32_t capacity; /* slots in the heap, the null brick included */
    uint32_t count;    /* entries of the Used List */
    uint32_t free_count;
    uint32_t sorted;           /* used bricks 0 .. sorted - 1 are sorted by key */
    uint32_t *used;            /* [capacity] */
    uint32_t *free;            /* [capacity] */
    int32_t *key;              /* [capacity][n] */
    uint32_t *neighbor[2 * 8]; /* by direction, [capacity]: sweeps along one axis read two of them */
    uint32_t *table;           /* [table_size] */
    uint64_t table_size;
    uint64_t slot_bytes; /* bytes of a slot in the lists and all fields */
    int field_count;
    grid_field field[GRID_FIELDS];
    uint64_t field_capacity[GRID_FIELDS]; /* slots of each: they differ if there was no memory while the heap grew */
    void *scratch;                        /* of a prune; kept for the next one, as the system clears new memory */
    size_t scratch_size;                  /* bytes */
    uint64_t peak_bytes;                  /* the most memory that has been in use */
} grid;

/* Makes a grid without bricks, of n dimensions, with bricks of 64 cells or 1. */
int grid_create(grid *g, int n, int cells, gbees_error *error);
void grid_destroy(grid *g);

/* Registers an array with `size` bytes for each slot, GRID_ROW at most, of which the grid sets *data whenever it
 * moves. transient: a prune may leave its content undefined. All arrays are registered before the first insertion. */
int grid_register(grid *g, void **data, size_t size, int transient, gbees_error *error);

/* Makes a second array for a registered one, of the same size, with zeros for the null brick; NULL: out of memory. */
void *grid_rows_create(grid *g, void *const *data, gbees_error *error);
/* Makes such an array the registered one, and frees that which it replaces. */
void grid_rows_replace(grid *g, void **data, void *rows);

/* The slot of a brick, 0 if it is absent. */
uint32_t grid_find(const grid *g, const int32_t *key);

/* Reserves memory for `bricks` more insertions, so that none of them can fail. */
int grid_reserve(grid *g, uint64_t bricks, gbees_error *error);

/* The hash of a key. */
uint64_t grid_hash(const grid *g, const int32_t *key);
/* grid_find() for a key whose hash is known. It reads the table's entry, which can be prefetched, and then the key of
 * the slot in it, which can be prefetched once the entry is in the cache. */
uint32_t grid_find_hashed(const grid *g, const int32_t *key, uint64_t hash);
void grid_prefetch_entry(const grid *g, uint64_t hash);
void grid_prefetch_key(const grid *g, uint64_t hash);

/* Inserts an absent brick, for which memory is reserved, and links it with its neighbours; its fields are not set. */
uint32_t grid_insert(grid *g, const int32_t *key);

/* Inserts an absent brick, for which memory is reserved, and does not link it: until grid_link() has, grid_neighbor()
 * is invalid for it and for the bricks beside it. Returns its slot. */
uint32_t grid_add(grid *g, const int32_t *key, uint64_t hash);
/* Links used bricks from .. count - 1 with their neighbours, by all threads. */
void grid_link(grid *g, uint32_t from);

/* Sets key[n] to the key of the requested brick. */
void grid_request_key(const grid *g, const grid_request *request, int32_t *key);
/* Adds the requested bricks, each once, by all threads: the slots are those that grid_add() would give them in the
 * order of list[parts]. Overwrites the requests' hashes. */
int grid_add_requests(grid *g, grid_requests *list, int parts, gbees_error *error);

/* Removes the used bricks k with keep[k] == 0, sorts the others by key, moves them to the front of the heap in that
 * order, so that used[k] is k + 1, and fills the hash table again. Transient arrays are undefined after it. */
int grid_compact(grid *g, const unsigned char *keep, gbees_error *error);

/* All that decides about a grid's slots, lists and memory but the keys: bricks have the slots 1 .. count in the order
 * of the Used List, also between prunes. */
typedef struct grid_state {
    uint64_t table_size, scratch_size, peak_bytes;
    uint32_t capacity, count, sorted;
} grid_state;

/* Returns a grid's state. */
grid_state grid_get_state(const grid *g);
/* Gives a grid without bricks a state, and the bricks with keys[count][n]; their fields are not set. */
int grid_set_state(grid *g, const grid_state *state, const int32_t *keys, gbees_error *error);
/* Bytes of a slot in a registered array; 0: it is not registered. */
size_t grid_field_size(const grid *g, void *const *data);

/* Bytes that the heap and the table have reserved. */
uint64_t grid_bytes(const grid *g);

/* For tests: checks that lists, table and neighbours agree. Returns 0, or 1 and sets text[size] to the first fault.
 */
int grid_check(const grid *g, char *text, size_t size);

/* The key of the brick in a slot, [n]. */
static inline const int32_t *grid_key(const grid *g, uint32_t slot)
{
    return g->key + (size_t)slot * (size_t)g->shape.n;
}

/* The slot of the brick's neighbour in a direction; 0 if there is none. */
static inline uint32_t grid_neighbor(const grid *g, uint32_t slot, int direction)
{
    return g->neighbor[direction][slot];
}

/* Sets first[] to those of used bricks from .. to - 1 that are the first ones of pencils along an axis; returns their
 * number. first[] has to hold to - from slots. */
static inline uint32_t grid_pencils(const grid *g, int axis, uint32_t from, uint32_t to, uint32_t *first)
{
    const uint32_t *below = g->neighbor[2 * axis];
    uint32_t count = 0;

    for (uint32_t k = from; k < to; k++) {
        first[count] = g->used[k];
        count += (uint32_t)gbees_begins_pencil(below[g->used[k]]);
    }
    for (uint32_t k = from; k < to && g->shape.end[2 * axis] == GBEES_AT_OTHER_END; k++) {
        const uint32_t slot = g->used[k];

        if (below[slot] &&
            gbees_begins_ring(&g->shape, axis, grid_key(g, slot)[axis], g->neighbor[2 * axis + 1], slot))
            first[count++] = slot;
    }
    return count;
}

#endif
