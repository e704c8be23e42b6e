/* entered.h - what of a lattice's density is inside of targets, or has entered those that absorb.
 *
 * A point stands for the lattice cell around it; a cell that a boundary cuts counts by the part of its mass that is
 * inside (fields.h), and one that it cuts with a bend is divided (cuts.h). */
#ifndef GBEES_LAGRANGIAN_ENTERED_H
#define GBEES_LAGRANGIAN_ENTERED_H

#include "past.h"

/* Sums of mass, in units of exp(most). */
typedef struct gbees_entered {
    double most;                      /* set by the caller, before anything is added */
    double before;                    /* what was left at the last measurement, or all before the first */
    double left;                      /* what is left of it */
    double masses;                    /* what was left by the masses of cells, not by weights */
    double cut;                       /* what is left of cells of which some has entered */
    double inside[GBEES_MAX_TARGETS]; /* by target: what has entered since; of those that count: what is inside */
    double doubt[GBEES_MAX_TARGETS];  /* what of that may be wrong, as boundaries are bent within cells, and masses of
                                       * cells are not exact */
    double cells;                     /* by which cells have been divided */
    int wrong;                        /* 1 + a target whose function is not a number somewhere; 0: none */
} gbees_entered;

/* Finds what is in targets, and takes off the weights what has entered those that absorb. */
int gbees_entered_take_off(const gbees_past *past, const gbees_source *source, gbees_lattice *lattice,
                           gbees_entered *sums, gbees_error *error);
/* Gives the points the weights that they would have if nothing had entered. */
void gbees_entered_put_back(gbees_lattice *lattice);

#endif
