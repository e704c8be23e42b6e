/* kernels.h - the values of GBEES_KERNELS: which kernels of engine.cu a program contains.
 *
 * Each value but the first and GBEES_KERNELS_MODEL is a program of its own.  They are macros, because the
 * preprocessor compares them, and are read by the host (compile/spec.c) and by the device code.
 */
#ifndef GBEES_CUDA_KERNELS_H
#define GBEES_CUDA_KERNELS_H

#define GBEES_KERNELS_ALL 0        /* one text with every kernel: the tests' build for the host */
#define GBEES_KERNELS_ADVANCE 1    /* time steps: gbees_advance */
#define GBEES_KERNELS_GRID 2       /* the initial grid, statistics and records */
#define GBEES_KERNELS_UPDATE 3     /* multiplication by a measurement's likelihood: gbees_multiply */
#define GBEES_KERNELS_ADVECT 4     /* one pass of a step's advection, of large grids: gbees_advect */
#define GBEES_KERNELS_PRUNE 5      /* gbees_prune, gbees_count, gbees_rehash */
#define GBEES_KERNELS_MARK 6       /* marking and growth after gbees_advect: gbees_mark */
#define GBEES_KERNELS_LIKELIHOOD 7 /* the largest likelihood, before an update: gbees_find_best */
#define GBEES_KERNELS_ADVECT_ALL 8 /* all advection passes of a step at once: gbees_advect_all */
#define GBEES_KERNELS_MODEL 9      /* the model's functions alone, without the engine: for tests */
#define GBEES_KERNELS_INTEGRATE 11 /* samples of the equations, for an audit: gbees_integrate */

#define GBEES_KERNELS_FRAME 12 /* rates and sums that a grid that moves needs before a step: gbees_frame */
#define GBEES_KERNELS_RANKS 13 /* the passes of device/ranks.h, for a grid that several GPUs share */
#define GBEES_KERNELS_REMAP 14 /* cells to those of another frame: gbees_remap */

#define GBEES_KERNELS_FOLLOW 15 /* samples of the equations, with a tolerance: gbees_follow */

/* 1 if the program that is compiled contains these kernels. */
#define GBEES_HAS_KERNELS(which) (GBEES_KERNELS == GBEES_KERNELS_ALL || GBEES_KERNELS == (which))

#endif
