/* kernel.h - the loops over bricks that take the time, once for each instruction set and precision.
 *
 * kernel.c is compiled once an instruction set (GBEES_ISA) and instantiates kernel_real.h for float and double.  The
 * engine picks a table of functions when it starts.  All functions work on used bricks [from, to) and are called from
 * several threads on disjoint ranges.
 *
 * Along one axis the cells of a brick are regrouped into planes of equal local coordinate ("split"), so that every
 * operation is a vector one between planes; the order of the cells within a plane is whatever the regrouping makes of
 * it, the same for all planes of that axis.  Face planes: plane f lies between cell planes f - 1 and f.
 */
#ifndef GBEES_CPU_KERNEL_H
#define GBEES_CPU_KERNEL_H

#include "cpu/grid/grid.h"
#include <gbees/model.h>

/* The points of the face planes -1 .. edge + 1 along an axis, relative to the brick's lowest cell centre. */
typedef struct kernel_axis {
    int edge;
    double width;
    /* [k]: coordinate k of the (edge + 3) * cells / edge points, float or double; inner and upper: from face planes 0
     * and 1 on. */
    const void *offset[GBEES_MAX_DIM], *inner[GBEES_MAX_DIM], *upper[GBEES_MAX_DIM];
    const void *along; /* [f + 1]: coordinate `axis` of all points of face plane f */
    gbees_component_f *component_f;
    gbees_component_d *component_d;
    gbees_planes_f *planes_f; /* NULL where the model has none, or planes are no multiple of GBEES_LANES */
    gbees_planes_d *planes_d;
} kernel_axis;

/* What is summed up of a brick's fluxes: the change of its cells, what flows out of them, or the change with each
 * flux cut to the share that its cell can serve. */
typedef enum kernel_fluxes { KERNEL_CHANGE, KERNEL_OUTGOING, KERNEL_SHARED } kernel_fluxes;

/* The halves of an explicit step of diffusion; after the last one of a time step the new density is counted and
 * marked. */
typedef enum kernel_noise_half { KERNEL_NOISE_FIRST, KERNEL_NOISE_SECOND, KERNEL_NOISE_LAST } kernel_noise_half;

typedef struct kernel_context {
    const grid *g;
    int n;
    int wide; /* float storage, but the drift evaluated in double: cells too small for a float's resolution */
    kernel_axis axis[GBEES_MAX_DIM];
    double origin[GBEES_MAX_DIM], width[GBEES_MAX_DIM], brick_width[GBEES_MAX_DIM];
    const double *parameters_d;
    const float *parameters_f;
    /* One row of `cells` values a slot. */
    const void *p; /* probability */
    void *s;       /* sums S of the transverse terms */
    void *next;    /* the new probability */
    void *share;   /* ctu-positive: the part of its outgoing fluxes that a cell can serve; else NULL */
    void *density; /* the split scheme's, changed in place */
    /* One row a slot: cells with P >= threshold; 2n words, by direction: the cells that probability leaves that way,
     * NULL where no one keeps them; the largest rate of a cell. */
    uint64_t *active;
    uint64_t *flow;
    const uint64_t *inside;   /* cells that the model's bound leaves to the grid; NULL: all */
    unsigned char *diverging; /* bit j: along axis j some cell flows out on both sides */
    uint16_t *steady;         /* bit j: at all its faces across axis j it flows up; bit 8 + j: down */
    int diverging_axes;       /* the axes along which some brick may have that: bits */
    double *rate;
    int divergence;  /* ctu with the divergence term */
    int reach;       /* cells that a sweep may carry mass over; 1: Courant numbers up to 1 */
    int order;       /* of split schemes: 5 or 7, the cells around the upwind one */
    int preserving;  /* ... with monotonicity-preserving bounds */
    int rate_is_sum; /* over the axes (ctu); else the largest (split5) */
    int moving;      /* the drift depends on time: the masks are those of another time than the velocities */
    double time, step, threshold;
    /* Diffusion. */
    gbees_vector_d *noise; /* the model's Q; NULL: it has none */
    int noise_full;        /* n x n numbers, not n */
    double noise_step, over_width[GBEES_MAX_DIM];
    const void *noise_from; /* rows that are diffused, and where to */
    void *noise_to;
    unsigned char beside[2 * GBEES_MAX_DIM][64]; /* by direction, the cell beside each: in the brick or in the next */
} kernel_context;

