/* advect_2d_ctu_divergence.c - linear and quadratic motion in the plane, ctu with the divergence term, double
 * precision. */
#define SHIM_VARIANT advect_2d_ctu_divergence
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 2
#define SHIM_DOUBLE
#define GBEES_DIVERGENCE 1
#include "backends/cuda/shim/kernels.h"
