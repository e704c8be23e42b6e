/* encounter_preserving.c - a flow without noise into targets, split7-mp, double precision. */
#define SHIM_VARIANT encounter_preserving
#define SHIM_MODEL "encounter"
#define SHIM_PLUGIN "tests/plugins/encounter.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define GBEES_ABSORBS 1
#define SHIM_DOUBLE
#define GBEES_ORDER 7
#define GBEES_PRESERVING 1
#include "backends/cuda/shim/kernels.h"
