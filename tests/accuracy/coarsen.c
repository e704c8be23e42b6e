/* coarsen.c - a record on wider cells: see compare.h. */
#include "compare.h"
#include <stdlib.h>
#include <string.h>

typedef struct cell {
    int32_t index[GBEES_MAX_DIM]; /* those beyond the dimension are 0 */
    double p;
} cell;

static int cell_compare(const void *left, const void *right)
{
    const cell *a = left, *b = right;

    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        if (a->index[j] != b->index[j])
            return a->index[j] < b->index[j] ? -1 : 1;
    }
    return 0;
}

/* Rounds down, below 0 as well. */
static int32_t divide(int32_t index, int32_t factor)
{
    return index / factor - (index % factor < 0);
}

/* The middle of the first wider cell, which is at the centre of cells 0 .. factor - 1. */
static void shift_origin(gbees_snapshot *coarse, const gbees_snapshot *snapshot, int factor)
{
    const int n = snapshot->dimension;

    for (int j = 0; j < n; j++) {
        const double half = (factor - 1) * snapshot->width[j] / 2;

        if (!snapshot->rotated)
            coarse->origin[j] += half;
        for (int k = 0; k < n && snapshot->rotated; k++)
            coarse->origin[k] += snapshot->rotation[k * n + j] * half;
    }
}

/* Sorts the cells and adds up those of one index; returns how many are left. */
static size_t merge(cell *cells, size_t count)
{
    size_t last = 0;

    qsort(cells, count, sizeof *cells, cell_compare);
    for (size_t i = 1; i < count; i++) {
        if (cell_compare(&cells[last], &cells[i]) == 0)
            cells[last].p += cells[i].p;
        else
            cells[++last] = cells[i];
    }
    return count ? last + 1 : 0;
}

int gbees_compare_coarsen(const gbees_snapshot *snapshot, int factor, gbees_snapshot **coarse, gbees_error *error)
{
    const int n = snapshot->dimension;
    cell *cells = calloc(snapshot->count + 1, sizeof *cells);
    gbees_snapshot *new = calloc(1, sizeof *new);
    int complete = cells && new;

    for (size_t i = 0; complete && i < snapshot->count; i++) {
        for (int j = 0; j < n; j++)
            cells[i].index[j] = divide(snapshot->index[j][i], factor);
        cells[i].p = snapshot->p[i];
    }
    if (complete) {
        *new = *snapshot;
        memset(new->index, 0, sizeof new->index);
        shift_origin(new, snapshot, factor);
        new->count = merge(cells, snapshot->count);
        complete = (new->p = calloc(new->count + 1, sizeof *new->p)) != NULL;
    }
    for (int j = 0; complete && j < n; j++) {
        new->width[j] = factor * snapshot->width[j];
        complete = (new->index[j] = calloc(new->count + 1, sizeof *new->index[j])) != NULL;
        for (size_t i = 0; complete && i < new->count; i++)
            new->index[j][i] = cells[i].index[j];
    }
    for (size_t i = 0; complete && i < new->count; i++)
        new->p[i] = cells[i].p;
    free(cells);
    if (!complete) {
        gbees_snapshot_destroy(new);
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for %zu cells", snapshot->count);
    }
    *coarse = new;
    return GBEES_OK;
}
