/* diagnose.h - from a compiler's log to one line that an author of models can act on. */
#ifndef GBEES_CUDA_DIAGNOSE_H
#define GBEES_CUDA_DIAGNOSE_H

#include <gbees/error.h>
#include <gbees/model.h>

/* `log`: of NVRTC or of the linker, or NULL; `result`: what there is to say without it.  GBEES_EMODEL, with file and
 * line, if the fault is in the model's text, else GBEES_EBACKEND. */
int cuda_diagnose(const gbees_model *model, const char *log, const char *result, gbees_error *error);

#endif
