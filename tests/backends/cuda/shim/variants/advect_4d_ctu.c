/* advect_4d_ctu.c - linear and quadratic motion in four dimensions, ctu, double precision. */
#define SHIM_VARIANT advect_4d_ctu
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 4
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
