/* state.h - what the host and the kernels share: the problem, the grid's arrays, the state of a run.
 *
 * The host's compiler reads it, too: there, pointers into the GPU's memory are 64-bit numbers.
 *
 * Heap: bricks are in slots 1 .. count, without gaps: a new brick takes the next slot, and only a prune drops bricks
 * and moves the others together.  Slot 0 is the null brick, which stands for every absent one: its cells are 0. Hash
 * table: BuzHash of a brick's key, open addressing, linear probing, at most half full; its entries are slots.
 */
#ifndef GBEES_CUDA_STATE_H
#define GBEES_CUDA_STATE_H

#include "device/stop.h"
#include "numerics/brick.h"
#include "numerics/periods.h"
#include "numerics/run_state.h"

#if defined(GBEES_DEVICE) || defined(GBEES_PLATFORM_HEADER)
#define GBEES_POINTER(type) type *
#else
#define GBEES_POINTER(type) uint64_t
#endif

enum {
    STATE_MAX_DIM = 8,
    STATE_SUMS = 4, /* steps whose sums are kept: 3 are needed, and a power of 2 makes the index a mask */
    STATE_ROWS = 3, /* arrays of the density's size: P, the next one, ctu's transverse sums */
    STATE_PARAMETERS = 32,
    STATE_TARGETS = 8,         /* that absorb, at most */
    STATE_EXACT_SUMS = 117,    /* of gbees_findings: those of gbees_affine_sums are the most */
    STATE_CELLS = 64,          /* the largest sum of a brick's edges over all axes */
    STATE_FACES = 72,          /* the largest sum of edge + 3 */
    STATE_KEY_LIMIT = 1 << 25, /* the largest distance of a brick from the origin, in bricks */
    TABLE_EMPTY = 0,
    TABLE_TAKEN = 0x7fffffff, /* a thread is inserting a brick here */
    TABLE_DEAD = 0x7ffffffe   /* an insertion found the heap full */
};

/* gbees_findings.packed counts bricks and their cells in one word: the cells in the lower bits. */
enum { PACKED_CELL_BITS = 35, PACKED_MOST_BRICKS = 1 << 29 };

/* Sums and maxima of one step, to which all warps add by atomics: integers, so that the order does not matter.
 * Probabilities are in units of 2^-60. */
typedef struct gbees_step_sums {
    uint64_t max_rate, max_active_rate; /* bits of doubles: CFL rates of all bricks, of active ones */
    uint64_t max_noise;                 /* bits of a double: the largest rate of diffusion out of a cell */
    /* Of doubles, the variance that noise adds along each axis a unit of time, in squares of a cell: the bits of the
     * largest one of all cells, and the inverted bits of the smallest one. */
    uint64_t widest[STATE_MAX_DIM], narrowest[STATE_MAX_DIM];
    int64_t mass, clipped, outflow;
} gbees_step_sums;

/* A sum of doubles that is the same in any order: addends up to 2^46, each rounded to 2^-52. */
typedef struct gbees_exact_sum {
    int64_t high, low; /* units of 2^-16, of 2^-52 */
} gbees_exact_sum;

/* The grid's arrays in the GPU's memory; [slot]: an entry a brick. */
typedef struct gbees_grid_arrays {
    GBEES_POINTER(void) rows[STATE_ROWS]; /* [slot][64]: P and others of its size; state.current: which one is P */
    GBEES_POINTER(int32_t) key;           /* [slot][n] */
    GBEES_POINTER(void) base;             /* [slot][n]: the centre of the lowest cell, float or double */
    GBEES_POINTER(uint32_t) neighbor[2 * STATE_MAX_DIM]; /* by direction, [slot] */
    GBEES_POINTER(uint64_t) flow;   /* [slot][2n]: the cells from which probability flows in each direction */
    GBEES_POINTER(uint64_t) active; /* [slot]: cells with P >= p* */
    GBEES_POINTER(uint64_t) needed; /* [slot]: active cells and those downwind of them */
    GBEES_POINTER(double) rate;     /* [slot]: the largest CFL rate of a cell */
    GBEES_POINTER(uint32_t) map;    /* [slot]: the slot to which a prune moves it */
    GBEES_POINTER(uint32_t) table;  /* [table_mask + 1] */
    /* With a bound.  inside: [slot]: the cells inside the bound.  blocked: [slot][2n], entry d, bit f: the neighbour
     * in direction d (f = d), or in directions d and f, has no cell inside the bound, and is never made. */
    GBEES_POINTER(uint64_t) inside;
    GBEES_POINTER(uint16_t) blocked;
    GBEES_POINTER(uint64_t) outside; /* with targets that absorb, [slot]: the cells outside of all */
    uint32_t capacity;               /* slots, the null brick included */
    uint32_t table_mask;
} gbees_grid_arrays;

