/* kernel.h - the kernels: the loops over bricks that take most of the time.
 *
 * kernel.c and split_sweep.c are compiled once for each instruction set and precision (target.h).  Their objects
 * export one table of functions, struct kernel; the engine chooses a table when it starts (isa.h).  Functions work on
 * used bricks from .. to - 1 of the grid, and are called by several threads for disjoint ranges.
 *
 * Along an axis the cells of a brick are regrouped into planes of equal local coordinate (to_planes.h), so that all
 * operations are between vectors of whole planes.  Face plane f is between cell planes f - 1 and f.
 */
#ifndef GBEES_CPU_KERNEL_H
#define GBEES_CPU_KERNEL_H

#include "cpu/grid/grid.h"
#include <gbees/model.h>

/* The drift across the faces of an axis: the model's functions, and a brick's face points, those of face planes -1 ..
 * edge + 1, relative to the centre of its lowest cell.  Points are in float, or in double if the density is or
 * kernel_drift.f64 is set. */
typedef struct kernel_axis {
    int edge; /* cells of a brick along the axis */
    double width;
    const void *offset[GBEES_MAX_DIM]; /* [k][(edge + 3) * cells / edge]: coordinate k of all points */
    const void *inner[GBEES_MAX_DIM];  /* offset[k] from face plane 0 on */
    const void *upper[GBEES_MAX_DIM];  /* offset[k] from face plane 1 on */
    const void *along;                 /* [edge + 3]: the coordinate along this axis of each face plane */
    gbees_component_f *component_f;
    gbees_component_d *component_d;
    gbees_planes_f *planes_f; /* NULL: the model has none, or a plane's cells are no multiple of GBEES_LANES */
    gbees_planes_d *planes_d;
} kernel_axis;

/* The model's drift. */
typedef struct kernel_drift {
    kernel_axis axis[GBEES_MAX_DIM];
    const double *parameters_d;
    const float *parameters_f;
    int f64;            /* 1: the density is float and the drift double, as a float does not resolve the cells */
    int time_dependent; /* 1: flow masks may be of another time than velocities */
} kernel_drift;

/* Points of a brick, less its lowest cell's centre, in the model's axes; and the frame's own velocity at them, less
 * that at the centre. */
typedef struct kernel_points {
    const void *x[GBEES_MAX_DIM];   /* [k][points]: coordinate k */
    const void *own[GBEES_MAX_DIM]; /* [j][points]: along axis j of the frame; of faces, across that axis alone */
} kernel_points;

/* The frame of a grid that moves (gbees/model_framed.h): a point y is centre + axes y of the model, and the frame's
 * own velocity there is velocity + gradient y. Matrices by column, with zeros behind n. Tables of points are in the
 * drift's precision, and serve all bricks: to multiply each point by the matrix takes as long as the drift itself. */
typedef struct kernel_frame {
    double centre[8], velocity[8], axes[8][8], gradient[8][8];
    gbees_vector_f *vector_f; /* the model's drift in its own axes */
    gbees_vector_d *vector_d;
    kernel_points faces[GBEES_MAX_DIM], cells; /* in the order of kernel_axis.offset, and of cells */
    kernel_points cells_f64;                   /* the cells in double, for sums over them */
    int moves; /* 0: the grid does not move, and has none of these; 1: flow masks and rates come from velocities at
                * the centres of cells */
} kernel_frame;

/* The centre of cell 0 of the brick with key 0, and the widths of cells and of bricks. */
typedef struct kernel_geometry {
    double origin[GBEES_MAX_DIM], width[GBEES_MAX_DIM], brick_width[GBEES_MAX_DIM];
} kernel_geometry;

/* The advection scheme. */
typedef struct kernel_scheme {
    int order;       /* split: 1, 5 or 7 cells around the upwind one decide about a mass */
    int preserving;  /* split, 1: with monotonicity-preserving bounds */
    int spreads;     /* split, 1: sweeps may add process noise */
    int rate_is_sum; /* 1: a cell's rate is the sum over the axes (ctu); 0: the largest (split) */
    double inside;   /* of a second difference of P, by which P differ from averages: numerics/split_noise.h */
} kernel_scheme;

