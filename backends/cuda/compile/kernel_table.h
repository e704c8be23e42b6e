/* kernel_table.h - the kernels of device/engine.cu, the programs that they are compiled in, and which of these a
 * problem needs.
 *
 * A program is one compilation by NVRTC, of some of the kernels.  Several small ones are compiled side by side in
 * less time than a large one.
 */
#ifndef GBEES_CUDA_KERNEL_TABLE_H
#define GBEES_CUDA_KERNEL_TABLE_H

#include <gbees/problem.h>

/* Programs. */
enum {
    PROGRAM_STEPS,       /* steps of a grid of any size */
    PROGRAM_GRID,        /* the initial grid, statistics, records */
    PROGRAM_UPDATES,     /* the product with a likelihood */
    PROGRAM_ADVECT,      /* one pass of a step over a large grid */
    PROGRAM_PRUNES,      /* prunes, counts, the hash table anew */
    PROGRAM_MARKS,       /* marks and growth after the passes over a large grid */
    PROGRAM_LIKELIHOODS, /* the largest likelihood, for an update */
    PROGRAM_ADVECT_ALL,  /* all passes of a step over a smaller grid, in one launch */
    PROGRAM_FRAME,       /* rates and sums that a grid that moves needs before a step */
    PROGRAM_REMAP,       /* cells to those of another frame: until it is there the processor does it */
    PROGRAM_RANKS,       /* ghosts, growth and moves of bricks on a grid that several GPUs share */
    PROGRAM_INTEGRATE,   /* samples, for an audit: a run does without it (engine/integrator.h) */
    PROGRAM_FOLLOW,      /* samples with a tolerance, likewise */
    PROGRAMS
};

/* Kernels; their names and programs are in kernel_table. */
enum {
    KERNEL_START,
    KERNEL_REHASH,
    KERNEL_ADVANCE,
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
    KERNEL_FRAME,
    KERNEL_REMAP,
    KERNEL_GROW,
    KERNEL_LINK,
    KERNEL_RELINK,
    KERNEL_SELECT,
    KERNEL_KEYS,
    KERNEL_SAMPLE,
    KERNEL_INSERT,
    KERNEL_COPY_ROWS,
    KERNEL_COPY_MARKS,
    KERNEL_STAY,
    KERNEL_KEEP,
    KERNEL_INSPECT,
    KERNEL_NOISE_RATES,
    KERNEL_DIFFUSE,
    KERNEL_INTEGRATE,
    KERNEL_FOLLOW,
    KERNELS
};

/* What the host knows of a kernel. */
typedef struct kernel_entry {
    const char *name;  /* in device/engine.cu */
    const char *doing; /* "computing moments": for messages when it fails */
    int program;       /* PROGRAM_... */
    int is_clustered;  /* 1: the blocks of a small grid are one cluster */
    int barrier;       /* which of gbees_state.barrier its blocks wait at, unless they are a cluster */
} kernel_entry;

extern const kernel_entry kernel_table[KERNELS];

/* The option -D that selects the kernels of a program in device/engine.cu. */
const char *program_define(int program);

/* Whether a run of the problem needs a program. */
int program_is_wanted(const gbees_problem *problem, int program);
/* Whether a grid that several GPUs share needs it, too. */
int program_is_shared(int program);
/* Whether it integrates samples, which are in the model's axes and not on a grid. */
int program_has_samples(int program);

/* Whether there is a measurement up to the end: only then kernels for updates are made. */
int kernels_have_updates(const gbees_problem *problem);

/* Whether each pass of a step over a large grid is a launch of its own. */
int kernels_have_advect(const gbees_problem *problem);
/* Whether the passes over a smaller grid are a launch of their own, too: then the kernel for steps contains none. */
int kernels_always_advect_apart(const gbees_problem *problem);

#endif
