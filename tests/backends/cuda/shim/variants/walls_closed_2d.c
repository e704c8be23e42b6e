/* walls_closed_2d.c - walls that are ends of axes, diagonal diffusion, in two dimensions, split5, double precision.
 */
#define SHIM_VARIANT walls_closed_2d
#define SHIM_MODEL "walls"
#define SHIM_PLUGIN "tests/plugins/walls.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#define GBEES_DIFFUSION 1
#define GBEES_CLOSED 1
#include "backends/cuda/shim/kernels.h"
