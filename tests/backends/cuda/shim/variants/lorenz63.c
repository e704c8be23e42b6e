/* lorenz63.c - Lorenz '63, split5, mixed precision. */
#define SHIM_VARIANT lorenz63
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#include "backends/cuda/shim/kernels.h"
