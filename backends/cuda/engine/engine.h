/* engine.h - an engine of the CUDA backend: the state of a run that the host keeps, and the functions that are called
 * by the backend's descriptor (gbees_backend), which have its names and contracts. */
#ifndef GBEES_CUDA_ENGINE_H
#define GBEES_CUDA_ENGINE_H

#include "capture_memory.h"
#include "common/budget.h"
#include "common/ranks/shared.h"
#include "cuda/compile/build.h"
#include "cuda/driver/memory.h"
#include "device/remapping.h"
#include "device/state.h"
#include "packed.h"
#include <gbees/backend.h>

enum {
    ENGINE_WARP_SIZE = 32,           /* threads */
    ENGINE_LEAST_CAPACITY = 1 << 14, /* slots that the heap has, at least */
    ENGINE_LEAST_BYTES = 1 << 30,    /* bytes of a heap with more slots, at least */
    ENGINE_CLUSTER_BLOCKS = 16,
    ENGINE_CLUSTER_BRICKS = 1 << 9, /* up to so many bricks a grid's blocks are one cluster */
    ENGINE_LARGE_BRICKS = 1 << 14   /* from so many bricks on each pass of a step is a launch of its own */
};

struct gbees_engine {
    shared_engine shared;         /* first */
    const gbees_problem *problem; /* the caller's */
    const cuda_api *api;          /* the caller's, as the programs are */
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
    int advects_all;      /* 1: with fewer bricks KERNEL_ADVECT_ALL advects it; 0: KERNEL_ADVANCE does */

    /* The grid's arrays: heap.h. */
    device_memory memory;
    device_array rows[STATE_ROWS], key, base, neighbor[2 * GBEES_MAX_DIM], flow, active, needed, rate, map, table,
        inside, blocked, outside, device_state, framed;
    uint32_t brick_limit; /* bricks above which the heap grows */

    /* Of a remap (remap.c), which may leave them for the next one. */
    struct {
        device_array list[2], counts, rows, scratch;
    } remap;

    /* Of a rotated grid or one that moves: the host's copy of the array `framed`, parameters and frame. */
    struct {
        double parameters_d[GBEES_PARAMETER_VALUES];
        float parameters_f[GBEES_PARAMETER_VALUES];
    } frame;

    /* What kernels take and what they leave. */
    gbees_setup setup;
    gbees_findings *found;    /* the host's copy, in page-locked memory */
    gbees_state *state;       /* = &found->state */
    mass_budget budget;       /* the control of p*, which it has */
    int deterministic;        /* 1: kernels round products and sums one by one, as the CPU does */
    double memory_limit;      /* bytes that the grid may take, for the control of p*; 0: 0.9 of the GPU's */
    uint32_t split_from;      /* bricks from which on ranks share the grid; UINT32_MAX: they don't */
    engine_ranks *ranks;      /* that share the grid (ranks.h); NULL: one process has all of it */
    struct split_grid *split; /* what this rank has of a shared grid (ranks.h); NULL: as `ranks` */
    double mean_step;         /* mean of the steps that were launched last, in time units; 0: not known */

    /* Records. */
    packed_piece piece;     /* made with the first record */
    gbees_capture *capture; /* made with the first capture; NULL: none yet */
    capture_memory captured;
};

/* Where the parts of a saved state are found. */
typedef struct engine_source {
    gbees_state_source *find;
    void *context;
} engine_source;

/* A GPU, and what an engine uses on it; these stay the caller's, and must outlive the engine. */
typedef struct engine_place {
    const cuda_api *api;
    CUdevice device;
    program_set *programs;
    int connects; /* messages travel from GPU to GPU by NCCL, if all ranks find it */
} engine_place;

/* targets.c: which of the problem's targets absorb, and its end, in the state; what they have taken, in totals. */
void engine_set_targets(gbees_engine *e);
void engine_add_entered(const gbees_engine *e, gbees_totals *totals);

/* setup.c */
/* All ranks: creates an engine, in the state of a source, or with the initial density where `source` is NULL. Of an
 * engine that ranks share, rank 0 has it, and the others have no bricks: the next steps divide a large grid. The
 * status is the same on all ranks. */
int cuda_engine_create(const engine_place *place, const gbees_problem *problem, const gbees_engine_options *options,
                       const engine_source *source, gbees_engine **engine, gbees_error *error);
void cuda_engine_destroy(gbees_engine *e);
/* As gbees_backend.restart(). */
int cuda_engine_restart(gbees_engine *e, const gbees_problem *problem, gbees_error *error);

/* state.c */
int cuda_engine_save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error);
/* Sets an engine that has no density yet to a saved state. */
int engine_load_state(gbees_engine *e, const engine_source *source, gbees_error *error);

/* ranks.c, setup.c, ranks_split.c: an engine that ranks share */
/* Whether rank 0 has the grid alone for the whole run: the problem's grids are never large enough to gain by sharing,
 * move, or have circles or walls. */
int cuda_ranks_are_alone(const gbees_problem *problem);
/* Sets *device to the GPU of this process: the first one; among the ranks of a machine, the one of its number divided
 * by options->ranks_per_gpu. options NULL: of one process. */
int cuda_ranks_choose_device(const cuda_api *api, const gbees_engine_options *options, CUdevice *device,
                             gbees_error *error);
/* All ranks: moves all bricks of a split grid to rank 0. */
int engine_collect(gbees_engine *e, gbees_error *error);

/* Bytes of the GPU for a grid that has grown to so many bricks, in pages of 2 MiB for each array. bricks 0: of the
 * GPU and of the host for the initial density. No GPU is needed. */
double cuda_engine_estimate(const gbees_problem *problem, double bricks);

/* advance.c */
int cuda_engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error);
void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals);
void cuda_engine_rank_totals(const gbees_engine *e, int most, gbees_rank_totals *all);

/* steer.c */
/* Whether there is not memory enough for twice the bricks, which the grid may have before the next prune. */
int engine_is_short(const gbees_engine *e);
/* After a prune: with a mass budget, sets p* for the steps to come. */
void engine_steer(gbees_engine *e);

/* update.c */
int cuda_engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error);
/* statistics.c, marginals.c, cells.c */
int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error);
/* Returns the value of a sum: of `high` units of 2^-16 and `low` units of 2^-52. */
double engine_sum_value(gbees_exact_sum sum);
int cuda_engine_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error);
int cuda_engine_cells(gbees_engine *e, double fraction, gbees_cell_visitor *visitor, void *context,
                      gbees_error *error);
/* frame.c */
/* Sends the parameters and the frame of a rotated grid, or of one that moves, to the GPU. Does nothing for others. */
int engine_send_frame(gbees_engine *e, gbees_error *error);
int cuda_engine_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate,
                          gbees_error *error);
int cuda_engine_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error);
/* remap.c */
/* Frees the memory of remaps. */
void engine_remap_free(gbees_engine *e);
int cuda_engine_remap(gbees_engine *e, const gbees_remap_plan *plan, double fraction, gbees_initial_cells *cells,
                      int *done, gbees_error *error);

int cuda_engine_frame_information(gbees_engine *e, double *information, gbees_error *error);

/* capture.c */
int cuda_engine_capture(gbees_engine *e, gbees_capture **capture, gbees_error *error);
int cuda_engine_capture_cells(gbees_capture *c, gbees_cell_visitor *visitor, void *context, gbees_error *error);
void cuda_engine_capture_free(gbees_capture *c);
void engine_capture_destroy(gbees_engine *e);

#endif
