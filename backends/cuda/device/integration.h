/* integration.h - what the host passes to the kernels that integrate samples: gbees_integration (gbees/backend.h),
 * whose fields these are, with arrays in the GPU's memory. */
#ifndef GBEES_CUDA_INTEGRATION_H
#define GBEES_CUDA_INTEGRATION_H

#include "device/state.h"

/* A gbees_integration_stop. */
typedef struct gbees_stop {
    double time, time_step;
    uint64_t steps;
    double scale[STATE_MAX_DIM];
} gbees_stop;

typedef struct gbees_samples {
    GBEES_POINTER(double) x;        /* [axis][sample]; without a tolerance changed in place */
    GBEES_POINTER(uint64_t) number; /* [sample], for random numbers; 0: its place in x */
    uint64_t count, seed, steps, first;
    int is_timed; /* 1: the equations depend on the time */
    double time, time_step, doubt_most;
    double scale[STATE_MAX_DIM], parameters[STATE_PARAMETERS];

    double tolerance; /* above 0: with the members below */
    uint64_t stop_count;
    GBEES_POINTER(gbees_stop) stop;      /* [stop_count] */
    GBEES_POINTER(double) places;        /* [axis][stop][sample] */
    GBEES_POINTER(uint64_t) evaluations; /* of the drift, added */
} gbees_samples;

#endif
