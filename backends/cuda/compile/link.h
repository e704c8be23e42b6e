/* link.h - units of intermediate code to one cubin, with nvJitLink: what one calls of the other is inlined. */
#ifndef GBEES_CUDA_LINK_H
#define GBEES_CUDA_LINK_H

#include "compile.h"

int cuda_link(const cuda_api *api, const program_spec *spec, const cuda_target *target, const cuda_code *units,
              int count, cuda_code *code, gbees_error *error);

#endif
