/* share.h - a run whose engines several ranks share: rank 0 has the solver, and tells the others of the grids that
 * replace the first one. */
#ifndef GBEES_SOLVER_SHARE_H
#define GBEES_SOLVER_SHARE_H

#include <gbees/gbees.h>

/* Rank 0: has the other ranks make a part of the engine of this problem, a copy of the first one with another grid
 * and with cells. All have memory for it afterwards, or all fail. */
int gbees_share_problem(const gbees_parallel *parallel, const gbees_problem *problem, gbees_error *error);
/* Rank 0: there is no other grid. */
void gbees_share_end(const gbees_parallel *parallel);

/* The other ranks: makes a copy of the first problem with the next grid; *problem is NULL at the end of the run. */
int gbees_share_receive(const gbees_parallel *parallel, const gbees_problem *first, gbees_problem **problem,
                        gbees_error *error);

#endif
