/* lorenz96.c - Lorenz '96, split5, mixed precision: six dimensions. */
#define SHIM_VARIANT lorenz96
#define SHIM_MODEL "lorenz96"
#define SHIM_PLUGIN "plugins/lorenz96.c"
#define GBEES_N 6
#define GBEES_SPLIT 1
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
