/* advect_3d_ctu.c - linear and quadratic motion in space, ctu, double precision. */
#define SHIM_VARIANT advect_3d_ctu
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 3
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
