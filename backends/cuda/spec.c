/* spec.c - see spec.h. */
#include "spec.h"
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
    return CUDA_COMPILER | (is_separate() ? (unsigned)CUDA_LINKER : 0u);
}

void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch)
{
    static const char *const single[] = {"GBEES_REAL=float"}, *const twice[] = {"GBEES_REAL=double"};

    *spec = (program_spec){.model = problem->model,
                           .dimension = problem->dimension,
                           .defines = problem->numerics.precision == GBEES_DOUBLE ? twice : single,
                           .define_count = 1,
                           .separate = is_separate()};
    (void)snprintf(spec->arch, sizeof spec->arch, "%s", arch);
}
