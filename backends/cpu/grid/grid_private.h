/* grid_private.h - what grid.c, grid_add.c and grid_compact.c share. */
#ifndef GBEES_CPU_GRID_PRIVATE_H
#define GBEES_CPU_GRID_PRIVATE_H

#include "cpu/team.h"
#include "grid.h"

/* The work of a loop for each brick, in cells of a sweep that take as long: it reads a few words, or looks up its
 * entry. */
enum { GRID_WORDS = 8, GRID_ENTRY = 32 };

/* Threads for a loop over so many bricks. */
static inline int grid_threads(const grid *g, uint32_t bricks, uint64_t work)
{
    return team_size(work * bricks, g->threads);
}

/* A brick's key, for writing. */
static inline int32_t *grid_own_key(grid *g, uint32_t slot)
{
    return g->key + (size_t)slot * (size_t)g->shape.n;
}

/* Whether two keys are equal. A loop, as for so few numbers calling memcmp() takes longer. */
static inline int grid_same_key(const grid *g, const int32_t *a, const int32_t *b)
{
    int j = 0;

    while (j < g->shape.n && a[j] == b[j])
        j++;
    return j == g->shape.n;
}

/* Updates peak_bytes: the slots in use, as untouched pages take no memory, the table, a prune's scratch, and `more`
 * bytes. */
void grid_note_peak(grid *g, uint64_t more);

/* Grows the heap to so many slots. */
int grid_grow(grid *g, uint64_t slots, gbees_error *error);
/* Memory for a prune, of so many bytes; NULL: out of memory. */
void *grid_reserve_scratch(grid *g, size_t size);

/* Makes a table that so many bricks fill to at most a half, and enters the used ones. */
int grid_rehash(grid *g, uint64_t bricks, gbees_error *error);

#endif