/* A box, the keys low_j <= key_j < high_j, and layers_j, the layers of bricks beside it along axis j that are ghosts.
 */
typedef struct gbees_key_box {
    int32_t low[STATE_MAX_DIM], high[STATE_MAX_DIM], layers[STATE_MAX_DIM];
} gbees_key_box;

/* Lists of slots of bricks, slots[k][size[k]], by their class beside a box (ranks.h); inside: list 0 alone, of those
 * in it. */
typedef struct gbees_slot_lists {
    GBEES_POINTER(uint32_t) slots[STATE_MAX_DIM + 1];
    uint32_t size[STATE_MAX_DIM + 1];
    int inside;
} gbees_slot_lists;

/* Classes of a brick beside a box (ranks.h) that is no ghost of it: too far away; in the box. */
enum { NEAR_NONE = -2, NEAR_INSIDE = -1 };

/* What is constant over a launch: passed by value. */
typedef struct gbees_setup {
    gbees_shape shape;
    gbees_grid_arrays grid;
    double origin[STATE_MAX_DIM], width[STATE_MAX_DIM], over_width[STATE_MAX_DIM];
    /* Offsets from a brick's base, axis by axis: the centres of its cells, and its faces -1 .. edge + 1.  In floats
     * and doubles: positions are one or the other. */
    double cell_d[STATE_CELLS];
    double face_d[STATE_FACES];
    float cell_f[STATE_CELLS], face_f[STATE_FACES];
    double parameters_d[STATE_PARAMETERS];
    float parameters_f[STATE_PARAMETERS];
    /* On a framed grid: the parameters, and the frame behind them. Not here: the size of a kernel's parameters is
     * limited. */
    GBEES_POINTER(const double) framed_d;
    GBEES_POINTER(const float) framed_f;
    double courant, time_step; /* time_step > 0: fixed */
    double longest_step;       /* of a grid that moves: the next step is not longer */
    double negligible; /* of a grid that moves: cells from which probability flows more slowly don't make it grow */
    double courant_limit; /* the largest Courant number of a fixed step; 0: any, or no fixed step */
    double threshold;     /* p* */
    double inside;        /* of a second difference of P, by which P differ from averages: numerics/split_noise.h */
    uint32_t brick_limit; /* steps end when more bricks are in use */
    uint32_t prune_interval;
    int stop_at_prunes;
    int clustered;    /* 1: the blocks are one cluster */
    int barrier;      /* the counter of the launch's barriers: overlapping launches have different ones */
    int sweeps;       /* 1: a split scheme */
    int advect_apart; /* gbees_advect() advects the density, a launch a pass, between launches of gbees_advance() */
    /* Of a grid that several GPUs share (ranks.h): the box of own bricks, and the first slot of a ghost. Otherwise
     * the box has all keys, and that slot is beyond all. */
    int32_t low[STATE_MAX_DIM], high[STATE_MAX_DIM];
    uint32_t first_ghost;
    double bound_low, bound_high, bound_time; /* the range of J inside the bound, and the time of its evaluation */
} gbees_setup;

/* What is decided about a step before it is taken, beside its size (gbees_run_state.step). */
typedef struct gbees_step_plan {
    double threshold;         /* p* times the mass: cells that hold as much are active after it */
    double courant;           /* its Courant number, if it is refused for that (STOP_COURANT); else not set */
    int prune_follows;        /* a prune is due after it */
    int grows;                /* the pass that marks the cells after it grows the grid for the next step, too */
    int parts[STATE_MAX_DIM]; /* if its sweeps may add noise: how many times they are repeated along each axis */
    int varies;               /* the noise is not the same in all cells */
    double variance[STATE_MAX_DIM]; /* that each adds along the axis at most, in squares of a cell */
} gbees_step_plan;

/* Targets that absorb. What they have taken is in units of 2^-60; the last entry: in cells where a function is not a
 * number. */
typedef struct gbees_targets {
    int count, function[STATE_TARGETS];              /* their functions' numbers in the model */
    uint32_t seen;                                   /* 1: a function has been seen to depend on the time */
    uint32_t move;                                   /* 1: it had been before this step */
    double end;                                      /* of the run */
    int64_t entering[STATE_SUMS][STATE_TARGETS + 1]; /* in step k: entering[k % STATE_SUMS] */
    int64_t emptied[STATE_TARGETS + 1];              /* as they have moved since the last step's sweeps */
    int64_t entered[STATE_TARGETS + 1];              /* until now, without these */
} gbees_targets;

