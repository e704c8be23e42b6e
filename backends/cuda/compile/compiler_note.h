/* compiler_note.h - a note in the cache of NVRTC's version and architectures.  A run whose kernels are all in the
 * cache needs nothing else of NVRTC, and opening NVRTC takes longer than reading the kernels.  A run that opens it
 * writes the note.
 *
 * The key of a note is what decides which file is opened: the environment's variables for libraries, and the driver's
 * version.  A note is valid until that file changes.
 */
#ifndef GBEES_CUDA_COMPILER_NOTE_H
#define GBEES_CUDA_COMPILER_NOTE_H

#include "cuda/driver/api.h"

/* Sets the version and the architectures of NVRTC in `api`.  Returns 0 if there is no valid note. */
int compiler_note_read(cuda_api *api);
/* Writes a note of the NVRTC that is open.  If that fails, the next run opens NVRTC again. */
void compiler_note_write(const cuda_api *api);

#endif
