/* exits_2d.c - noise into targets in two dimensions, split5, double precision. */
#define SHIM_VARIANT exits_2d
#define SHIM_MODEL "exits"
#define SHIM_PLUGIN "tests/plugins/exits.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_ABSORBS 1
#define SHIM_DOUBLE
#define GBEES_DIFFUSION 1
#include "backends/cuda/shim/kernels.h"
