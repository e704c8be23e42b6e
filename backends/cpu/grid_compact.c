/* grid_compact.c - the prune of the grid: scan, compact, put in order, rehash (paper, Algorithm 3).
 *
 * Bricks are moved to the front of the heap in lexicographic order of their keys: sweeping bricks in a random order
 * is three times slower.  Most bricks are in order from the last time; only those made since are sorted, and merged
 * in.
 */
#include "grid.h"
#include "grid_private.h"
#include "pages.h"
#include <stdlib.h>
#include <string.h>

static int compare_keys(const int32_t *a, const int32_t *b, int n)
{
    for (int j = 0; j < n; j++)
        if (a[j] != b[j])
            return a[j] < b[j] ? -1 : 1;
    return 0;
}

static int compare_slots(const void *a, const void *b, void *context)
{
    const grid *g = context;

    return compare_keys(grid_key(g, *(const uint32_t *)a), grid_key(g, *(const uint32_t *)b), g->shape.n);
}

/* order[] takes the slots to keep, sorted; returns how many. */
static uint32_t order_slots(grid *g, const unsigned char *keep, uint32_t *order, uint32_t *fresh)
{
    uint32_t old = 0, made = 0, at = 0;

    /* The kept part of the sorted front goes to the front of used[] itself, the rest to fresh[]. */
    for (uint32_t k = 0; k < g->count; k++) {
        if (!keep[k])
            continue;
        if (k < g->sorted)
            g->used[old++] = g->used[k];
        else
            fresh[made++] = g->used[k];
    }
    qsort_r(fresh, made, sizeof *fresh, compare_slots, g);
    for (uint32_t i = 0, k = 0; i < old || k < made;) {
        int from_old = k == made || (i < old && compare_slots(&g->used[i], &fresh[k], g) < 0);

        order[at++] = from_old ? g->used[i++] : fresh[k++];
    }
    return at;
}

/* Row k + 1 of `to` becomes what row order[k] of a field was. */
static void gather(const grid *g, int f, const uint32_t *order, uint32_t count, char *to)
{
    const char *from = *g->field[f].data;
    const size_t size = g->field[f].size;

#pragma omp parallel for num_threads(grid_threads(g, count)) schedule(static)
    for (uint32_t k = 0; k < count; k++)
        memcpy(to + ((size_t)k + 1) * size, from + (size_t)order[k] * size, size);
}

static void copy_back(const grid *g, int f, const char *from, uint32_t count)
{
    const size_t size = g->field[f].size;
    char *to = *g->field[f].data;

#pragma omp parallel for num_threads(grid_threads(g, count)) schedule(static)
    for (uint32_t k = 1; k <= count; k++)
        memcpy(to + (size_t)k * size, from + (size_t)k * size, size);
}

/* A transient field with rows as long as those of `wide`, or -1. */
static int find_spare(const grid *g, int wide)
{
    for (int f = 0; f < g->field_count; f++)
        if (g->field[f].transient && g->field[f].size == g->field[wide].size &&
            g->field_capacity[f] == g->field_capacity[wide])
            return f;
    return -1;
}

/* The field with the longest rows of those that are kept. */
static int find_widest(const grid *g)
{
    int wide = 0;

    for (int f = 1; f < g->field_count; f++)
        if (!g->field[f].transient && g->field[f].size > g->field[wide].size)
            wide = f;
    return wide;
}

/* Neighbours are slots: renamed, with 0 for those that are gone. */
static void rename_neighbors(grid *g, const uint32_t *order, uint32_t count, uint32_t *name)
{
    memset(name, 0, g->capacity * sizeof *name);
#pragma omp parallel num_threads(grid_threads(g, count))
    {
#pragma omp for schedule(static)
        for (uint32_t k = 0; k < count; k++)
            name[order[k]] = k + 1;
        for (int d = 0; d < 2 * g->shape.n; d++)
#pragma omp for schedule(static) nowait
            for (uint32_t k = 0; k < count; k++)
                g->neighbor[d][order[k]] = name[g->neighbor[d][order[k]]];
    }
}

/* The widest field goes to the spare rows and stays there; its own serve the others as scratch, and are the spare
 * ones from then on. */
static void move_bricks(grid *g, const uint32_t *order, uint32_t count, int wide, void **spare)
{
    char *scratch = *g->field[wide].data;

    gather(g, wide, order, count, *spare);
    *g->field[wide].data = *spare;
    *spare = scratch;
    for (int f = 0; f < g->field_count; f++)
        if (!g->field[f].transient && f != wide) {
            gather(g, f, order, count, scratch);
            copy_back(g, f, scratch, count);
        }
    /* What was scratch has no empty null brick any more. */
    for (int f = 0; f < g->field_count; f++)
        memset(*g->field[f].data, 0, g->field[f].size);
    g->count = g->sorted = count;
    for (uint32_t k = 0; k < count; k++)
        g->used[k] = k + 1;
    g->free_count = g->capacity - 1 - count;
    for (uint32_t k = 0; k < g->free_count; k++)
        g->free[k] = g->capacity - 1 - k;
}

int grid_compact(grid *g, const unsigned char *keep, gbees_error *error)
{
    if (!g->count)
        return 0;
    /* The Free List is rebuilt below, so its array can hold the new order meanwhile. */
    uint32_t *order = g->free;
    uint32_t *name = malloc(g->capacity * sizeof *name);
    int wide = find_widest(g), other = find_spare(g, wide);
    size_t bytes = g->field_capacity[wide] * g->field[wide].size;
    void *fresh = other < 0 ? pages_resize(NULL, 0, bytes) : NULL;
    if (!name || !(other < 0 ? fresh : *g->field[other].data)) {
        free(name);
        pages_free(fresh, bytes);
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", g->count);
    }
    uint32_t count = order_slots(g, keep, order, name);
    rename_neighbors(g, order, count, name);
    memmove(name, order, count * sizeof *order);
    move_bricks(g, name, count, wide, other < 0 ? &fresh : g->field[other].data);
    free(name);
    pages_free(fresh, bytes);
    return grid_rehash(g, g->count + g->count / 4, error);
}
