/* advect_2d_ctu_time.c - linear motion in the plane that depends on time, ctu, double precision. */
#define SHIM_VARIANT advect_2d_ctu_time
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 2
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#include "backends/cuda/shim/kernels.h"
