/* jump.h - takes points through the jump of an instant: exactly, with the logarithm of how much it stretches volumes.
 */
#ifndef GBEES_LAGRANGIAN_JUMP_H
#define GBEES_LAGRANGIAN_JUMP_H

#include "lattice.h"

/* A jump at a time. */
typedef struct gbees_point_jump {
    const gbees_problem *problem;
    const gbees_instant *instant;
    double time;
    const double
        *scale;  /* [n], > 0: the density's deviations, over small parts of which derivatives are differences */
    double sign; /* of its Jacobian's determinant at all points: 1 or -1; 0: not known, the first point sets it */
} gbees_point_jump;

/* Moves points first ... first + count - 1 of the lattice, and adds to their stretch; those that have left every
 * bound stay. GBEES_ENUMERIC: the jump of a point is not finite. GBEES_EUNSUPPORTED: the jump folds the density, as
 * its Jacobian vanishes or changes its sign. */
int gbees_point_jump_run(gbees_point_jump *jump, gbees_lattice *lattice, uint32_t first, uint32_t count,
                         gbees_error *error);

#endif
