/* direction.h - direction and resultant of the states that are on circles. */
#ifndef GBEES_LAGRANGIAN_DIRECTION_H
#define GBEES_LAGRANGIAN_DIRECTION_H

#include "sets.h"

/* Sets direction[n] and resultant[n] of `statistics`, whose mean and covariance are those of the states; 0 of states
 * on lines, and not numbers where places between points are not known well enough. */
int gbees_engine_directions(const gbees_engine *engine, gbees_statistics *statistics, gbees_error *error);

#endif
