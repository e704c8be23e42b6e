/* duffing_small.c - Duffing's oscillator, split5, mixed precision, with the kernel for a cluster's small grids. */
#define SHIM_VARIANT duffing_small
#define SHIM_MODEL "duffing"
#define SHIM_PLUGIN "plugins/duffing.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_SMALL 1
#include "backends/cuda/shim/kernels.h"
