/* build.h - all kernels of a problem, in programs that are compiled side by side. */
#ifndef GBEES_CUDA_BUILD_H
#define GBEES_CUDA_BUILD_H

#include "kernel_table.h"
#include "program.h"
#include <gbees/problem.h>

/* A program that is made in a thread of its own. */
typedef struct program_job program_job;

typedef struct program_set {
    program part[PROGRAMS];     /* {0}: not wanted, or not taken yet */
    program_job *job[PROGRAMS]; /* of programs that were left for later; NULL: none, or taken */
    double wall_s;              /* from begin to end of program_set_build() */
} program_set;

/* program_find() or program_make() */
typedef int program_maker(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* What to build. */
typedef struct program_order {
    const gbees_problem *problem;
    const char *arch;
    int exact;      /* see cuda_spec_set() */
    int shared;     /* several GPUs may share the grid */
    unsigned later; /* bit k: the caller does not wait for program k, but takes it when it is made */
} program_order;

/* Finds or makes all programs that the problem needs, and opens NVRTC if one has to be made.  Returns the first
 * error.
 */
int program_set_build(cuda_api *api, const program_order *order, program_set *out, gbees_error *error);

/* Waits for all programs that were left for later, so that the cache has them, and frees the set. */
void program_set_destroy(const cuda_api *api, program_set *set);

/* Begins to make a program that is left for later: in this thread, if no other one can be started. */
int program_set_begin(program_set *set, int part, const cuda_api *api, const program_spec *spec, program_maker *make,
                      gbees_error *error);

/* Takes a program that was left for later into set->part[part] if it has been made; if `waits` is set, when it has.
 * Returns, once, the error that it was made with. */
int program_set_take(program_set *set, int part, int waits, gbees_error *error);

#endif
