/* spec.h - what a program is compiled from: the model's text, the options for a problem, the architecture, the shape.
 */
#ifndef GBEES_CUDA_SPEC_H
#define GBEES_CUDA_SPEC_H

#include "shape.h"
#include <gbees/model.h>
#include <gbees/problem.h>

typedef struct program_spec {
    const gbees_model *model; /* its embedded text: source, source_end, source_file */
    int dimension;            /* GBEES_N */
    const char *defines[20];  /* "GBEES_REAL=float", ...: options -D */
    int define_count;
    char arch[16];      /* "sm_90" */
    int no_contraction; /* 1: a * b + c is rounded twice, as it is written */
    int separate;       /* 1: the model and the engine are compiled by themselves and linked; 0: both are one unit */
    program_shape shape;
} program_spec;

/* Fills in the spec of a program (PROGRAM_...) for a problem.  `exact`: no program contracts a * b + c, so that
 * results are those of the CPU.  The problem must outlive the spec. */
void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int program, int exact);

/* Makes a spec one for a grid that several GPUs may share. */
void cuda_spec_share(program_spec *spec, int program);

/* Whether programs are two units: GBEES_CUDA_UNITS=two. */
int cuda_spec_is_separate(void);

/* Whether probabilities are floats, but positions and velocities are not. */
int cuda_spec_is_drift_f64(const gbees_problem *problem);

/* Arrays of the density's size that the scheme works with, and its passes over them in a step (ADVECT_PASSES in
 * device/). */
int cuda_spec_rows(const gbees_problem *problem);
int cuda_spec_passes(const gbees_problem *problem);

/* The name of the model's source file, for messages, without the "./" that clang puts before it at each #include. */
const char *cuda_spec_source_file(const gbees_model *model);

#endif
