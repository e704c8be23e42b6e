/* link.h - two units of intermediate code to one cubin, with nvJitLink: calls between them are inlined. */
#ifndef GBEES_CUDA_LINK_H
#define GBEES_CUDA_LINK_H

#include "compile.h"

/* Links the units to code->data; code->log is what ptxas reports. */
int cuda_link(const cuda_api *api, const cuda_goal *goal, const cuda_code units[2], cuda_code *code,
              gbees_error *error);

#endif
