/* certify.h - how far the sums over an engine's lattices may be off. */
#ifndef GBEES_LAGRANGIAN_CERTIFY_H
#define GBEES_LAGRANGIAN_CERTIFY_H

#include "sets.h"

/* A figure is off by at most so many times the largest difference of any figure of a set to the mean over all:
 * tests/accuracy/lattices has no case that is off by more than 1.63 times. */
enum { GBEES_SETS_SAFETY = 2 };

/* gbees_backend.certify. */
int gbees_engine_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error);

#endif
