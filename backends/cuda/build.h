/* build.h - all kernels of a problem, in programs that are compiled side by side. */
#ifndef GBEES_CUDA_BUILD_H
#define GBEES_CUDA_BUILD_H

#include "program.h"
#include <gbees/problem.h>

/* Programs, by what their kernels do: spec.c knows them as GBEES_PART of device/engine.cu. */
enum {
    PROGRAM_STEPS,
    PROGRAM_GRID,
    PROGRAM_UPDATES,
    PROGRAM_MOVES,
    PROGRAM_PRUNES,
    PROGRAM_MARKS,
    PROGRAM_LIKELIHOODS,
    PROGRAM_SWEEPS,
    PROGRAM_SMALL,
    PROGRAMS
};

typedef struct program_set {
    program part[PROGRAMS]; /* {0}: not wanted */
    double wall_s;          /* to make them, all together */
} program_set;

/* Updates only where there is a measurement; moves, and the marks after them, only where grids become large; steps of
 * small grids where these can be one cluster of blocks. */
int program_is_wanted(const gbees_problem *problem, const char *arch, int part);

/* As program_build(); the first error is reported.  `exact`: see spec.h.  Opens the compiler if there is something to
 * compile. */
int program_set_build(cuda_api *api, const gbees_problem *problem, const char *arch, int exact, program_set *out,
                      gbees_error *error);
void program_set_destroy(const cuda_api *api, program_set *set);

#endif
