/* noise_4d.c - full diffusion in four dimensions, split5, mixed precision: bounded; for ranks. */
#define SHIM_VARIANT noise_4d
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 2
#define GBEES_BOUNDED 1
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
