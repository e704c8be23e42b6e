/* stop_error.h - the reasons to stop that are errors. */
#ifndef GBEES_CUDA_STOP_ERROR_H
#define GBEES_CUDA_STOP_ERROR_H

#include <gbees/backend.h>

/* Turns what a kernel stopped for (state->stop, state->bad) into an error.  Returns 0 for the stops that are none:
 * advance.c handles these. */
int engine_stop_error(const gbees_engine *e, gbees_error *error);

#endif
