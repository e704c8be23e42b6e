/* program.h - kernels for one model: found in the cache or compiled, linked and loaded. */
#ifndef GBEES_CUDA_PROGRAM_H
#define GBEES_CUDA_PROGRAM_H

#include "cuda/driver/api.h"
#include "spec.h"

/* The compiled kernels of one spec. Starts as {0}. */
typedef struct program {
    void *image; /* a cubin, or the text of a PTX program: NUL-terminated */
    size_t image_size;
    char *report;             /* a line a kernel (report.h); "" for PTX */
    double compile_s, link_s; /* seconds of NVRTC and of nvJitLink; 0: from the cache, or not linked */
    int from_cache;           /* 1: it was not compiled in this run */
    int is_linked;            /* 1: linked of two units */
    program_shape shape;      /* the spec's, or the first one after it whose kernels do not spill */
    CUmodule module;          /* NULL before program_load() */
} program;

/* Looks the program up in the cache: out->image stays NULL if it is not there.  NVRTC need not be open. */
int program_find(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* Compiles the program and puts it into the cache.  As long as kernels spill, it is compiled again in the next shape.
 * Needs CUDA_COMPILER and, for spec->separate, CUDA_LINKER, but no GPU.  If NVRTC does not know the architecture, the
 * result is PTX for the highest one below it that it knows, which the driver compiles when it is loaded.  Returns
 * GBEES_EMODEL, with the model's file and line, if the model's text is at fault. */
int program_make(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* Finds the program in the cache, or makes it; then NVRTC must be open. */
int program_build(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* Loads the program into the current context: sets p->module. */
int program_load(const cuda_api *api, program *p, gbees_error *error);
/* Sets *function to the kernel of that name of a loaded program. */
int program_function(const cuda_api *api, const program *p, const char *name, CUfunction *function,
                     gbees_error *error);

/* Frees what the program holds; it is {0} again.  api may be NULL if it was not loaded. */
void program_destroy(const cuda_api *api, program *p);

#endif