/* What a range of bricks adds up to. */
typedef struct kernel_sums {
    double mass;    /* sum of the new P */
    double clipped; /* what was added by setting negative values to 0 */
    double outflow; /* what left through faces with no neighbour (split5; for ctu the rest of the balance) */
} kernel_sums;

/* Moments of a range of bricks, in units of cells: of indices, which keep their digits far from the origin. */
enum { KERNEL_SECONDS = GBEES_MAX_DIM * (GBEES_MAX_DIM + 1) / 2 };
typedef struct kernel_moments {
    double mass, first[GBEES_MAX_DIM], second[KERNEL_SECONDS]; /* j <= k, row by row */
    double log;                                                /* sum of P log P */
    double peak;                                               /* the first of the highest cells */
    uint32_t peak_slot;
    int peak_cell;
} kernel_moments;

/* A row of bricks along an axis, as far as it has been followed (kernel_pencil.h). */
typedef struct kernel_pencil {
    const uint32_t *slots; /* in a list, or, if there are too many for that, in room[] */
    uint32_t bricks, next; /* so many; the brick after them, or 0 */
    uint32_t steady;       /* what holds for all of them, as kernel_context has it */
    uint32_t *room, capacity;
} kernel_pencil;

/* A thread's memory for sweeps; starts as {0}. */
typedef struct kernel_scratch {
    kernel_pencil pencil[2]; /* one that is swept, and the next */
    void *data;              /* planes of one */
    size_t size;
} kernel_scratch;

typedef struct kernel {
    const char *isa;
    /* Flow masks and rates at context->time. */
    void (*inspect)(const kernel_context *c, const uint32_t *slots, uint32_t count);
    /* The flow masks of one brick, [2n], as inspect() has them for the same time. */
    void (*find_flow)(const kernel_context *c, uint32_t slot, uint64_t *flow);
    /* s = S of p. */
    void (*transverse)(const kernel_context *c, uint32_t from, uint32_t to);
    /* share, of p and s. */
    void (*share)(const kernel_context *c, uint32_t from, uint32_t to);
    /* next = p advanced by context->step; active masks. The second: with shares. */
    void (*update)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums);
    void (*update_shared)(const kernel_context *c, uint32_t from, uint32_t to, kernel_sums *sums);
    /* Sweeps the `count` pencils that start at these bricks; 1 if memory ran out. With last_axis the new density is
     * counted and marked. Sets `sums`. */
    int (*sweep)(const kernel_context *c, int axis, int last_axis, const uint32_t *first, uint32_t count,
                 kernel_scratch *scratch, kernel_sums *sums);
    /* One half of an explicit step of diffusion, from noise_from to noise_to. Sets `sums`. */
    void (*diffuse)(const kernel_context *c, kernel_noise_half half, uint32_t from, uint32_t to, kernel_sums *sums);
    /* Sum of the rows of the range. */
    double (*sum_rows)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to);
    /* active: cells of the range with rows >= threshold; returns how many. */
    uint64_t (*mark_rows)(const kernel_context *c, const void *rows, double threshold, uint32_t from, uint32_t to);
    /* Coordinates of all axes in the order of the split along `axis`: fills offset tables. */
    void (*split_index)(const grid *g, int axis, const void *cells, void *planes);
    /* Sets `moments` of the rows of the range. */
    void (*moments)(const kernel_context *c, const void *rows, uint32_t from, uint32_t to, kernel_moments *moments);
} kernel;

typedef struct kernel_set {
    kernel single, twice; /* float, double */
} kernel_set;

/* One of the first two is there, by the machine; see isa.h. */
const kernel_set *cpu_kernels_generic(void);
const kernel_set *cpu_kernels_neon(void);
const kernel_set *cpu_kernels_avx2(void);
const kernel_set *cpu_kernels_avx512(void);

#endif
