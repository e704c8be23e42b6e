/* spec.h - what a program is compiled from: the model's text, the options for a problem, the architecture, the shape.
 */
#ifndef GBEES_CUDA_SPEC_H
#define GBEES_CUDA_SPEC_H

#include "shape.h"
#include <gbees/model.h>
#include <gbees/problem.h>

/* What decides about the code of one program (kernel_table.h). It refers to the problem, which must outlive it. */
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

/* Sets the spec of a program (PROGRAM_...) for a problem and an architecture, in the first shape to try.  `exact`:
 * the compiler contracts a * b + c nowhere, so that results are those of the CPU. */
void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int program, int exact);

/* Adds to the spec of a program what it needs on a grid that several GPUs may share. */
void cuda_spec_share(program_spec *spec, int program);

/* Whether model and engine are compiled as two units and linked: GBEES_CUDA_UNITS=two in the environment. */
int cuda_spec_is_separate(void);

/* Whether probabilities are floats, but positions and velocities are not. */
int cuda_spec_is_drift_f64(const gbees_problem *problem);

/* The number of arrays of the density's size that the scheme works with: P, the next P, and others of ctu. */
int cuda_spec_rows(const gbees_problem *problem);
/* The number of passes over them in a step: ADVECT_PASSES of device/step_state.h. */
int cuda_spec_passes(const gbees_problem *problem);

/* The name of the model's source file for messages, without the "./" that clang puts before it once for each
 * #include. */
const char *cuda_spec_source_file(const gbees_model *model);

#endif
