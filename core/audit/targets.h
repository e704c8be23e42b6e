/* targets.h - what samples have inside of targets. */
#ifndef GBEES_AUDIT_TARGETS_H
#define GBEES_AUDIT_TARGETS_H

#include "montecarlo.h"
#include <gbees/backend.h>

/* Sets state[k] of each target that counts to the part of the samples that is inside, and to two standard errors of
 * it, by so many effective samples; NAN: these are too few. */
void gbees_samples_targets(const gbees_problem *problem, const gbees_montecarlo *samples, double effective,
                           gbees_target_state *state);

#endif
