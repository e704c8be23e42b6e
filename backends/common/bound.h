/* bound.h - which cells the model's bound leaves to the grid: those whose J(x) the initial density has, too. */
#ifndef GBEES_COMMON_BOUND_H
#define GBEES_COMMON_BOUND_H

#include "numerics/brick.h"
#include <gbees/problem.h>
#include <stdint.h>

/* The cells of a brick whose centre's J is in the problem's range: all, if the problem has none.  J is evaluated in
 * double and at the start time, whatever the precision: every engine decides alike. */
uint64_t bound_cells(const gbees_problem *problem, const gbees_shape *shape, const int32_t *key);

#endif
