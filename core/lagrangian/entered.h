/* entered.h - what of a lattice's density is inside of targets, or has entered those that absorb.
 *
 * A point stands for the lattice cell around it. Over the cell a function of the start - g at the present place, or
 * the least g on the way so far - is taken to be linear, with slopes by the points beside it; so the part of a cell
 * where it is below 0 follows (numerics/fraction.h), and errors are of second order in the cells' edges. The cell's
 * mass is that of the average of the density over it, by second differences of the weights. */
#ifndef GBEES_LAGRANGIAN_ENTERED_H
#define GBEES_LAGRANGIAN_ENTERED_H

#include "lattice.h"

/* Sums of mass, in units of exp(most). */
typedef struct gbees_entered {
    double most;                       /* set by the caller, before anything is added */
    double before;                     /* what was left at the last measurement, or all before the first */
    double entered[GBEES_MAX_TARGETS]; /* of it, by target that absorbs: what has entered since */
    double now;                        /* what is left */
    double inside[GBEES_MAX_TARGETS];  /* of that, by target that counts */
    int wrong;                         /* 1 + a target whose function is not a number somewhere; 0: none */
} gbees_entered;

/* Takes off the weights what has entered targets, and adds to the sums, of all but `inside`. Nothing is done to a
 * lattice that no target absorbs. */
int gbees_entered_take_off(gbees_lattice *lattice, int threads, gbees_entered *sums, gbees_error *error);
/* Gives the points the weights that they would have if nothing had entered. */
void gbees_entered_put_back(gbees_lattice *lattice);

/* Adds to `inside`, of the targets that count, and to `now`, if no target absorbs. */
int gbees_entered_count(gbees_lattice *lattice, const gbees_problem *problem, double time, int threads,
                        gbees_entered *sums, gbees_error *error);

#endif
