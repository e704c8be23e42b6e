/* initial.h - the initial density: computed on the host, brick by brick, and sent to the GPU. */
#ifndef GBEES_CUDA_INITIAL_H
#define GBEES_CUDA_INITIAL_H

#include <gbees/backend.h>

/* Fills the grid with the problem's initial density, scaled to its mass (initial_mass()), prunes it, and counts its
 * cells. */
int engine_fill_initial(gbees_engine *e, gbees_error *error);

#endif
