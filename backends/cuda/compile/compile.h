/* compile.h - compiles texts to device code by NVRTC. */
#ifndef GBEES_CUDA_COMPILE_H
#define GBEES_CUDA_COMPILE_H

#include "cuda/driver/arch.h"
#include "spec.h"
#include <stddef.h>

/* Code of one architecture; text that the driver compiles; intermediate code that nvJitLink links. */
typedef enum cuda_form { CUDA_CUBIN, CUDA_PTX, CUDA_LTO } cuda_form;

/* What a spec's texts are compiled to. */
typedef struct cuda_goal {
    const program_spec *spec;
    const cuda_target *target;
    cuda_form form;
} cuda_goal;

/* Compiled code. Starts as {0}. */
typedef struct cuda_code {
    char *data;  /* NUL-terminated */
    size_t size; /* of data, without the NUL */
    char *log;   /* of NVRTC, and of ptxas for a cubin */
} cuda_code;

/* Frees what a code holds; it is {0} again. */
void cuda_code_free(cuda_code *code);

/* Options of NVRTC as an argz (<argz.h>): NUL-terminated, one behind the other. */
typedef struct cuda_options {
    char *argz;
    size_t length;
} cuda_options;

/* Makes the options for a goal; the caller frees options->argz. */
int cuda_options_make(const cuda_goal *goal, cuda_options *options, gbees_error *error);

/* Compiles one unit to *code, which the caller frees.  `text` includes what it needs by the names of texts.h, and the
 * model's text by "equations"; `name` stands for the unit in messages.  Returns GBEES_EMODEL if the model is at
 * fault. */
int cuda_compile(const cuda_api *api, const cuda_goal *goal, const char *name, const char *text, cuda_code *code,
                 gbees_error *error);

#endif
