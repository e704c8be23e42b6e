/* heap.h - the arrays that have an entry for each brick, and the hash table: they grow where they are. */
#ifndef GBEES_CUDA_HEAP_H
#define GBEES_CUDA_HEAP_H

#include <gbees/backend.h>

/* Makes slots for at least so many bricks.  The hash table is filled again if it has grown or `rehash` is set.
 * Returns GBEES_ENOMEM, and how many bytes are needed and can be had, if the GPU's memory is too small. */
int engine_heap_reserve(gbees_engine *e, uint64_t bricks, int rehash, gbees_error *error);

#endif
