/* lorenz63_ctu_positive.c - Lorenz '63, ctu-positive, double precision, few registers. */
#define SHIM_VARIANT lorenz63_ctu_positive
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define SHIM_DOUBLE
#define GBEES_DIVERGENCE 1
#define GBEES_LIMITED 1
#define GBEES_LOW_REGISTERS 1
#include "backends/cuda/shim/kernels.h"
