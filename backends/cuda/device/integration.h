/* integration.h - what the host passes to the kernels that integrate samples: gbees_integration (gbees/backend.h),
 * whose fields these are, with arrays in the GPU's memory. */
#ifndef GBEES_CUDA_INTEGRATION_H
#define GBEES_CUDA_INTEGRATION_H

#include "device/state.h"

typedef struct gbees_samples {
    GBEES_POINTER(double) x;        /* [axis][sample], changed in place */
    GBEES_POINTER(uint64_t) number; /* [sample], for random numbers; 0: its place in x */
    uint64_t count, seed, steps, first;
    int is_timed; /* 1: the equations depend on the time */
    double time, time_step, doubt_most;
    GBEES_POINTER(uint64_t) evaluations; /* with a tolerance: of the drift, added */
    double tolerance, end;
    double scale[STATE_MAX_DIM], parameters[STATE_PARAMETERS];
} gbees_samples;

#endif
