/* shape.h - a program's shape: how many threads a block has, and how many blocks a multiprocessor holds. This decides
 * how many registers a thread gets. */
#ifndef GBEES_CUDA_SHAPE_H
#define GBEES_CUDA_SHAPE_H

#include <gbees/problem.h>

/* A shape. The fewer threads a multiprocessor holds, the more registers each of them has, up to 255. */
typedef struct program_shape {
    int warps;         /* warps of a block */
    int blocks;        /* that a multiprocessor holds at once */
    int low_registers; /* 1: the kernels recompute values instead of keeping them in registers */
} program_shape;

/* The shape to try first for a program (PROGRAM_...): the most threads with which most models do not spill.  Each
 * shape that is tried and spills costs a second of compile time. */
program_shape shape_first(const gbees_problem *problem, int program);

/* Replaces a shape whose kernels spill by the next one to try: first the same one with low_registers, then shapes
 * with fewer and fewer threads.  Returns 0 if there is none left. */
int shape_next(program_shape *shape);

#endif