/* The state of a run, which kernels read and change. The host has a copy. */
typedef struct gbees_state {
    uint32_t count;      /* bricks */
    uint32_t linked;     /* of them, those with neighbours, velocities and cells of their own */
    uint32_t ghosts;     /* copies of bricks of other ranks, from slot gbees_setup.first_ghost on */
    int current;         /* rows[current] is P */
    int stop;            /* STOP_... */
    uint32_t where;      /* the brick or axis of an error */
    uint32_t barrier[3]; /* counters of barriers, by gbees_setup.barrier */
    uint32_t overflow;   /* 1: a brick did not fit into the heap */
    uint32_t far_axis;   /* 1 + the axis along which a brick is too far from the origin; 0: none */
    uint32_t scan;       /* bricks that a prune keeps */
    uint32_t bad;        /* 1 + a slot with a velocity or a Q that is not valid; 0: none */
    gbees_run_state run;
    gbees_step_plan plan;                 /* of the step that is next, or that gbees_advect() is in the middle of */
    uint32_t work_queue[STATE_MAX_DIM];   /* by axis of a sweep: parts of the grid that warps have taken */
    uint64_t marked_needed, marked_above; /* cells, while they are counted */
    int64_t marked_mass;                  /* the sum of P, while it is computed, in units of 2^-60 */
    gbees_step_sums sums[STATE_SUMS];     /* of step k: sums[k % STATE_SUMS] */
    gbees_targets targets;
} gbees_state;

/* The state, and behind it the results of statistics, updates and records. Kernels of steps have the state alone. */
typedef struct gbees_findings {
    gbees_state state;
    gbees_exact_sum moment[STATE_EXACT_SUMS];
    uint64_t peak, peak_brick; /* bits of the largest P; hash and cell of where it is */
    uint64_t likely, heavy;    /* ordered bits of the largest log L and log P L */
    double log_likely, log_heavy;
    uint64_t invalid; /* the least cell, slot * 64 + cell, whose likelihood is not a number; all ones: none */
    uint64_t lowest[STATE_MAX_DIM], highest[STATE_MAX_DIM]; /* RANGE_ZERO - index, RANGE_ZERO + index; 0: no cell */
    uint64_t packed;                                        /* bricks << PACKED_CELL_BITS | cells */
} gbees_findings;

/* The passes of gbees_frame(). */
enum { FRAME_RATE, FRAME_FIT, FRAME_INFORMATION };

/* What the measurements of a problem have beside Gaussian likelihoods: bits of GBEES_LIKELIHOODS, with which the
 * kernels of updates are compiled. */
enum {
    LIKELIHOOD_RESIDUALS = 1, /* residuals that wrap, components that are missing */
    LIKELIHOOD_STUDENT = 2,   /* Student's t */
    LIKELIHOOD_MODEL = 4,     /* the model's own likelihood */
    LIKELIHOOD_PERIODS = 8    /* Gaussians of components with periods */
};

/* Added to indices of cells, so that they are above 0 for atomic maxima. */
#define RANGE_ZERO ((int64_t)1 << 40)

/* A marginal over axis a (b < 0), or over axes a and b: its sums begin at entry `at` of an array, a row of `columns`
 * for each index along a. */
typedef struct gbees_histogram {
    uint64_t at, columns;
    int32_t first_a, first_b; /* indices of the first entry */
    int32_t a, b;
} gbees_histogram;

/* All marginals of a record. */
typedef struct gbees_histograms {
    int count;
    gbees_histogram list[STATE_MAX_DIM * (STATE_MAX_DIM + 1) / 2];
} gbees_histograms;

/* A measurement, as kernels of an update take it. */
typedef struct gbees_update_params {
    int function, size, averages;
    double time;
    double value[STATE_MAX_DIM], inverse[STATE_MAX_DIM * STATE_MAX_DIM];
    int kind;         /* LIKELIHOOD_STUDENT, LIKELIHOOD_MODEL or 0 */
    int measured;     /* components */
    uint32_t missing; /* bit k: component k */
    double period[STATE_MAX_DIM], degrees;
    gbees_periods periods;
    double lowest; /* a log-likelihood below it is 0 in double precision */
} gbees_update_params;

#endif
