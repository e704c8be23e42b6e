/* linear_1d.c - the linear model in one dimension, split5, mixed precision, diagonal diffusion. */
#define SHIM_VARIANT linear_1d
#define SHIM_MODEL "linear"
#define SHIM_PLUGIN "plugins/linear.c"
#define GBEES_N 1
#define GBEES_SPLIT 1
#define GBEES_DIFFUSION 1
#include "backends/cuda/shim/kernels.h"
