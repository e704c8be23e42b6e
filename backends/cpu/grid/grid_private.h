/* grid_private.h - what grid.c, grid_add.c and grid_compact.c share. */
#ifndef GBEES_CPU_GRID_PRIVATE_H
#define GBEES_CPU_GRID_PRIVATE_H

#include "cpu/team.h"
#include "grid.h"

/* The work of a loop a brick, in cells of a sweep that take as long: of one that reads a few words of each brick, or
 * looks it up in the hash table. */
enum { GRID_WORDS = 8, GRID_ENTRY = 32 };

/* The number of threads that share a loop over so many bricks. */
static inline int grid_threads(const grid *g, uint32_t bricks, uint64_t work)
{
    return team_size(work * bricks, g->threads);
}

/* A brick's key, for writing. */
static inline int32_t *grid_own_key(grid *g, uint32_t slot)
{
    return g->key + (size_t)slot * (size_t)g->shape.n;
}

/* Whether two keys are equal. A loop: for so few numbers a call of memcmp() takes longer. */
static inline int grid_same_key(const grid *g, const int32_t *a, const int32_t *b)
{
    int j = 0;

    while (j < g->shape.n && a[j] == b[j])
        j++;
    return j == g->shape.n;
}

/* Updates peak_bytes by the memory in use: the used slots (pages that were never touched take no memory), the table,
 * a prune's scratch, and `more` bytes. */
void grid_note_peak(grid *g, uint64_t more);

/* Grows the heap to `slots` slots. */
int grid_grow(grid *g, uint64_t slots, gbees_error *error);
/* Memory of `size` bytes for a prune; NULL: out of memory. */
void *grid_reserve_scratch(grid *g, size_t size);

/* Makes the hash table so large that `bricks` bricks fill at most half of it, and fills it with the used ones. */
int grid_rehash(grid *g, uint64_t bricks, gbees_error *error);

#endif
