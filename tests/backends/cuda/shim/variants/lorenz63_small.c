/* lorenz63_small.c - Lorenz '63, split5, mixed precision, with the kernel for a cluster's small grids. */
#define SHIM_VARIANT lorenz63_small
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define GBEES_SMALL 1
#include "backends/cuda/shim/kernels.h"
