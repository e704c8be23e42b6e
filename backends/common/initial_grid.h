/* initial_grid.h - the bricks that a grid starts with: of the bricks of the initial density those that a prune may
 * keep. In many dimensions a box consists mostly of corners with almost no probability: a prune of all its bricks
 * leaves one in thirty of seven dimensions, and engines have no memory for the others. */
#ifndef GBEES_COMMON_INITIAL_GRID_H
#define GBEES_COMMON_INITIAL_GRID_H

#include "budget.h"
#include "initial.h"
#include "initial_bricks.h"

typedef struct initial_grid {
    initial_density density;
    initial_bricks bricks; /* those that were selected */
    double *p;             /* P of their cells, [bricks.count][cells]; NULL: it is not kept */
    double factor;         /* for P of initial_grid_brick(): with it the sum over all bricks is initial_mass() */
    double left_out;       /* the mass of the bricks that were not selected */
    mass_budget budget;    /* at the start of the run */
} initial_grid;

/* Computes the sum of a problem's initial density and the first p*, and selects the bricks: those with a cell of P >=
 * p* * mass, and the face and edge neighbours of them. These are the bricks with
 * needed cells, whatever the drift is. In the reference modes, whose first prune comes later, and for a record's
 * cells, which have been pruned, all bricks are selected. `threads`: 0: those of OpenMP. Does not depend on the
 * number of threads. Returns the errors of initial_density_create(), initial_bricks_create() and, if no cell is
 * active, failure_empty(). */
int initial_grid_create(initial_grid *grid, const gbees_problem *problem, const gbees_shape *shape, int threads,
                        gbees_error *error);
void initial_grid_destroy(initial_grid *grid);

/* Sets p[cells] of the brick `key`, one of grid->bricks, without the factor; see initial_density_brick(). */
void initial_grid_brick(const initial_grid *grid, initial_cursor *cursor, const gbees_shape *shape,
                        const int32_t *key, double *p);

/* Whether bricks are left out for a problem. */
int initial_grid_selects(const gbees_problem *problem);
/* An estimate of the number of bricks with an active cell, which computes no density; the number of all bricks, or a
 * bit more, where none are left out. */
double initial_grid_estimate(const gbees_problem *problem, const gbees_shape *shape);
/* An upper bound of the host's bytes while the bricks are selected. */
double initial_grid_bytes(const gbees_problem *problem, const gbees_shape *shape);

#endif
