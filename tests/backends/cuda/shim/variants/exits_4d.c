/* exits_4d.c - noise into targets in four dimensions, split5, mixed precision. */
#define SHIM_VARIANT exits_4d
#define SHIM_MODEL "exits"
#define SHIM_PLUGIN "tests/plugins/exits.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define GBEES_ABSORBS 1
#define GBEES_DIFFUSION 1
#include "backends/cuda/shim/kernels.h"
