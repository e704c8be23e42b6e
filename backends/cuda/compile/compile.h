/* compile.h - texts to device code, with NVRTC. */
#ifndef GBEES_CUDA_COMPILE_H
#define GBEES_CUDA_COMPILE_H

#include "cuda/driver/arch.h"
#include "program.h"

typedef enum cuda_form { CUDA_CUBIN, CUDA_PTX, CUDA_LTO } cuda_form;

/* Starts as {0}. */
typedef struct cuda_code {
    char *data;
    size_t size;
    char *log; /* of the compiler, and of ptxas for a cubin */
} cuda_code;

void cuda_code_free(cuda_code *code);

/* The options that a spec stands for, as an argz (<argz.h>), to be freed by the caller. */
int cuda_options_make(const program_spec *spec, const cuda_target *target, cuda_form form, char **options,
                      size_t *length, gbees_error *error);

/* One unit: `text` includes what it needs by the names of texts.h, and the model's text by "equations". */
int cuda_compile(const cuda_api *api, const program_spec *spec, const cuda_target *target, cuda_form form,
                 const char *name, const char *text, cuda_code *code, gbees_error *error);

#endif
