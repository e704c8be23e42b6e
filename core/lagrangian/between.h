/* between.h - looks between the points of lattices for what a model's own likelihood has there: a hole that falls
 * between the points of all lattices alike is in no difference of them. */
#ifndef GBEES_LAGRANGIAN_BETWEEN_H
#define GBEES_LAGRANGIAN_BETWEEN_H

#include "sets.h"

/* Estimates the evidence of a measurement at engine->past.now by samples of the density before it, each from a
 * lattice cell of the first set, and sets engine->between: a measurement with another likelihood, or targets that
 * absorb, leave it empty. before: the logarithm of the evidence of all measurements before. */
int gbees_between_look(gbees_engine *engine, const gbees_update *update, double before, gbees_error *error);

/* What that says of the bound of a figure: 0 if the evidence of all measurements, exp(log_evidence), is as near to
 * the samples' as they can tell. */
double gbees_between_bound(const gbees_engine *engine, double log_evidence);

#endif
