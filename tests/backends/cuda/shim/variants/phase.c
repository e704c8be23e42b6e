/* phase.c - a circle, with noise in its sweeps, split5, double precision. */
#define SHIM_VARIANT phase
#define SHIM_MODEL "phase"
#define SHIM_PLUGIN "plugins/phase.c"
#define GBEES_N 1
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#define GBEES_DIFFUSION 1
#define GBEES_CLOSED 1
#include "backends/cuda/shim/kernels.h"
