/* stop_error.h - errors for which kernels of steps stop. */
#ifndef GBEES_CUDA_STOP_ERROR_H
#define GBEES_CUDA_STOP_ERROR_H

#include <gbees/backend.h>

/* Sets the error that a kernel has stopped for (state->stop, state->bad).  Returns 0 for reasons to stop that are no
 * errors: advance.c handles these. */
int engine_stop_error(const gbees_engine *e, gbees_error *error);

/* The model time at which the velocities of the next step's bricks are looked at. */
double engine_look_time(const gbees_engine *e);

/* Sets the error for a drift that is not finite, or a diffusion that is invalid, in the brick in a slot. */
int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error);

#endif
