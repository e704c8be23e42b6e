/* advect_3d.c - linear and quadratic motion in space, split5, double precision. */
#define SHIM_VARIANT advect_3d
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
