/* advect_2d_ctu_mixed.c - linear and quadratic motion in the plane, ctu, mixed precision. */
#define SHIM_VARIANT advect_2d_ctu_mixed
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 2
#include "backends/cuda/shim/kernels.h"
