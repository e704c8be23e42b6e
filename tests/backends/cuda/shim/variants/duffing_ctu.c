/* duffing_ctu.c - Duffing's oscillator, ctu, double precision: the drift depends on time. */
#define SHIM_VARIANT duffing_ctu
#define SHIM_MODEL "duffing"
#define SHIM_PLUGIN "plugins/duffing.c"
#define GBEES_N 2
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#include "backends/cuda/shim/kernels.h"
