/* advect_1d_ctu.c - linear and quadratic motion along a line, ctu, double precision. */
#define SHIM_VARIANT advect_1d_ctu
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
