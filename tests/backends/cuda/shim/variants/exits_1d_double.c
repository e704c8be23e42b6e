/* exits_1d_double.c - noise into targets in one dimension, split7, double precision. */
#define SHIM_VARIANT exits_1d_double
#define SHIM_MODEL "exits"
#define SHIM_PLUGIN "tests/plugins/exits.c"
#define GBEES_N 1
#define GBEES_SPLIT 1
#define GBEES_ABSORBS 1
#define SHIM_DOUBLE
#define GBEES_ORDER 7
#define GBEES_DIFFUSION 1
#include "backends/cuda/shim/kernels.h"
