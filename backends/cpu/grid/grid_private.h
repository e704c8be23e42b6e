/* grid_private.h - what grid.c, grid_add.c and grid_compact.c share. */
#ifndef GBEES_CPU_GRID_PRIVATE_H
#define GBEES_CPU_GRID_PRIVATE_H

#include "cpu/team.h"
#include "grid.h"

/* What a loop does with each brick, in cells of a sweep that take as long. */
enum { GRID_WORDS = 8 /* reads a few */, GRID_ENTRY = 32 /* finds its place in the table */ };

/* Threads for a loop over so many bricks. */
static inline int grid_threads(const grid *g, uint32_t bricks, uint64_t work)
{
    return team_size(work * bricks, g->threads);
}

/* To write it. */
static inline int32_t *grid_own_key(grid *g, uint32_t slot)
{
    return g->key + (size_t)slot * (size_t)g->shape.n;
}

/* Short ones, of n numbers: a loop in its place, where memcmp() would be called. */
static inline int grid_same_key(const grid *g, const int32_t *a, const int32_t *b)
{
    int j = 0;

    while (j < g->shape.n && a[j] == b[j])
        j++;
    return j == g->shape.n;
}

/* What the heap needs with so many slots in use, as untouched pages take no memory, with the table, a prune's scratch
 * and `more` bytes beside it. */
void grid_note_peak(grid *g, uint64_t more);

/* A table at most half full with so many bricks, filled from the Used List. */
int grid_rehash(grid *g, uint64_t bricks, gbees_error *error);

#endif
