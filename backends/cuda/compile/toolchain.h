/* toolchain.h - what a run needs to have opened before it makes kernels. */
#ifndef GBEES_CUDA_TOOLCHAIN_H
#define GBEES_CUDA_TOOLCHAIN_H

#include "cuda/driver/api.h"

/* Opens the driver if `with_driver` is set, and nvJitLink if programs are two units.  NVRTC is opened only if the
 * cache has no note of it (compiler_note.h): cuda_api_open_compiler() opens it when there is something to compile.
 * Returns GBEES_EBACKEND, and which of them can't be used here and why. */
int toolchain_open(cuda_api *api, int with_driver, gbees_error *error);

#endif
