/* grid_private.h - what grid.c and grid_compact.c share. */
#ifndef GBEES_CPU_GRID_PRIVATE_H
#define GBEES_CPU_GRID_PRIVATE_H

#include "grid.h"

/* Threads for a loop over so many bricks. */
static inline int grid_threads(const grid *g, uint32_t bricks)
{
    return bricks > 4096 ? g->threads : 1;
}

/* A table at most half full with so many bricks, filled from the Used List. */
int grid_rehash(grid *g, uint64_t bricks, gbees_error *error);

#endif