/* The sums of a brick after a step. */
typedef struct kernel_ended {
    double mass, clipped; /* as kernel_sums has them */
} kernel_ended;

/* Data of cells, by slot: a row of `cells` values, or a word with a bit for each cell. */
typedef struct kernel_rows {
    void *p;                /* probability; split schemes change it in place */
    void *s;                /* ctu: sums S of the transverse terms */
    void *next;             /* ctu: the new probability */
    uint64_t *active;       /* cells with P >= threshold */
    const uint64_t *inside; /* cells within the model's bound; NULL: all */
    kernel_ended *ended;    /* not NULL: bricks' sums are stored here, and are not added to kernel_sums.mass */
} kernel_rows;

/* Results of an inspection of the drift, by slot. */
typedef struct kernel_flow {
    uint64_t *leaving;        /* [2n], by direction: cells that probability leaves that way; NULL: not stored */
    double *rate;             /* the largest rate of a cell: 1 / the time step of Courant number 1 */
    unsigned char *diverging; /* bit j: a cell flows out on both sides along axis j */
    uint16_t *one_signed;     /* bit j: all faces across axis j flow up; bit 8 + j: all flow down */
    int diverging_axes;       /* of the whole grid, bit j: a brick is diverging along axis j */
    double negligible;        /* cells that probability leaves more slowly are not in `leaving`; 0: all are */
} kernel_flow;

