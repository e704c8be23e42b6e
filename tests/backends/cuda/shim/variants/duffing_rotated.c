/* duffing_rotated.c - Duffing's oscillator on a rotated grid, split5, mixed precision. */
#define SHIM_VARIANT duffing_rotated
#define SHIM_MODEL "duffing"
#define SHIM_PLUGIN "plugins/duffing.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_ROTATED 1
#include "backends/cuda/shim/kernels.h"
