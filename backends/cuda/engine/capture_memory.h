/* capture_memory.h - the GPU's memory in which the cells of one record are kept while steps go on.
 *
 * The engine's thread grows and frees it.  Any thread may give it back.
 */
#ifndef GBEES_CUDA_CAPTURE_MEMORY_H
#define GBEES_CUDA_CAPTURE_MEMORY_H

#include "cuda/driver/memory.h"
#include <pthread.h>

typedef struct capture_memory {
    device_array array; /* array.size bytes are held */
    pthread_mutex_t lock;
    pthread_cond_t change; /* of is_taken */
    int is_taken;          /* 1: cells are in it that have not been fetched */
} capture_memory;

void capture_memory_open(capture_memory *c);
void capture_memory_close(capture_memory *c, device_memory *memory);

/* Grows it to `size` bytes if that takes no more than a quarter of the memory left: the grid goes first.  Returns 1
 * if it holds so many. */
int capture_memory_reserve(capture_memory *c, device_memory *memory, size_t size);
/* Waits until it is given back, and frees it.  Returns 0 if none was held. */
int capture_memory_release(capture_memory *c, device_memory *memory);

int capture_memory_is_taken(capture_memory *c);
void capture_memory_take(capture_memory *c);
void capture_memory_give_back(capture_memory *c);

#endif
