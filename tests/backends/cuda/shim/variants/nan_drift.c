/* nan_drift.c - a drift that is no number somewhere, split5, mixed precision. */
#define SHIM_VARIANT nan_drift
#define SHIM_MODEL "nan_drift"
#define SHIM_PLUGIN "tests/plugins/nan.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#include "backends/cuda/shim/kernels.h"
