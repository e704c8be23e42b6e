/* lorenz63_ctu.c - Lorenz '63, ctu, double precision. */
#define SHIM_VARIANT lorenz63_ctu
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define SHIM_DOUBLE
#include "backends/cuda/shim/kernels.h"
