/* heap.h - the heap of bricks: arrays that have an entry for each slot, and the hash table. They grow where they are.
 */
#ifndef GBEES_CUDA_HEAP_H
#define GBEES_CUDA_HEAP_H

#include "engine.h"

/* An array with an entry for each slot. */
typedef struct slot_array {
    device_array *array;
    uint64_t *address; /* of it, in the engine's setup */
    size_t size;       /* bytes a slot */
} slot_array;

enum { MOST_ARRAYS = STATE_ROWS + 2 * GBEES_MAX_DIM + 9 };

/* The arrays of an engine. */
typedef struct slot_arrays {
    slot_array list[MOST_ARRAYS];
    int count;
} slot_arrays;

/* Returns the arrays that the kernels of the engine's problem use. */
slot_arrays engine_heap_arrays(gbees_engine *e);

/* Bytes of a heap of so many slots. */
double engine_heap_bytes(gbees_engine *e, uint64_t capacity);

/* Makes a heap of exactly `capacity` slots, for an engine that has none; what the hash table holds is undefined. */
int engine_heap_set(gbees_engine *e, uint32_t capacity, gbees_error *error);

/* Sets the null brick to 0, for an engine that has had another grid. */
int engine_heap_clear_null(gbees_engine *e, gbees_error *error);

/* Makes the heap large enough for `bricks` bricks, and for more of them if there is memory.  The hash table is filled
 * again from the bricks 1 .. count if it has grown or `rehash` is set.  Returns GBEES_ENOMEM, and how many bytes are
 * needed and can be had, if the GPU's memory is too small. */
int engine_heap_reserve(gbees_engine *e, uint64_t bricks, int rehash, gbees_error *error);

/* Whether the GPU's memory is enough for slots for so many bricks, and `beside` more bytes. */
int engine_heap_fits(gbees_engine *e, uint64_t bricks, double beside);

#endif
