/* pcr3bp.c - PCR3BP, split5-mp, mixed precision: bounded, the drift in double; for ranks. */
#define SHIM_VARIANT pcr3bp
#define SHIM_MODEL "pcr3bp"
#define SHIM_PLUGIN "plugins/pcr3bp.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define GBEES_PRESERVING 1
#define GBEES_BOUNDED 1
#define GBEES_DRIFT_F64 1
#define GBEES_SHARED 1
#include "backends/cuda/shim/kernels.h"
