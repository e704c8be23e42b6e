/* cuda_shim_driver.h - the driver of a GPU made of threads (cuda_shim.c). */
#ifndef GBEES_CUDA_SHIM_DRIVER_H
#define GBEES_CUDA_SHIM_DRIVER_H

#include "cuda/driver/api.h"

/* The functions that the backend's engine calls. */
void cuda_shim_open(cuda_api *api);
void cuda_shim_open_memory(cuda_api *api); /* those for memory */

enum { SHIM_MOST_BLOCKS = 16 };

/* The launch, counted from 1, that fails as a GPU does; 0: none. */
extern int shim_failing_launch;

/* Blocks that are there at once, at most; whether they can be a cluster. */
extern int shim_most_blocks, shim_cluster;

/* Bytes that there are, and those that are taken; whether they are mapped into reserved addresses. */
extern size_t shim_memory;
extern int shim_virtual;
size_t cuda_shim_taken(void);

/* Of a module that does not say otherwise. */
#ifndef GBEES_BOUNDED
#define GBEES_BOUNDED 0
#endif
#ifndef GBEES_ROTATED
#define GBEES_ROTATED 0
#endif

#endif
