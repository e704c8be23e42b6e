/* encounter.c - a flow without noise into targets, split5, mixed precision. */
#define SHIM_VARIANT encounter
#define SHIM_MODEL "encounter"
#define SHIM_PLUGIN "tests/plugins/encounter.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define GBEES_ABSORBS 1
#include "backends/cuda/shim/kernels.h"
