/* spread.h - spreads the mass of parts over the cells of a grid. */
#ifndef GBEES_LAGRANGIAN_SPREAD_H
#define GBEES_LAGRANGIAN_SPREAD_H

#include "bricks.h"
#include "parts.h"

/* Adds a batch of parts to bricks of bricks->n axes, which are these states. Returns 1 if there is no memory. */
int gbees_parts_spread(const gbees_parts *parts, const int *states, gbees_bricks *bricks);

#endif
