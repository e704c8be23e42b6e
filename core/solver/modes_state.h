/* modes_state.h - the modes of a run as a part of a checkpoint, and back. */
#ifndef GBEES_SOLVER_MODES_STATE_H
#define GBEES_SOLVER_MODES_STATE_H

#include "base/checkpoint.h"
#include "modes.h"

/* Passes all modes, with their engines, to a sink. */
int gbees_modes_save(const gbees_modes *modes, gbees_state_sink *sink, void *to, gbees_error *error);
/* Makes the modes of a checkpoint, with their engines, in place of gbees_modes_open(). */
int gbees_modes_load(gbees_modes *modes, const gbees_problem *problem, const gbees_backend *backend,
                     const gbees_engine_options *options, const gbees_checkpoint *checkpoint, gbees_error *error);

#endif
