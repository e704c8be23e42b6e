/* shape.h - how many threads a kernel's block has, and how many blocks a multiprocessor holds: this decides how many
 * registers a thread gets. */
#ifndef GBEES_CUDA_SHAPE_H
#define GBEES_CUDA_SHAPE_H

#include <gbees/problem.h>

/* The fewer threads, the more registers each has, up to 255. */
typedef struct program_shape {
    int warps;         /* warps of a block */
    int blocks;        /* of a multiprocessor */
    int low_registers; /* 1: the kernels recompute values instead of keeping them in registers */
} program_shape;

/* The shape to try first for a program (PROGRAM_...): as many threads as go well with the registers that most models
 * need.  Each shape that is tried in vain costs the compiler a second. */
program_shape shape_first(const gbees_problem *problem, int program);

/* Replaces a shape whose kernels spill by the next one to try: first the same with fewer values in registers, then
 * shapes with fewer and fewer threads.  Returns 0 if there is none left. */
int shape_next(program_shape *shape);

#endif
