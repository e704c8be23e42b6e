/* targets.h - the targets of an engine's problem: what has entered them, and what is inside. */
#ifndef GBEES_LAGRANGIAN_TARGETS_H
#define GBEES_LAGRANGIAN_TARGETS_H

#include "sets.h"

/* Takes off the weights of all sets what has entered targets until now, and puts it back. To be put back before
 * points are added or measurements applied. */
int gbees_engine_take_off(gbees_engine *engine, gbees_error *error);
void gbees_engine_put_back(gbees_engine *engine);
/* What has entered before a measurement, which has been applied now, is no part of the density any more. */
void gbees_engine_settle(gbees_engine *engine);

/* The part of the density since the last measurement that has not entered a target. */
double gbees_engine_left(const gbees_engine *engine);

/* gbees_backend.targets. */
int gbees_engine_targets(gbees_engine *engine, const gbees_clock *clock, gbees_target_state *state,
                         gbees_error *error);

#endif
