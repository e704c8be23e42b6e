/* failure.h - the errors that can end a run on any backend. Each function sets the error, with time and place in the
 * model's coordinates, and returns its status. */
#ifndef GBEES_COMMON_FAILURE_H
#define GBEES_COMMON_FAILURE_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* A velocity in the brick `key` is not finite, or its diffusion is invalid. key: NULL if the brick is not known. */
int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error);

/* A brick is more than `limit` bricks away from the grid's origin along an axis. */
int failure_far(const gbees_problem *problem, int axis, int limit, gbees_error *error);

/* The sum of P has become `what`, "zero" or "zero or not finite", in a step. */
int failure_mass(const char *what, double time, double step, gbees_error *error);

/* The function of a target that absorbs is not a number somewhere in the density. */
int failure_target(const gbees_problem *problem, double time, gbees_error *error);

/* The time step is so small that it doesn't advance the clock. */
int failure_step(double time, double step, gbees_error *error);

/* A fixed time step has a Courant number of `number`, above `most`. */
int failure_courant(double time, double step, double number, double most, gbees_error *error);

/* A prune has left no cell. */
int failure_empty(double threshold, gbees_error *error);

/* The likelihood of a measurement is not a number in the cell with multi-index `index`; NULL: the cell is not known.
 */
int failure_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                       const int32_t *index, gbees_error *error);

/* No cell supports a measurement: the largest log-likelihood is less than `lowest`, or minus infinity. Returns 0,
 * without an error, if it is not. */
int failure_unsupported(const gbees_measurement *measurement, double time, double log_likelihood, double lowest,
                        gbees_error *error);

#endif
