/* build.h - all kernels of a problem, in programs that are compiled side by side. */
#ifndef GBEES_CUDA_BUILD_H
#define GBEES_CUDA_BUILD_H

#include "kernel_table.h"
#include "program.h"
#include <gbees/problem.h>

/* A program that is being made in a thread of its own. */
typedef struct program_job program_job;

/* All programs of a problem. */
typedef struct program_set {
    program part[PROGRAMS];     /* {0}: not wanted, or not taken yet */
    program_job *job[PROGRAMS]; /* of programs that were left for later; NULL: none, or taken */
    double wall_s;              /* seconds that program_set_build() took */
} program_set;

/* A function that finds or makes a program, as program_find() and program_make() do. */
typedef int program_maker(const cuda_api *api, const program_spec *spec, program *out, gbees_error *error);

/* What to build. */
typedef struct program_order {
    const gbees_problem *problem;
    const char *arch;
    int exact;      /* 1: as cuda_spec_set() has it */
    int shared;     /* 1: several GPUs may share the grid */
    unsigned later; /* bit k: the caller does not wait for program k, but takes it when it is made */
} program_order;

/* Finds or makes all programs that the problem needs, and opens NVRTC if one has to be made.  Returns when all are
 * there but those in order->later.  Returns the first error; then the set is empty. */
int program_set_build(cuda_api *api, const program_order *order, program_set *out, gbees_error *error);

/* Waits for all programs that were left for later, so that the cache has them, and frees the set. */
void program_set_destroy(const cuda_api *api, program_set *set);

/* Begins to make program `part` in a thread of its own; makes it in this thread if none can be started. The set takes
 * it with program_set_take(). */
int program_set_begin(program_set *set, int part, const cuda_api *api, const program_spec *spec, program_maker *make,
                      gbees_error *error);

/* Moves a program that was begun to set->part[part] if it has been made; with `waits` it waits for that. Returns the
 * error of its making when it moves it, and 0 at all other calls. */
int program_set_take(program_set *set, int part, int waits, gbees_error *error);

#endif
