/* noise.c - full diffusion in two dimensions, split5, mixed precision. */
#define SHIM_VARIANT noise
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 2
#include "backends/cuda/shim/kernels.h"
