/* advect_4d_time.c - motion in four dimensions that depends on time, split5, double precision; for ranks. */
#define SHIM_VARIANT advect_4d_time
#define SHIM_MODEL "advect"
#define SHIM_PLUGIN "tests/plugins/advect.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
