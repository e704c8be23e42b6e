/* compiler_note.h - what is to be known of NVRTC when all kernels are in the cache: its version and its
 * architectures, written down there by the run that opened it last.  To open it takes longer than to read the
 * kernels.
 *
 * A note holds for one file, as long as it is not changed, and for one way of looking for it: what the environment
 * says of libraries, and the driver's version.
 */
#ifndef GBEES_CUDA_COMPILER_NOTE_H
#define GBEES_CUDA_COMPILER_NOTE_H

#include "cuda/driver/api.h"

/* 1: the version and the architectures are filled in. */
int compiler_note_read(cuda_api *api);
/* Of the compiler that is open. What can't be written is looked up again next time. */
void compiler_note_write(const cuda_api *api);

#endif
