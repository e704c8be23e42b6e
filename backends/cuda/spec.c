/* spec.c - see spec.h. */
#include "spec.h"
#include "build.h"
#include "common/initial.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One unit of both texts takes no longer to make than two that are linked, its kernels are the same, and it needs one
 * library less; the other way is for whoever compares them. */
static int is_separate(void)
{
    const char *units = getenv("GBEES_CUDA_UNITS");

    return units && strcmp(units, "two") == 0;
}

unsigned cuda_spec_libraries(void)
{
    return CUDA_COMPILER_LATER | (is_separate() ? (unsigned)CUDA_LINKER : 0u);
}

int cuda_spec_is_wide(const gbees_problem *problem)
{
    return problem->numerics.precision != GBEES_DOUBLE && initial_box_is_fine(problem);
}

void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int part, int exact)
{
    static const char *const parts[PROGRAMS] = {"GBEES_PART=1", "GBEES_PART=2", "GBEES_PART=3", "GBEES_PART=4"};
    static const char *const diffusions[] = {"GBEES_DIFFUSION=0", "GBEES_DIFFUSION=1", "GBEES_DIFFUSION=2"};
    const gbees_numerics *numerics = &problem->numerics;
    int twice = numerics->precision == GBEES_DOUBLE, split = gbees_scheme_is_split(numerics->scheme);
    const char *const blocks[PROGRAMS] = {"GBEES_BLOCKS=2", "GBEES_BLOCKS=2", "GBEES_BLOCKS=1",
                                          twice ? "GBEES_BLOCKS=3" : "GBEES_BLOCKS=4"};

    *spec = (program_spec){
        .model = problem->model,
        .dimension = problem->dimension,
        .defines = {twice ? "GBEES_REAL=double" : "GBEES_REAL=float",
                    twice ? "GBEES_REAL_IS_DOUBLE=1" : "GBEES_REAL_IS_DOUBLE=0",
                    cuda_spec_is_wide(problem) ? "GBEES_WIDE=1" : "GBEES_WIDE=0",
                    split ? "GBEES_SPLIT=1" : "GBEES_SPLIT=0",
                    numerics->scheme == GBEES_SCHEME_SPLIT5_MP ? "GBEES_PRESERVING=1" : "GBEES_PRESERVING=0",
                    numerics->scheme == GBEES_SCHEME_CTU_DIVERGENCE ? "GBEES_DIVERGENCE=1" : "GBEES_DIVERGENCE=0",
                    blocks[part], parts[part],
                    problem->model->flags & GBEES_TIME_DEPENDENT ? "GBEES_MOVING=1" : "GBEES_MOVING=0",
                    diffusions[problem->model->diffusion]},
        .define_count = 10,
        .no_contraction = twice || exact, /* the CPU's bits, where the operations are the same */
        .separate = is_separate()};
    (void)snprintf(spec->arch, sizeof spec->arch, "%s", arch);
}
