/* build.h - all kernels of a problem, in programs that are compiled side by side. */
#ifndef GBEES_CUDA_BUILD_H
#define GBEES_CUDA_BUILD_H

#include "program.h"
#include <gbees/problem.h>

/* Programs, by what their kernels do: each is a value of GBEES_KERNELS (device/kernels.h). */
enum {
    PROGRAM_STEPS,
    PROGRAM_GRID,
    PROGRAM_UPDATES,
    PROGRAM_ADVECT,
    PROGRAM_PRUNES,
    PROGRAM_MARKS,
    PROGRAM_LIKELIHOODS,
    PROGRAM_ADVECT_ALL,
    PROGRAM_SMALL,
    PROGRAMS
};

/* A program that is made in a thread of its own. */
typedef struct program_job program_job;

typedef struct program_set {
    program part[PROGRAMS];     /* {0}: not wanted, or not taken yet */
    program_job *job[PROGRAMS]; /* of those that were left for later; NULL: none, or taken */
    double wall_s;              /* to make all others, together */
} program_set;

/* program_find(), program_make() */
typedef int program_maker(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* Updates only where there is a measurement; moves, and the marks after them, only where grids become large; steps of
 * small grids where these can be one cluster of blocks. */
int program_is_wanted(const gbees_problem *problem, const char *arch, int part);

/* As program_build(); the first error is reported.  `exact`: see spec.h.  Opens the compiler if there is something to
 * compile.  Those in `later`, bit by bit, are not waited for: they go on being compiled, and are there to be taken.
 */
int program_set_build(cuda_api *api, const gbees_problem *problem, const char *arch, int exact, unsigned later,
                      program_set *out, gbees_error *error);
/* Ends when all that were left for later have been made, and are in the cache. */
void program_set_destroy(const cuda_api *api, program_set *set);

/* Begins to make one for later: in this thread, if there is none to be had. */
int program_set_begin(program_set *set, int part, const cuda_api *api, const program_spec *spec, program_maker *make,
                      gbees_error *error);
/* One that was left for later: part[part] has it if it has been made by now, or after it has if `waits`. Returns what
 * went wrong when it was made, once. */
int program_set_take(program_set *set, int part, int waits, gbees_error *error);

#endif
