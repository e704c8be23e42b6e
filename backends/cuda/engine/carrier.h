/* carrier.h - samples of a model's equations, carried by the GPU: beside engines, which it has nothing to do with. */
#ifndef GBEES_CUDA_CARRIER_H
#define GBEES_CUDA_CARRIER_H

#include "cuda/compile/build.h"
#include <gbees/backend.h>

/* Creates a carrier, whose program is PROGRAM_CARRY of `programs`, made or left for later.  It uses `api` and
 * `programs`, but does not own them. */
int cuda_carrier_create(const cuda_api *api, CUdevice device, program_set *programs, const gbees_problem *problem,
                        gbees_carrier **carrier, gbees_error *error);
void cuda_carrier_destroy(gbees_carrier *c);
const cuda_api *cuda_carrier_api(const gbees_carrier *c);

/* gbees_backend.carrier_carry */
int cuda_carrier_carry(gbees_carrier *c, const gbees_journey *journey, int *carried, gbees_error *error);

#endif
