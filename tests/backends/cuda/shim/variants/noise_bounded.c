/* noise_bounded.c - full diffusion in three dimensions, ctu, double precision: bounded, few registers. */
#define SHIM_VARIANT noise_bounded
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 3
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 2
#define GBEES_BOUNDED 1
#define GBEES_LOW_REGISTERS 1
#include "backends/cuda/shim/kernels.h"
