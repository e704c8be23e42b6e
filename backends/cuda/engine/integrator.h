/* integrator.h - integrates samples of a model's equations on the GPU, for an audit and for a frame that goes
 * with the flow. It needs no engine. */
#ifndef GBEES_CUDA_INTEGRATOR_H
#define GBEES_CUDA_INTEGRATOR_H

#include "cuda/compile/build.h"
#include <gbees/backend.h>

/* Creates an integrator, whose program is PROGRAM_INTEGRATE of `programs`, or PROGRAM_FOLLOW for integrations with a
 * tolerance: it may still be being made.  `api`,
 * `programs` and the problem stay the caller's, and must outlive the integrator. */
int cuda_integrator_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                           gbees_integrator **integrator, gbees_error *error);
void cuda_integrator_destroy(gbees_integrator *c);
/* The api that it was created with. */
const cuda_api *cuda_integrator_api(const gbees_integrator *c);

/* As gbees_backend.integrator_run(). */
int cuda_integrator_run(gbees_integrator *c, const gbees_integration *integration, int *done, gbees_error *error);

#endif
