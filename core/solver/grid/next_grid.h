/* next_grid.h - a run whose engines several ranks share: rank 0 has the solver, and tells the others of each grid:
 * the first problem's, and those that replace it. */
#ifndef GBEES_SOLVER_GRID_NEXT_GRID_H
#define GBEES_SOLVER_GRID_NEXT_GRID_H

#include <gbees/gbees.h>

/* Rank 0: has the other ranks make their parts of the engine of the first problem. */
void gbees_next_grid_send_first(const gbees_parallel *parallel);
/* Rank 0: has the other ranks make a part of the engine of this problem, a copy of the first one with another grid
 * and with cells. All have memory for it afterwards, or all fail. */
int gbees_next_grid_send(const gbees_parallel *parallel, const gbees_problem *problem, gbees_error *error);
/* Rank 0: there is no other grid. */
void gbees_next_grid_send_end(const gbees_parallel *parallel);

/* The other ranks: makes a copy of the first problem with the next grid, or sets *is_first where that is the first
 * problem's; neither at the end of the run. */
int gbees_next_grid_receive(const gbees_parallel *parallel, const gbees_problem *first, gbees_problem **changed,
                            int *is_first, gbees_error *error);

#endif
