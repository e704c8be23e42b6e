/* lorenz63_double.c - Lorenz '63, split5, double precision. */
#define SHIM_VARIANT lorenz63_double
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
