/* engine.h - the CUDA backend's state on the host; private to the backend. */
#ifndef GBEES_CUDA_ENGINE_H
#define GBEES_CUDA_ENGINE_H

#include "common/budget.h"
#include "cuda/compile/build.h"
#include "cuda/driver/memory.h"
#include "device/state.h"
#include "packed.h"
#include <gbees/backend.h>

enum {
    KERNEL_START,
    KERNEL_REHASH,
    KERNEL_ADVANCE,
    KERNEL_SMALL, /* the same for a cluster */
    KERNEL_ADVECT,
    KERNEL_MARK,
    KERNEL_ADVECT_ALL,
    KERNEL_PRUNE,
    KERNEL_COUNT,
    KERNEL_FIND_BEST,
    KERNEL_MULTIPLY,
    KERNEL_SCALE,
    KERNEL_STATISTICS,
    KERNEL_PACK,
    KERNEL_RANGE,
    KERNEL_MARGINALS,
    KERNELS
};

enum {
    ENGINE_WARP_SIZE = 32, /* threads of a warp */
    ENGINE_LEAST_CAPACITY = 1 << 14,
    ENGINE_CLUSTER_BLOCKS = 16,
    ENGINE_CLUSTER_BRICKS = 1 << 9, /* a cluster takes on so many */
    ENGINE_LARGE_BRICKS = 1 << 14,  /* from so many on the density is moved by a kernel of its own ... */
    ENGINE_BLOCK_BRICKS = 320,      /* ... whose blocks have so many each ... */
    ENGINE_STEPS_AHEAD = 16,        /* ... and so many steps are launched before the host looks */
    ENGINE_PRUNES_AHEAD = 32        /* so many prunes of a smaller one */
};

struct gbees_engine {
    const gbees_problem *problem;
    const cuda_api *api;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    program_set *programs;
    CUfunction kernel[KERNELS]; /* NULL: not wanted, or not there yet */
    unsigned warps[KERNELS];    /* of a block: as the kernel was compiled */
    int most_blocks[KERNELS];   /* that can be there at once: barriers need that */
    int multiprocessors;
    int cluster;          /* blocks of a cluster; 0: the GPU has none */
    size_t real_size;     /* of a probability */
    size_t position_size; /* of a coordinate */
    int averages;         /* P are averages over cells, not values at their centres */
    int row_arrays;       /* P and its spare, S for ctu, shares for ctu-positive */

    device_memory memory;
    device_array rows[STATE_ROWS], key, base, neighbor[2 * GBEES_MAX_DIM], flow, active, needed, rate, map, table,
        inside, blocked, device_state;
    uint32_t brick_limit;  /* bricks from which on the heap is to grow */
    uint32_t large;        /* and from which on KERNEL_ADVECT moves the density; 0: never */
    int advects_all;       /* 1: below that many it is KERNEL_ADVECT_ALL, not KERNEL_ADVANCE, that moves it */
    int capacity_exceeded; /* 1: a cluster's memory has been too small for what a step makes */
    double pace;           /* time of a step, of those that were launched last; 0: not known */
    gbees_setup setup;
    gbees_findings *found; /* the host's copy, in memory that is copied to at once */
    gbees_state *state;    /* its first */
    gbees_totals totals;
    mass_budget budget; /* has p* */
    packed_piece piece; /* of the records' cells; made with the first record */
    gbees_capture *capture;
};

/* An engine on a device, its kernels built; takes over neither. */
int cuda_engine_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                       gbees_engine **engine, gbees_error *error);
void cuda_engine_destroy(gbees_engine *e);

/* The kernels of a program that was left for later: if it has been made by now; `waits`: when it has. */
int engine_take_program(gbees_engine *e, int part, int waits, gbees_error *error);

/* launch.c */
/* Runs a kernel on all of the state's bricks and waits; the host's copy of the state goes there and back.
 * `arguments`: beyond the setup and the state, as cuLaunchKernel takes them. */
int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, const char *doing, gbees_error *error);

/* The kernels of an update and the prune after it: each goes on with what the one before has found. */
int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* Steps, until `target` of them are done or the kernel stops for something else. */
int engine_launch_steps(gbees_engine *e, uint64_t target, const char *doing, gbees_error *error);

/* room.c */
/* Slots for at least so many bricks; the table is filled again if it has grown or `anew` is set. */
int engine_make_room(gbees_engine *e, uint64_t bricks, int anew, gbees_error *error);

/* advance.c, update.c, statistics.c, packed.c, capture.c, marginals.c */
int cuda_engine_advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error);
int cuda_engine_update(gbees_engine *e, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error);
int cuda_engine_statistics(gbees_engine *e, const gbees_clock *clock, gbees_statistics *statistics,
                           gbees_error *error);
int cuda_engine_cells(gbees_engine *e, gbees_cell_visitor *visitor, void *context, gbees_error *error);
int cuda_engine_capture(gbees_engine *e, gbees_capture **capture, gbees_error *error);
int cuda_engine_capture_cells(gbees_capture *c, gbees_cell_visitor *visitor, void *context, gbees_error *error);
void cuda_engine_capture_free(gbees_capture *c);
int cuda_engine_marginals(gbees_engine *e, uint64_t most, gbees_marginals **marginals, gbees_error *error);
void cuda_engine_totals(const gbees_engine *e, gbees_totals *totals);

/* Memory held for captures; 1: it has been given up, when the one in use was fetched. */
size_t engine_capture_bytes(const gbees_engine *e);
int engine_capture_release(gbees_engine *e);
void engine_capture_destroy(gbees_engine *e);

/* After a prune: p* for the steps to come. */
void engine_steer(gbees_engine *e);

/* What a kernel stopped for, as an error; 0 for the stops that are none. */
int engine_stop_error(const gbees_engine *e, gbees_error *error);

#endif
