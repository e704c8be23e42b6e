/* noise_moving.c - the model `noise` on a grid that moves, split5, double precision: its kernels have no diffusion.
 */
#define SHIM_VARIANT noise_moving
#define SHIM_MODEL "noise"
#define SHIM_PLUGIN "tests/plugins/noise.c"
#define GBEES_N 2
#define GBEES_SPLIT 1
#define SHIM_DOUBLE
#define GBEES_DRIFT_TIME_DEPENDENT 1
#define GBEES_DIFFUSION 0
#define GBEES_ROTATED 1
#define GBEES_MOVING 1
#include "backends/cuda/shim/kernels.h"
