/* align.h - the directions at the start along which targets are entered or missed. */
#ifndef GBEES_LAGRANGIAN_ALIGN_H
#define GBEES_LAGRANGIAN_ALIGN_H

#include "past.h"

/* Sets source->along of a problem with targets, by the functions of the targets along trajectories of some points up
 * to the first measurement or the end: cells of lattices that lie along these directions have to be divided along
 * the first one alone where a target is thin. Leaves it 0 where there are no such directions. */
int gbees_align(const gbees_past *past, gbees_source *source, gbees_error *error);

#endif
