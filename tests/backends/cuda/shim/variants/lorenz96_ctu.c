/* lorenz96_ctu.c - Lorenz '96, ctu, double precision; for ranks. */
#define SHIM_VARIANT lorenz96_ctu
#define SHIM_MODEL "lorenz96"
#define SHIM_PLUGIN "plugins/lorenz96.c"
#define GBEES_N 6
#define SHIM_DOUBLE
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
