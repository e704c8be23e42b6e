/* noise_rotated.c - full diffusion on a rotated grid, split5, mixed precision, few registers. */
#define SHIM_VARIANT noise_rotated
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 2
#define GBEES_ROTATED 1
#define GBEES_LOW_REGISTERS 1
#include "backends/cuda/shim/kernels.h"
