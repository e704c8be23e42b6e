/* linear_4d.c - the linear model in four dimensions, split7, mixed precision, diagonal diffusion; for ranks. */
#define SHIM_VARIANT linear_4d
#define SHIM_MODEL "linear"
#define SHIM_PLUGIN "plugins/linear.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define GBEES_ORDER 7
#define GBEES_DIFFUSION 1
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
