/* launch.h - starts kernels on as many blocks as there is work for, and waits for them. */
#ifndef GBEES_CUDA_LAUNCH_H
#define GBEES_CUDA_LAUNCH_H

#include "device/state.h"
#include <gbees/backend.h>

/* Runs a kernel (KERNEL_...) on all bricks of the grid and waits for it.  The host's copy of the state is sent before
 * and fetched after.  `arguments`: those beyond the setup and the state, as cuLaunchKernel() takes them. */
int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, gbees_error *error);

/* The parts of it, for kernels that follow each other without the host: starts a kernel without a barrier of the grid
 * on as many blocks as are resident at once, with all its arguments; sends, or waits and fetches, the state. */
int engine_start(gbees_engine *e, int kernel, void **arguments, gbees_error *error);
int engine_send_state(gbees_engine *e, const char *doing, gbees_error *error);
int engine_fetch_state(gbees_engine *e, const char *doing, gbees_error *error);

/* Starts one pass of a large grid's step, or the marks after the last. */
int engine_launch_pass(gbees_engine *e, int kernel, int pass, gbees_error *error);

/* Prunes (state->stop is STOP_PRUNE), and fetches the state. */
int engine_launch_prune(gbees_engine *e, gbees_error *error);

/* Waits for the kernels of large grids. */
int engine_take_large_kernels(gbees_engine *e, gbees_error *error);

/* Runs the kernels of an update and the prune after it.  Each continues with the state that the one before leaves. */
int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* Takes steps until `target` of them are done, a kernel stops for what the host has to handle (state->stop), or the
 * grid has `share_from` bricks. */
int engine_launch_steps(gbees_engine *e, uint64_t target, gbees_error *error);

#endif
