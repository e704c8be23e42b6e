/* linear_8d_ctu.c - the linear model in eight dimensions, ctu, double precision, diagonal diffusion. */
#define SHIM_VARIANT linear_8d_ctu
#define SHIM_MODEL "linear"
#define SHIM_PLUGIN "plugins/linear.c"
#define GBEES_N 8
#define SHIM_DOUBLE
#define GBEES_DIFFUSION 1
#include "backends/cuda/shim/kernels.h"
