/* load.h - loads compiled programs into the GPU, and finds their kernels. */
#ifndef GBEES_CUDA_LOAD_H
#define GBEES_CUDA_LOAD_H

#include <gbees/backend.h>

/* Loads the kernels of all programs that have been made, and sets the GPU's properties in the engine. */
int engine_load_kernels(gbees_engine *e, gbees_error *error);

/* Loads the kernels of program `part`, which was left for later, if it has been made; with `waits` it waits for that.
 */
int engine_take_program(gbees_engine *e, int part, int waits, gbees_error *error);

#endif
