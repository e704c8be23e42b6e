/* integrator.h - integrates samples along a model's equations on the GPU; independent of engines. */
#ifndef GBEES_CUDA_INTEGRATOR_H
#define GBEES_CUDA_INTEGRATOR_H

#include "cuda/compile/build.h"
#include <gbees/backend.h>

/* Creates an integrator, whose program is PROGRAM_INTEGRATE of `programs`, made or left for later.  It uses `api` and
 * `programs`, but does not own them. */
int cuda_integrator_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                           gbees_integrator **integrator, gbees_error *error);
void cuda_integrator_destroy(gbees_integrator *c);
const cuda_api *cuda_integrator_api(const gbees_integrator *c);

/* gbees_backend.integrator_run */
int cuda_integrator_run(gbees_integrator *c, const gbees_integration *integration, int *done, gbees_error *error);

#endif
