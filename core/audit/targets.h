/* targets.h - what samples have inside of targets, and what has entered them. */
#ifndef GBEES_AUDIT_TARGETS_H
#define GBEES_AUDIT_TARGETS_H

#include "montecarlo.h"
#include <gbees/backend.h>

/* Sets state[k] of each target to the part of the samples that is inside, or, if it absorbs, that has entered it
 * since the last update; and to two standard errors of it, by so many effective samples now; NAN: these, or those
 * then, are too few. */
void gbees_samples_targets(const gbees_montecarlo *samples, double effective, gbees_target_state *state);

#endif
