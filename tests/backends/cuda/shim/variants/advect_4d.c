/* advect_4d.c - linear and quadratic motion in four dimensions, split5, double precision. */
#define SHIM_VARIANT advect_4d
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
