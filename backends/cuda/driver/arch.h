/* arch.h - the architecture of a device, and the one that kernels are compiled for. */
#ifndef GBEES_CUDA_ARCH_H
#define GBEES_CUDA_ARCH_H

#include "api.h"

/* What NVRTC compiles for. */
typedef struct cuda_target {
    char name[16]; /* "sm_90", or "compute_90": PTX, which the driver compiles when it is loaded */
    int is_ptx;    /* 1: PTX */
} cuda_target;

/* Sets arch, which has 16 bytes, to the architecture of a device: "sm_90". */
int cuda_device_arch(const cuda_api *api, CUdevice device, char *arch, gbees_error *error);

/* Sets *target for a device of architecture `arch` ("sm_90"): the same if this NVRTC knows it, else PTX of the
 * highest one below it that it knows.  Returns GBEES_EUSAGE for a text that is no architecture, GBEES_EBACKEND for a
 * device that is older than all that NVRTC knows. */
int cuda_target_choose(const cuda_api *api, const char *arch, cuda_target *target, gbees_error *error);

#endif
