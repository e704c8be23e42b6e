/* advect_1d.c - linear and quadratic motion along a line, split5, double precision. */
#define SHIM_VARIANT advect_1d
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 1
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
