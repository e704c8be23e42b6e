/* grid_private.h - what grid.c and grid_compact.c share. */
#ifndef GBEES_CPU_GRID_PRIVATE_H
#define GBEES_CPU_GRID_PRIVATE_H

#include "grid.h"

/* Puts a used slot into the table, which must have room. */
void grid_table_put(grid *g, uint32_t slot);

/* A table at most half full with so many bricks, filled from the Used List. */
int grid_rehash(grid *g, uint64_t bricks, gbees_error *error);

#endif
