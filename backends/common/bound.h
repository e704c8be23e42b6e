/* bound.h - the cells within the model's bound: those whose J(x) occurs in the initial density, too (doc/method.md,
 * "Bounds"). */
#ifndef GBEES_COMMON_BOUND_H
#define GBEES_COMMON_BOUND_H

#include "numerics/brick.h"
#include <gbees/problem.h>
#include <stdint.h>

/* Returns the cells of the brick `key` at whose centres J is in the problem's range, bit c for cell c; all cells if
 * the problem has no bound.  J is evaluated in double and at the start time for every precision, so that every engine
 * gets the same cells. */
uint64_t bound_cells(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key);

#endif
