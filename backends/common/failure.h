/* failure.h - what a run can end with on any backend, in words: each sets the error and returns its status. */
#ifndef GBEES_COMMON_FAILURE_H
#define GBEES_COMMON_FAILURE_H

#include "numerics/brick.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* A velocity of a brick is not finite, or its diffusion can't be; NULL: it is not known which. */
int failure_drift(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key, double time,
                  gbees_error *error);

/* A brick is further than `limit` bricks from the start. */
int failure_far(const gbees_problem *problem, int axis, int limit, gbees_error *error);

/* The sum of P has become "zero", "not finite" ... in a step. */
int failure_mass(const char *what, double time, double step, gbees_error *error);

/* A step too small for the clock. */
int failure_step(double time, double step, gbees_error *error);

/* A prune has left nothing. */
int failure_empty(double threshold, gbees_error *error);

/* An update's measurement: 0 if its function is finite on all cells and its largest log-likelihood is one that cells
 * can have. */
int failure_measurement(const gbees_problem *problem, const gbees_measurement *measurement, double time, int finite,
                        double log_likelihood, gbees_error *error);

#endif
