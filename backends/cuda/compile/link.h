/* link.h - links two units of intermediate code to one cubin by nvJitLink, which inlines calls between them. */
#ifndef GBEES_CUDA_LINK_H
#define GBEES_CUDA_LINK_H

#include "compile.h"

/* Links the model's unit, units[0], and the engine's, units[1]. Sets code->data to the cubin and code->log to what
 * ptxas reports; the caller frees them. Returns GBEES_EMODEL if the model is at fault. */
int cuda_link(const cuda_api *api, const cuda_goal *goal, const cuda_code units[2], cuda_code *code,
              gbees_error *error);

#endif
