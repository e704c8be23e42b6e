/* cuda_fixture.h - for the tests of the CUDA module's run-time half, none of which needs a GPU: a folder of libraries
 * that is all that can be found, and models made of a text. */
#ifndef GBEES_TESTS_CUDA_FIXTURE_H
#define GBEES_TESTS_CUDA_FIXTURE_H

#include "cuda/compile/program.h"
#include "cuda/driver/api.h"
#include "fixtures/module_fixture.h"
#include "fixtures/suite.h"
#include <dlfcn.h>

/* Whether NVRTC and nvJitLink can be opened; a test that needs them ends with 77, "skipped", if not. */
static inline int can_compile(void)
{
    cuda_api api = {0};
    gbees_error why;

    if (cuda_api_open(&api, CUDA_COMPILER | CUDA_LINKER, &why)) {
        (void)fprintf(stderr, "skipped: %s\n", why.text);
        return 0;
    }
    cuda_api_close(&api);
    return 1;
}

/* A model as a plugin's descriptor has it, whose text is part 1 of a plugin's file. */
static inline gbees_model model_of(const char *file, const char *text)
{
    return (gbees_model){.name = "mine",
                         .source = text,
                         .source_end = text + strlen(text),
                         .source_file = file,
                         .measurement_count = 1};
}

/* A spec of the model alone (GBEES_KERNELS_MODEL), which compiles in a fraction of the engine's time. */
static inline program_spec spec_of(const gbees_model *model, int dimension, const char *arch, int separate)
{
    program_spec spec = {.model = model,
                         .dimension = dimension,
                         .defines = {"GBEES_REAL=float", "GBEES_REAL_IS_DOUBLE=0", "GBEES_DRIFT_F64=0",
                                     "GBEES_SPLIT=1", "GBEES_PRESERVING=0", "GBEES_DRIFT_TIME_DEPENDENT=0",
                                     "GBEES_KERNELS=GBEES_KERNELS_MODEL"},
                         .define_count = 7,
                         .separate = separate,
                         .shape = {10, 2, 0}};

    print(spec.arch, sizeof spec.arch, "%s", arch);
    return spec;
}

#endif