/* Diffusion by the model's Q. */
typedef struct kernel_noise {
    gbees_vector_d *evaluate;                /* Q; NULL: the model has none */
    int full;                                /* 1: Q has n x n numbers; 0: n */
    int uniform;                             /* 1: Q of all cells is q */
    double q[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* Q of a cell of the first brick */
    double step;                             /* of the explicit scheme, in time units */
    double spread[GBEES_MAX_DIM];     /* what sweeps along an axis add at most, in squares of a cell a unit of time */
    int parts[GBEES_MAX_DIM];         /* equal parts of the step, in each of which they add a cell's square at most */
    double over_width[GBEES_MAX_DIM]; /* 1 / cell width */
    const void *from;                 /* rows that are diffused */
    void *to;                         /* rows of the result */
    /* [direction][cell]: the cell next to each, in its brick or the next one. */
    unsigned char beside[2 * GBEES_MAX_DIM][64];
} kernel_noise;

/* Targets that absorb. A cell whose centre is in one is empty. */
typedef struct kernel_targets {
    int count;                          /* 0: none absorbs, and the others are NULL */
    const double *g[GBEES_MAX_TARGETS]; /* by slot, [cells]: of each its function at the centres of cells */
    const uint64_t *outside;            /* by slot: cells that are outside of all */
} kernel_targets;

/* All that kernels take of the engine. */
typedef struct kernel_context {
    const grid *g;
    int n;
    double time;      /* of drift and Q */
    double step;      /* time step */
    double threshold; /* of active cells */
    double lean;      /* gbees_ledger_lean() */
    kernel_geometry geometry;
    kernel_drift drift;
    kernel_frame frame;
    kernel_scheme scheme;
    kernel_rows rows;
    kernel_flow flow;
    kernel_noise noise;
    kernel_targets targets;
} kernel_context;

/* The halves of an explicit step of diffusion.  KERNEL_NOISE_LAST: the second half of the last one in a time step,
 * which adds up the new density and marks its active cells. */
typedef enum kernel_noise_half { KERNEL_NOISE_FIRST, KERNEL_NOISE_SECOND, KERNEL_NOISE_LAST } kernel_noise_half;

/* Sums over a range of bricks. */
typedef struct kernel_sums {
    double mass;    /* sum of the new P */
    double clipped; /* mass that was added by setting negative P to 0 */
    double outflow; /* mass that left through faces without a neighbour, or out of the bound; ctu does not know it */
    double entered[GBEES_MAX_TARGETS + 1]; /* each target that absorbs; the last: cells where g is not a number */
} kernel_sums;

/* Moments of a range of bricks.  Coordinates are indices of cells, which are exact far from the origin, too. */
enum { KERNEL_SECONDS = GBEES_MAX_DIM * (GBEES_MAX_DIM + 1) / 2 };
typedef struct kernel_moments {
    double mass, first[GBEES_MAX_DIM], second[KERNEL_SECONDS]; /* j <= k, row by row */
    double log;                                                /* sum of P log P */
    double turn[GBEES_MAX_DIM][2]; /* of P cos and P sin around a circle, from cell 0 on; set by the engine */
    double peak;                   /* the largest P */
    uint32_t peak_slot;            /* the brick of the first cell that has it */
    int peak_cell;                 /* of the brick */
} kernel_moments;

/* Pencils to sweep, rows of bricks along an axis: first[count] are their first bricks. */
typedef struct kernel_pencils {
    int axis;
    int passes;      /* over each pencil, of one part of the step (kernel_noise.parts) */
    int ends_step;   /* 1: the new density is added up, and its active cells are marked */
    uint32_t dither; /* gbees_dither_of_pass() of the first pass */
    const uint32_t *first;
    uint32_t count;
} kernel_pencils;

/* The bricks of a pencil, as far as its links have been followed (pencil.h). */
typedef struct kernel_pencil {
    const uint32_t *slots; /* [bricks]: in a pencil_list, or in storage[] if they are too many */
    uint32_t bricks, next; /* how many; the brick behind them, 0: there is none */
    uint32_t one_signed;   /* kernel_flow.one_signed of all of them */
    uint32_t *storage, capacity;
} kernel_pencil;

/* A thread's memory for sweeps; starts as {0}. */
typedef struct kernel_scratch {
    kernel_pencil pencil[2]; /* the one that is swept, and the next one */
    void *data;              /* planes of a pencil */
    size_t size;             /* of `data`, bytes */
} kernel_scratch;

/* The kernels of one instruction set and precision. */
typedef struct kernel {
    /* Sets all of c->flow but diverging_axes for slots[count], at c->time. */
    void (*inspect)(const kernel_context *c, const uint32_t *slots, uint32_t count);
    /* Sets flow[2n] to what inspect() stores in c->flow.leaving at the same time. */
    void (*find_flow)(const kernel_context *c, uint32_t slot, uint64_t *flow);
    /* The passes of ctu, in this order: sets rows.s; sets rows.next to P after a time step, and its active cells. */
    void (*transverse)(const kernel_context *c, uint32_t from, uint32_t to);
    void (*update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums);
    /* Split schemes: advects pencils, in place; sets *sums. Returns 1 if there is no memory. */
    int (*sweep)(const kernel_context *c, const kernel_pencils *pencils, kernel_scratch *scratch, kernel_sums *sums);
    /* Half an explicit step of diffusion, from noise.from to noise.to; sets *sums. */
    void (*diffuse)(const kernel_context *c, kernel_noise_half half, uint32_t from, uint32_t to, kernel_sums *sums);
    /* Returns the sum of the rows of the bricks. */
    double (*sum_rows)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to);
    /* Sets c->rows.active to the cells with rows >= threshold; returns how many there are. */
    uint64_t (*mark_rows)(const kernel_context *c, const void *rows, double threshold, uint32_t from, uint32_t to);
    /* Regroups the cells of one brick into planes along an axis: for tables of points in the order of the planes. */
    void (*to_planes)(const grid *g, int axis, const void *cells, void *planes);
    /* Sets the moments of the bricks. */
    void (*moments)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to, kernel_moments *moments);
} kernel;

/* The tables.  A build has generic or neon, and on x86-64 avx2 and avx512, too. */
extern const kernel cpu_kernel_generic_f32, cpu_kernel_generic_f64, cpu_kernel_neon_f32, cpu_kernel_neon_f64,
    cpu_kernel_avx2_f32, cpu_kernel_avx2_f64, cpu_kernel_avx512_f32, cpu_kernel_avx512_f64;

#endif
