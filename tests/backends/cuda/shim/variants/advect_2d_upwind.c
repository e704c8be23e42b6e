/* advect_2d_upwind.c - linear and quadratic motion in the plane, upwind, double precision. */
#define SHIM_VARIANT advect_2d_upwind
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_ORDER 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
