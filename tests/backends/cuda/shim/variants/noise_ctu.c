/* noise_ctu.c - full diffusion in three dimensions, ctu, double precision. */
#define SHIM_VARIANT noise_ctu
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 3
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 2
#include "backends/cuda/shim/kernels.h"
