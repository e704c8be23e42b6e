/* failure.h - the errors that can end a run on any backend: each function sets the error and returns its status. */
#ifndef GBEES_COMMON_FAILURE_H
#define GBEES_COMMON_FAILURE_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* A velocity of a brick is not finite, or its diffusion is invalid. key: NULL if the brick is not known. */
int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error);

/* A brick is further than `limit` bricks from the start. */
int failure_far(const gbees_problem *problem, int axis, int limit, gbees_error *error);

/* The sum of P has become "zero", "not finite" ... in a step. */
int failure_mass(const char *what, double time, double step, gbees_error *error);

/* The time step is too small to advance the clock. */
int failure_step(double time, double step, gbees_error *error);

/* A fixed time step has a Courant number of `number`, above `most`. */
int failure_courant(double time, double step, double number, double most, gbees_error *error);

/* A prune has left nothing. */
int failure_empty(double threshold, gbees_error *error);

/* The likelihood of an update's measurement is not a number in a cell. index: NULL if the cell is not known. */
int failure_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                       const int32_t *index, gbees_error *error);

/* No cell supports an update's measurement. Returns 0, without an error, if the largest log-likelihood is `lowest` or
 * more. */
int failure_unsupported(const gbees_measurement *measurement, double time, double log_likelihood, double lowest,
                        gbees_error *error);

#endif
