/* program.h - kernels for one model: compiled, linked and loaded. */
#ifndef GBEES_CUDA_PROGRAM_H
#define GBEES_CUDA_PROGRAM_H

#include "cuda/driver/api.h"
#include <gbees/model.h>

/* What decides how many registers a thread has: the fewer warps and blocks, the more. */
typedef struct program_shape {
    int warps, blocks; /* of a block; that a multiprocessor is to hold */
    int low_registers; /* 1: the kernels do with fewer registers, by more instructions */
} program_shape;

typedef struct program_spec {
    const gbees_model *model; /* its embedded text: source, source_end, source_file */
    int dimension;            /* GBEES_N */
    const char *defines[16];  /* "GBEES_REAL=float", ...: options -D */
    int define_count;
    char arch[16];      /* "sm_90" */
    int no_contraction; /* a * b + c is rounded twice, as it is written */
    int separate;       /* 1: the engine's and the model's units to LTO-IR, linked; 0: one concatenated unit */
    program_shape shape;
} program_spec;

/* Starts as {0}. */
typedef struct program {
    void *image; /* a cubin, or the text of a PTX program: NUL-terminated */
    size_t image_size;
    char *report; /* a line a kernel: registers, stack, spills, shared memory; what ptxas said of it */
    double compile_s, link_s;
    int from_cache;
    program_shape shape; /* the spec's, or one with more registers, where that one's do not suffice */
    CUmodule module;     /* NULL before program_load() */
} program;

/* From the cache; out->image stays NULL if it is not there. Needs no more of the compiler than what is known of it.
 */
int program_find(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);
/* Compiled and linked, and into the cache: again with another shape as long as kernels keep registers in memory;
 * needs CUDA_COMPILER and, for `separate`, CUDA_LINKER, but no GPU. A model's errors are GBEES_EMODEL, with its file
 * and line; if NVRTC does not know the architecture, the highest one below that it knows is compiled to PTX, for the
 * driver to finish. */
int program_make(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);
/* From the cache, or so. */
int program_build(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* Into the current context. */
int program_load(const cuda_api *api, program *p, gbees_error *error);
int program_function(const cuda_api *api, const program *p, const char *name, CUfunction *function,
                     gbees_error *error);
/* What program_build() and program_load() have made, and {0} again; api may be NULL if nothing was loaded. */
void program_destroy(const cuda_api *api, program *p);

#endif
