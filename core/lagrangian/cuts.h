/* cuts.h - lattice cells in which the boundary of a target is bent, divided into smaller ones.
 *
 * A cell is divided into three along one edge at a time, the one along which the target's function bends most; the
 * smaller cells' points begin anew from the start (gbees_past_evaluate()). Cells are divided in the order of the
 * doubt about their mass, until little of it is left. */
#ifndef GBEES_LAGRANGIAN_CUTS_H
#define GBEES_LAGRANGIAN_CUTS_H

#include "fields.h"
#include "past.h"

typedef struct gbees_cuts gbees_cuts;

/* Divides the cells of a lattice, whose points are linked, where it is in doubt what of them is in targets. */
int gbees_cuts_make(const gbees_past *past, const gbees_source *source, const gbees_fields *fields, gbees_cuts **cuts,
                    gbees_error *error);
void gbees_cuts_destroy(gbees_cuts *cuts);

/* Sets the parts of the cell of point i, by the smaller ones if it is divided. */
void gbees_cuts_parts(const gbees_cuts *cuts, uint32_t i, gbees_mass_parts *parts);
/* The mass of the cell of point i, by the smaller ones if it is divided, in units of exp(`most`), a log weight. */
double gbees_cuts_mass(const gbees_cuts *cuts, uint32_t i, double most);
/* The mass that may be counted wrongly for target k, over the sum of the weights of the lattice's points. */
double gbees_cuts_doubt(const gbees_cuts *cuts, int k);
/* The points of smaller cells. */
uint32_t gbees_cuts_count(const gbees_cuts *cuts);

#endif
