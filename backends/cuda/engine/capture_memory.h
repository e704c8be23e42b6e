/* capture_memory.h - the GPU's memory in which the cells of one record are kept while steps go on.
 *
 * The engine's thread calls all functions.  The thread that fetches the cells calls capture_memory_set() alone.
 */
#ifndef GBEES_CUDA_CAPTURE_MEMORY_H
#define GBEES_CUDA_CAPTURE_MEMORY_H

#include "cuda/driver/memory.h"
#include <pthread.h>

/* The memory, and whether cells are in it. */
typedef struct capture_memory {
    device_array array; /* of array.size bytes */
    pthread_mutex_t lock;
    pthread_cond_t change; /* of is_taken */
    int is_taken;          /* 1: it has cells that have not been fetched */
} capture_memory;

/* Makes one that holds no memory. */
void capture_memory_open(capture_memory *c);
/* Frees it; no thread may use it any more. */
void capture_memory_close(capture_memory *c, device_memory *memory);

/* Grows it to `size` bytes if that takes no more than a quarter of the GPU's free memory, since the grid needs the
 * rest. Returns 1 if it has that size. */
int capture_memory_reserve(capture_memory *c, device_memory *memory, size_t size);
/* Waits until it is given back, and frees its memory.  Returns 0 if it had none. */
int capture_memory_release(capture_memory *c, device_memory *memory);

/* Whether it has cells; says so, or that it has none. */
int capture_memory_is_taken(capture_memory *c);
void capture_memory_set(capture_memory *c, int taken);

#endif
