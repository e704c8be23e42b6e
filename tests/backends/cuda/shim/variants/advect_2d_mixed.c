/* advect_2d_mixed.c - linear and quadratic motion in the plane, split5, mixed precision. */
#define SHIM_VARIANT advect_2d_mixed
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#include "backends/cuda/shim/kernels.h"
