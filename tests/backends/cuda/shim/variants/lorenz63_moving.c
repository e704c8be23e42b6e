/* lorenz63_moving.c - Lorenz '63 on a grid that moves, split5, mixed precision. */
#define SHIM_VARIANT lorenz63_moving
#define SHIM_MODEL "lorenz63"
#define SHIM_PLUGIN "plugins/lorenz63.c"
#define GBEES_N 3
#define GBEES_SPLIT 1
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_ROTATED 1
#define GBEES_MOVING 1
#include "backends/cuda/shim/kernels.h"
