/* engine.h - the CUDA backend's state on the host, and its functions of the backend's descriptor (gbees_backend). */
#ifndef GBEES_CUDA_ENGINE_H
#define GBEES_CUDA_ENGINE_H

#include "capture_memory.h"
#include "common/budget.h"
#include "cuda/compile/build.h"
#include "cuda/driver/memory.h"
#include "device/state.h"
#include "packed.h"
#include <gbees/backend.h>

enum {
    ENGINE_WARP_SIZE = 32,           /* threads */
    ENGINE_LEAST_CAPACITY = 1 << 14, /* bricks that the heap begins with */
    ENGINE_CLUSTER_BLOCKS = 16,
    ENGINE_CLUSTER_BRICKS = 1 << 9, /* up to so many bricks a grid's blocks are one cluster */
    ENGINE_LARGE_BRICKS = 1 << 14   /* from so many bricks on each pass of a step is a launch of its own */
};

struct gbees_engine {
    const gbees_problem *problem;
    const cuda_api *api;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    program_set *programs;

    /* Kernels: load.h. */
    CUfunction kernel[KERNELS]; /* NULL: not wanted, or not there yet */
    unsigned warps[KERNELS];    /* of a block: as the kernel was compiled */
    int most_blocks[KERNELS];   /* that are resident at once: grid barriers need that */
    int multiprocessors;
    int cluster; /* blocks of a cluster; 0: the GPU has none */

    /* What follows from the problem. */
    size_t real_size;     /* of a probability */
    size_t position_size; /* of a coordinate */
    int averages;         /* 1: P are averages over cells; 0: values at their centres */
    int row_arrays;       /* arrays of the density's size: gbees_setup.grid.rows */
    int passes;           /* of a step over these */
    uint32_t large;       /* from so many bricks on KERNEL_ADVECT advects the density; 0: never */
    int advects_all;      /* 1: below that, KERNEL_ADVECT_ALL advects it, not KERNEL_ADVANCE */

    /* The grid's arrays: heap.h. */
    device_memory memory;
    device_array rows[STATE_ROWS], key, base, neighbor[2 * GBEES_MAX_DIM], flow, active, needed, rate, map, table,
        inside, blocked, device_state, framed;
    uint32_t brick_limit; /* the heap grows when there are more bricks */

    /* Of a framed grid: what the array `framed` has. */
    struct {
        double parameters_d[GBEES_PARAMETER_VALUES];
        float parameters_f[GBEES_PARAMETER_VALUES];
    } frame;

    /* What kernels are passed and what they leave. */
    gbees_setup setup;
    gbees_findings *found;      /* the host's copy, in page-locked memory */
    gbees_state *state;         /* = &found->state */
    mass_budget budget;         /* has p* */
    int deterministic;          /* 1: kernels round products and sums one by one, as the CPU does */
    double memory_limit;        /* bytes that the grid may take, with a budget; 0: 0.9 of the GPU's */
    uint32_t share_from;        /* bricks from which on ranks share the grid; UINT32_MAX: they don't */
    struct engine_ranks *ranks; /* that share the grid (ranks.h); NULL: one process has all of it */
    int capacity_exceeded;      /* 1: a step made more bricks than a cluster's memory holds */
    double mean_step;           /* of the steps that were launched last; 0: not known */

    /* Records. */
    packed_piece piece; /* made with the first record */
    gbees_capture *capture;
    capture_memory captured;
};

/* Creates an engine for a problem on a device.  It uses `api` and `programs`, but does not own them. */
int cuda_engine_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                       gbees_engine **engine, gbees_error *error);
void cuda_engine_destroy(gbees_engine *e);
/* As gbees_backend.restart(). */
int cuda_engine_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error);

/* state.c: as gbees_backend.save(), and cuda_engine_create() in a saved state. */
int cuda_engine_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error);
/* A saved state to be loaded. */
typedef struct engine_source {
    gbees_state_source *find;
    void *context;
} engine_source;
/* Sets an engine without a density to it. */
int engine_load_state(gbees_engine *e, const engine_source *source, gbees_error *error);
int cuda_engine_load(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                     const engine_source *source, gbees_engine **engine, gbees_error *error);

/* ranks.c, ranks_serve.c: an engine that ranks share */
/* Whether a problem's grids are never so large that sharing them would gain: rank 0 has them alone. */
int cuda_ranks_are_alone(const gbees_problem *problem);
/* What a problem has that ranks can't share: GBEES_EUSAGE. */
int cuda_ranks_check(const gbees_problem *problem, gbees_error *error);
/* Refuses to go on from a checkpoint, on rank 0, whose other ranks make their engines meanwhile. */
int cuda_ranks_refuse_resume(const gbees_parallel *parallel, gbees_error *error);
/* Rank 0: with the initial density; the others without one. All ranks agree on how it ends. `connects`: rows of cells
 * travel from GPU to GPU, by NCCL if all ranks have it. */
int cuda_engine_share(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                      const gbees_parallel *parallel, int connects, gbees_engine **engine, gbees_error *error);
/* The other ranks: serves rank 0's engine until it is destroyed; engine NULL: rank 0 is alone. */
void cuda_engine_serve(gbees_engine *e, const gbees_parallel *parallel);
/* Rank 0: brings all bricks back, for what one rank does by itself. */
int engine_collect(gbees_engine *e, gbees_error *error);

/* advance.c */
int cuda_engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error);
void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals);

/* steer.c */
/* Whether the grid has no memory to double until the next prune. */
int engine_is_short(const gbees_engine *e);
/* After a prune: sets p* for the steps to come. */
void engine_steer(gbees_engine *e);

/* update.c */
int cuda_engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error);

/* statistics.c, marginals.c, packed.c */
int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error);
/* The same on this rank. */
int engine_find_statistics(gbees_engine *e, gbees_statistics *statistics, gbees_error *error);
int cuda_engine_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error);
int cuda_engine_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error);

/* frame.c */
/* Sends the parameters and the frame of a framed grid to the GPU. */
int engine_send_frame(gbees_engine *e, gbees_error *error);
int cuda_engine_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate,
                          gbees_error *error);
int cuda_engine_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error);
int cuda_engine_frame_information(gbees_engine *e, double *information, gbees_error *error);

/* capture.c */
int cuda_engine_capture(gbees_engine *e, gbees_capture **capture, gbees_error *error);
int cuda_engine_capture_cells(gbees_capture *c, gbees_cell_visitor *visitor, void *context, gbees_error *error);
void cuda_engine_capture_free(gbees_capture *c);
void engine_capture_destroy(gbees_engine *e);

#endif
