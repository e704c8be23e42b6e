/* driver.h - a GPU made of threads: its driver (driver.c, memory.c), and the kernels compiled for the host
 * (kernels.h). */
#ifndef GBEES_SHIM_DRIVER_H
#define GBEES_SHIM_DRIVER_H

#include "cuda/driver/api.h"

/* ---- kernels -----------------------------------------------------------------------------------------------------
 */

typedef enum shim_kernel {
    SHIM_START,
    SHIM_REHASH,
    SHIM_ADVANCE,
    SHIM_PRUNE,
    SHIM_COUNT,
    SHIM_FIND_BEST,
    SHIM_MULTIPLY,
    SHIM_SCALE,
    SHIM_STATISTICS,
    SHIM_PACK,
    SHIM_ADVECT,
    SHIM_ADVECT_ALL,
    SHIM_MARK,
    SHIM_RANGE,
    SHIM_MARGINAL_SUMS,
    SHIM_FRAME,
    SHIM_REMAP,
    SHIM_GROW,
    SHIM_LINK,
    SHIM_RELINK,
    SHIM_SELECT,
    SHIM_KEYS,
    SHIM_SAMPLE,
    SHIM_INSERT,
    SHIM_COPY_ROWS,
    SHIM_COPY_MARKS,
    SHIM_STAY,
    SHIM_KEEP,
    SHIM_INSPECT,
    SHIM_NOISE_RATES,
    SHIM_DIFFUSE,
    SHIM_INTEGRATE,
    SHIM_FOLLOW,
    SHIM_KERNELS
} shim_kernel;

/* The kernels of one model, dimension, scheme and precision: a file of variants/. */
typedef struct shim_variant {
    const char *model;
    int dimension, is_double, drift_f64, split, order, preserving;
    int time_dependent, bounded, closed, rotated, moving, absorbs;
    int shared; /* has those of a grid that several GPUs share */
    void (*run)(shim_kernel kernel, void **arguments);
} shim_variant;

/* The one whose kernels are launched. */
extern const shim_variant *shim_chosen;

/* ---- driver ------------------------------------------------------------------------------------------------------
 */

/* Sets the functions that the backend's engine calls. */
void cuda_shim_open(cuda_api *api);
void cuda_shim_open_memory(cuda_api *api); /* those for memory */

enum { SHIM_MOST_BLOCKS = 16 };

/* The launch, counted from 1, that fails as a GPU does; 0: none. The count begins after the first launch of the
 * kernel shim_failing_after; NULL: at once. */
extern int shim_failing_launch;
extern const char *shim_failing_after;

/* GPUs of the machine. */
extern int shim_gpus;

/* Blocks that are there at once, at most; whether they can be a cluster. */
extern int shim_most_blocks, shim_cluster;

/* Bytes that there are, and those that are taken; whether they are mapped into reserved addresses. */
extern size_t shim_memory;
extern int shim_virtual;
size_t cuda_shim_taken(void);

#endif
