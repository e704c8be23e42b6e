/* next_grid.h - the grids of a run among ranks: rank 0, which has the solver, sends the other ranks each grid that
 * replaces the first one, with its cells. */
#ifndef GBEES_SOLVER_NEXT_GRID_H
#define GBEES_SOLVER_NEXT_GRID_H

#include <gbees/gbees.h>

/* Rank 0: has the other ranks make a part of the engine of this problem, a copy of the first one with another grid
 * and with cells. All have memory for it afterwards, or all fail. */
int gbees_next_grid_send(const gbees_parallel *parallel, const gbees_problem *problem, gbees_error *error);
/* Rank 0: there is no other grid. */
void gbees_next_grid_send_end(const gbees_parallel *parallel);

/* The other ranks: makes a copy of the first problem with the next grid; *problem is NULL at the end of the run. */
int gbees_next_grid_receive(const gbees_parallel *parallel, const gbees_problem *first, gbees_problem **problem,
                            gbees_error *error);

#endif
