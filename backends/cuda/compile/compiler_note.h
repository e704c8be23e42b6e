/* compiler_note.h - NVRTC's version and architectures, kept in the cache by the run that opened it last.  A run whose
 * kernels are all in the cache needs no more of NVRTC, and opening it takes longer than reading the kernels.
 *
 * A note is valid for one file of the library, until it changes, and for one search: the environment's variables for
 * libraries and the driver's version.
 */
#ifndef GBEES_CUDA_COMPILER_NOTE_H
#define GBEES_CUDA_COMPILER_NOTE_H

#include "cuda/driver/api.h"

/* Fills in the api's version and architectures.  Returns 0 if there is no valid note. */
int compiler_note_read(cuda_api *api);
/* Writes a note of the NVRTC that is open.  If that fails, the next run opens NVRTC again. */
void compiler_note_write(const cuda_api *api);

#endif
