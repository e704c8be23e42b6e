/* launch.h - launches kernels on as many blocks as there is work for, and waits for them. */
#ifndef GBEES_CUDA_LAUNCH_H
#define GBEES_CUDA_LAUNCH_H

#include "device/state.h"
#include <gbees/backend.h>

/* Sends the state, launches a kernel (KERNEL_...) on all bricks of the grid, waits for it, and fetches the state.
 * arguments[count]: those behind the setup and the state, as cuLaunchKernel() takes them; 6 at most. */
int engine_launch(gbees_engine *e, int kernel, void **arguments, int count, gbees_error *error);

/* Launches a kernel that has no grid barrier, with all its arguments, on as many blocks as are resident at once.
 * Neither sends the state nor waits: so kernels follow each other in the stream. */
int engine_start(gbees_engine *e, int kernel, void **arguments, gbees_error *error);
/* Starts to send the host's copy of the state; `doing` is for the error's text. */
int engine_send_state(gbees_engine *e, const char *doing, gbees_error *error);
/* Fetches the state, and waits for it and for all launches before. */
int engine_fetch_state(gbees_engine *e, const char *doing, gbees_error *error);

/* Passes of the planned step: e->passes, or more where sweeps are repeated. */
int engine_planned_passes(const gbees_engine *e);

/* Launches pass 0 .. engine_planned_passes() - 1 of a large grid's step (KERNEL_ADVECT), or the marks after the last
 * one (KERNEL_MARK). */
int engine_launch_pass(gbees_engine *e, int kernel, int pass, gbees_error *error);

/* Sends the state, in which `stop` is STOP_PRUNE, prunes the grid, and fetches the state. */
int engine_launch_prune(gbees_engine *e, gbees_error *error);

/* Waits until the kernels of large grids are compiled, and loads them. */
int engine_take_large_kernels(gbees_engine *e, gbees_error *error);

/* Launches the kernels of an update and the prune after it, one behind the other, waits for them, and fetches the
 * state. */
int engine_launch_update(gbees_engine *e, gbees_update_params *params, gbees_error *error);

/* Takes steps until `target` of them are done, a kernel stops for what the host has to handle (state->stop), or the
 * grid has `split_from` bricks. */
int engine_launch_steps(gbees_engine *e, uint64_t target, gbees_error *error);

#endif
