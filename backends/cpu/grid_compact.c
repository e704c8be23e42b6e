/* grid_compact.c - the prune of the grid: scan, compact, put in order, rehash (paper, Algorithm 3).
 *
 * Bricks are moved to the front of the heap in lexicographic order of their keys: sweeping bricks in a random order
 * is three times slower.  Most bricks are in order from the last time; only those made since are sorted, and merged
 * in.
 */
#include "grid.h"
#include "grid_private.h"
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

/* Row k + 1 of a field becomes what row order[k] was. */
static void permute(const grid *g, void **data, size_t size, const uint32_t *order, uint32_t count, char *scratch)
{
    char *from = *data;

#pragma omp parallel for num_threads(count > 4096 ? g->threads : 1) schedule(static)
    for (uint32_t k = 0; k < count; k++)
        memcpy(scratch + (size_t)k * size, from + (size_t)order[k] * size, size);
    memcpy(from + size, scratch, (size_t)count * size);
}

/* The largest transient field serves as scratch, if it is large enough for every other; else memory is taken. */
static char *find_scratch(const grid *g, size_t *size, int *owned)
{
    size_t need = 0, have = 0;
    char *best = NULL;

    for (int f = 0; f < g->field_count; f++) {
        if (!g->field[f].transient && g->field[f].size > need)
            need = g->field[f].size;
        if (g->field[f].transient && g->field[f].size > have) {
            have = g->field[f].size;
            best = *g->field[f].data;
        }
    }
    *size = need;
    *owned = have < need;
    return *owned ? malloc(need * g->count) : best;
}

/* Neighbours are slots: renamed, with 0 for those that are gone. */
static void rename_neighbors(grid *g, const uint32_t *order, uint32_t count, uint32_t *name)
{
    memset(name, 0, g->capacity * sizeof *name);
    for (uint32_t k = 0; k < count; k++)
        name[order[k]] = k + 1;
    for (int d = 0; d < 2 * g->shape.n; d++)
#pragma omp parallel for num_threads(count > 4096 ? g->threads : 1) schedule(static)
        for (uint32_t k = 0; k < count; k++)
            g->neighbor[d][order[k]] = name[g->neighbor[d][order[k]]];
}

static void move_bricks(grid *g, const uint32_t *order, uint32_t count, char *scratch)
{
    for (int f = 0; f < g->field_count; f++)
        if (!g->field[f].transient)
            permute(g, g->field[f].data, g->field[f].size, order, count, scratch);
    /* The scratch was a transient field: the null brick is empty again. */
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
    size_t size;
    int owned;

    if (!g->count)
        return 0;
    /* The Free List is rebuilt below, so its array can hold the new order meanwhile. */
    uint32_t *order = g->free;
    uint32_t *name = malloc(g->capacity * sizeof *name);
    char *scratch = find_scratch(g, &size, &owned);
    if (!name || !scratch) {
        free(name);
        if (owned)
            free(scratch);
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory while pruning %u bricks", g->count);
    }
    uint32_t count = order_slots(g, keep, order, name);
    rename_neighbors(g, order, count, name);
    memmove(name, order, count * sizeof *order);
    move_bricks(g, name, count, scratch);
    free(name);
    if (owned)
        free(scratch);
    return grid_rehash(g, g->count + g->count / 4, error);
}
