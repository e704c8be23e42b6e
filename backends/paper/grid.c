/* grid.c - the hashtable of cells: open addressing with linear probing, at most half full (paper, section 4.2). */
#include "grid.h"
#include "numerics/buzhash.h"
#include <stdlib.h>
#include <string.h>

/* Has a larger heap, and a table of twice as many entries. */
static int enlarge(grid *g, uint32_t capacity, gbees_error *error)
{
    uint64_t size = 64;

    while (size < 2 * (uint64_t)capacity)
        size *= 2;
    cell *cells = realloc(g->cells, ((size_t)capacity + 1) * sizeof *cells);
    g->cells = cells ? cells : g->cells;
    uint32_t *table = realloc(g->table, (size_t)size * sizeof *table);
    g->table = table ? table : g->table;
    if (!cells || !table)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for a grid of %u cells", capacity);
    g->capacity = capacity;
    g->table_size = size;
    g->peak_bytes = capacity * sizeof *cells + size * sizeof *table;
    return GBEES_OK;
}

/* The entry of the hashtable where a cell is, or where it has to be entered. */
static uint32_t *find_entry(const grid *g, const int32_t *i)
{
    uint64_t at = gbees_buzhash(i, g->n) & (g->table_size - 1);

    while (g->table[at] && memcmp(g->cells[g->table[at]].i, i, (size_t)g->n * sizeof *i) != 0)
        at = (at + 1) & (g->table_size - 1);
    return &g->table[at];
}

static void rehash(grid *g)
{
    memset(g->table, 0, (size_t)g->table_size * sizeof *g->table);
    for (uint32_t c = 1; c <= g->count; c++)
        *find_entry(g, g->cells[c].i) = c;
}

int grid_create(grid *g, int n, gbees_error *error)
{
    *g = (grid){.n = n};
    const int status = enlarge(g, 1024, error);
    if (status)
        return status;
    memset(&g->cells[0], 0, sizeof g->cells[0]);
    rehash(g);
    return GBEES_OK;
}

void grid_destroy(grid *g)
{
    free(g->cells);
    free(g->table);
    *g = (grid){0};
}

uint32_t grid_find(const grid *g, const int32_t *i)
{
    return *find_entry(g, i);
}

int grid_insert(grid *g, const int32_t *i, gbees_error *error)
{
    if (g->count == g->capacity) {
        const int status = g->capacity > UINT32_MAX / 2 ? GBEES_ENOMEM : enlarge(g, 2 * g->capacity, error);

        if (status)
            return status;
        rehash(g);
    }
    cell *made = &g->cells[++g->count];
    *made = (cell){.P = 0};
    memcpy(made->i, i, (size_t)g->n * sizeof *i);
    *find_entry(g, i) = g->count;
    return GBEES_OK;
}

void grid_link(grid *g)
{
    for (uint32_t c = 1; c <= g->count; c++)
        for (int j = 0; j < g->n; j++) {
            int32_t i[GBEES_MAX_DIM];

            memcpy(i, g->cells[c].i, sizeof i);
            i[j]--;
            g->cells[c].below[j] = grid_find(g, i);
            i[j] += 2;
            g->cells[c].above[j] = grid_find(g, i);
        }
}

void grid_compact(grid *g)
{
    uint32_t kept = 0;

    for (uint32_t c = 1; c <= g->count; c++)
        if (!g->cells[c].is_marked)
            g->cells[++kept] = g->cells[c];
    g->count = kept;
    rehash(g);
    grid_link(g);
}

double grid_sum(const grid *g)
{
    double sum = 0;

    for (uint32_t c = 1; c <= g->count; c++)
        sum += g->cells[c].P;
    return sum;
}

void grid_scale(grid *g, double factor)
{
    for (uint32_t c = 1; c <= g->count; c++)
        g->cells[c].P *= factor;
}
