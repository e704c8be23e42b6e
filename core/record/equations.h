/* equations.h - checks a model's equations at some points of the initial density. */
#ifndef GBEES_RECORD_EQUATIONS_H
#define GBEES_RECORD_EQUATIONS_H

#include <gbees/error.h>
#include <gbees/problem.h>

/* Where a component of the drift jumps: its values on both sides of a place. */
typedef struct gbees_jump {
    int axis;                /* of the grid: the component */
    double y[GBEES_MAX_DIM]; /* the place, in the grid's axes */
    double before, after;
} gbees_jump;

/* GBEES_EMODEL, with what to do, if drift() leaves a component unwritten. */
int gbees_equations_check_written(const gbees_problem *problem, gbees_error *error);

/* GBEES_EMODEL, with what to do, if the drift or the noise depends on time and the model does not declare it. */
int gbees_equations_check_time(const gbees_problem *problem, gbees_error *error);

/* Both checks, and of a grid that moves that the diffusion is a covariance, as one at rest takes none that is not:
 * with any of these faults a run would be wrong. Takes less than a millisecond. */
int gbees_equations_check(const gbees_problem *problem, gbees_error *error);

/* Whether the drift jumps on one of some lines through the initial density, at the start: at a jump all schemes are
 * of first order. Sets *jump to the one that is largest relative to the component's largest value. A jump between the
 * lines is not found, nor one in a region that the density reaches later. */
int gbees_equations_jump(const gbees_problem *problem, gbees_jump *jump);

/* Whether the diffusion, which the model has, is not 0 at a point y[] of the grid's axes. */
int gbees_equations_noisy(const gbees_problem *problem, double time, const double *y);

#endif
