/* arch.h - which architecture to compile for. */
#ifndef GBEES_CUDA_ARCH_H
#define GBEES_CUDA_ARCH_H

#include "api.h"

typedef struct cuda_target {
    char name[16]; /* "sm_90", or "compute_90": PTX, which the driver compiles when it is loaded */
    int is_ptx;
} cuda_target;

/* Writes the architecture of a device, "sm_90"; arch holds 16 bytes. */
int cuda_device_arch(const cuda_api *api, CUdevice device, char *arch, gbees_error *error);

/* Chooses for a device of architecture `arch` ("sm_90"): the same if this NVRTC knows it, else PTX of the highest one
 * below it that it knows. */
int cuda_target_choose(const cuda_api *api, const char *arch, cuda_target *target, gbees_error *error);

#endif
