/* pcr3bp_rotated.c - PCR3BP on a rotated grid, split5, mixed precision: bounded, the drift in double, few registers.
 */
#define SHIM_VARIANT pcr3bp_rotated
#define SHIM_MODEL "pcr3bp"
#define SHIM_PLUGIN "plugins/pcr3bp.c"
#define GBEES_N 4
#define GBEES_SPLIT 1
#define GBEES_BOUNDED 1
#define GBEES_DRIFT_F64 1
#define GBEES_ROTATED 1
#define GBEES_LOW_REGISTERS 1
#include "backends/cuda/shim/kernels.h"
