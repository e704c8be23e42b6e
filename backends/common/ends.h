/* ends.h - what is at the ends of a problem's axes, as the shape of its bricks has it (core/numerics/neighbour.h). */
#ifndef GBEES_COMMON_ENDS_H
#define GBEES_COMMON_ENDS_H

#include "numerics/neighbour.h"
#include <gbees/problem.h>

_Static_assert((int)GBEES_AT_NOTHING == (int)GBEES_END_OPEN && (int)GBEES_AT_OTHER_END == (int)GBEES_END_CIRCLE &&
                   (int)GBEES_AT_REFLECTOR == (int)GBEES_END_REFLECT &&
                   (int)GBEES_AT_ABSORBER == (int)GBEES_END_ABSORB,
               "a shape has the numbers of gbees_end");

/* Closes the axes of a shape that are circles or have walls. */
static inline void ends_close(const gbees_problem *problem, gbees_shape *shape)
{
    for (int j = 0; j < problem->dimension; j++) {
        const gbees_axis_range *range = &problem->range[j];

        gbees_shape_close(shape, j, (int)range->end[0], (int)range->end[1], range->first, range->last);
    }
}

#endif
