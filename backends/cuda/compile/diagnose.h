/* diagnose.h - turns a compiler's log into one line that a model's author can act on. */
#ifndef GBEES_CUDA_DIAGNOSE_H
#define GBEES_CUDA_DIAGNOSE_H

#include <gbees/error.h>
#include <gbees/model.h>

/* Sets the error from a failed compilation. `log`: of NVRTC or nvJitLink, or NULL; `result`: the text of their error
 * code. Returns GBEES_EMODEL, with file and line, if the model's text is at fault, else GBEES_EBACKEND. */
int cuda_diagnose(const gbees_model *model, const char *log, const char *result, gbees_error *error);

#endif
