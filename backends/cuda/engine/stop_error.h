/* stop_error.h - the reasons to stop that are errors. */
#ifndef GBEES_CUDA_STOP_ERROR_H
#define GBEES_CUDA_STOP_ERROR_H

#include <gbees/backend.h>

/* Turns what a kernel stopped for (state->stop, state->bad) into an error.  Returns 0 for the stops that are none:
 * advance.c handles these. */
int engine_stop_error(const gbees_engine *e, gbees_error *error);

/* The drift, or the diffusion, of the brick in a slot is not a number. */
int engine_drift_error(const gbees_engine *e, uint32_t slot, double time, gbees_error *error);

#endif
