/* spec.h - which kernels a problem needs. */
#ifndef GBEES_CUDA_SPEC_H
#define GBEES_CUDA_SPEC_H

#include "program.h"
#include <gbees/problem.h>

/* What has to be opened to make them. */
unsigned cuda_spec_libraries(void);

/* Whether probabilities are floats, but positions and velocities are not. */
int cuda_spec_is_drift_f64(const gbees_problem *problem);

/* Whether there is a measurement before the end: else no kernels for updates are needed. */
int cuda_spec_has_updates(const gbees_problem *problem);

/* Whether grids may become so large that the density is moved by a kernel of its own; and whether it always is, of
 * small ones by yet another: then the steps' kernel can't. */
int cuda_spec_has_advect(const gbees_problem *problem);
int cuda_spec_advects_apart(const gbees_problem *problem);

/* Whether a kernel of its own takes the steps of small grids: it comes to the same as the common ones, bit by bit. */
int cuda_spec_has_small(const gbees_problem *problem, const char *arch);

/* Arrays of the density's size that the scheme works with. */
int cuda_spec_rows(const gbees_problem *problem);

/* `arch`: cut to fit; `part`: of build.h; `exact`: a * b + c is
 * rounded twice, as on the CPU. The problem must outlive the spec. */
void cuda_spec_set(program_spec *spec, const gbees_problem *problem, const char *arch, int part, int exact);

#endif
