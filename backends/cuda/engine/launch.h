/* launch.h - starts kernels on as many blocks as there is work for, and waits for them. */
#ifndef GBEES_CUDA_LAUNCH_H
#define GBEES_CUDA_LAUNCH_H

#include "device/state.h"
#include <gbees/backend.h>

/* Runs a kernel (KERNEL_...) on all bricks of the grid and waits for it.  The host's copy of the state is sent before
 * and fetched after.  `arguments`: those beyond the setup and the state, as cuLaunchKernel() takes them. */
int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, gbees_error *error);

/* Runs the kernels of an update and the prune after it.  Each continues with the state that the one before leaves. */
int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* Takes steps until `target` of them are done or a kernel stops for what the host has to handle (state->stop). */
int engine_launch_steps(gbees_engine *e, uint64_t target, gbees_error *error);

#endif
