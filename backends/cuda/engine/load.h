/* load.h - from a compiled program to kernels that can be launched. */
#ifndef GBEES_CUDA_LOAD_H
#define GBEES_CUDA_LOAD_H

#include <gbees/backend.h>

/* Loads the kernels of all programs that have been made. */
int engine_load_kernels(gbees_engine *e, gbees_error *error);

/* Loads the kernels of a program that was left for later if it has been made; if `waits` is set, when it has. */
int engine_take_program(gbees_engine *e, int part, int waits, gbees_error *error);

#endif
