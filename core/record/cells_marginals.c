/* cells_marginals.c - adds up all marginals of a record's cells in one pass. Cells are in lexicographic order: those
 * that differ along the last axis alone are neighbours, and count as one cell for all other axes. */
#include "cells_marginals.h"
#include "cells_private.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024, SMALL = 1 << 18 /* entries */ };

/* Whether the plane of two axes is no larger than it may be. */
static int has_plane(const gbees_marginals *shape, int j, int k, uint64_t most)
{
    return shape->length[k] <= most / shape->length[j];
}

/* Ranges of the cells, and the entries of all lines and planes over them. */
static uint64_t find_shape(const gbees_cells *cells, uint64_t most, gbees_marginals *shape)
{
    const int n = cells->dimension;
    uint64_t entries = 0;

    memset(shape, 0, sizeof *shape);
    for (int j = 0; j < n; j++) {
        shape->first[j] = cells->first[j];
        shape->length[j] = (uint64_t)((int64_t)cells->last[j] - cells->first[j] + 1);
    }
    for (int j = 0; j < n; j++) {
        entries += shape->length[j];
        for (int k = j + 1; k < n; k++)
            entries += has_plane(shape, j, k, most) ? shape->length[j] * shape->length[k] : 0;
    }
    return entries;
}

/* Allocates marginals of the cells' ranges in one block, all 0. NULL: no memory. */
static gbees_marginals *lay_out(const gbees_cells *cells, uint64_t most)
{
    const int n = cells->dimension;
    gbees_marginals shape;
    const uint64_t entries = find_shape(cells, most, &shape);
    uint64_t at = 0;

    if (entries > (SIZE_MAX - sizeof shape) / sizeof(double))
        return NULL;
    gbees_marginals *made = calloc(1, sizeof *made + entries * sizeof(double));
    if (!made)
        return NULL;
    double *sums = (double *)(void *)(made + 1);
    *made = shape;
    for (int j = 0; j < n; j++) {
        made->line[j] = sums + at;
        at += shape.length[j];
        for (int k = j + 1; k < n; k++) {
            if (!has_plane(&shape, j, k, most))
                continue;
            made->plane[j][k] = sums + at;
            at += shape.length[j] * shape.length[k];
        }
    }
    return made;
}

/* Adds a batch of cells to the line of an axis, and to its planes with the axes before it. */
static void add_axis(const gbees_marginals *to, int axis, size_t count, int32_t *const *index, const double *p)
{
    double *line = (double *)to->line[axis]; /* of the block, which is this file's */

    for (size_t i = 0; i < count; i++)
        line[index[axis][i] - to->first[axis]] += p[i];
    for (int j = 0; j < axis; j++) {
        double *plane = (double *)to->plane[j][axis];

        for (size_t i = 0; i < count && plane; i++)
            plane[(uint64_t)(index[j][i] - to->first[j]) * to->length[axis] +
                  (uint64_t)(index[axis][i] - to->first[axis])] += p[i];
    }
}

/* Adds up neighbours that differ along `axis` and those behind it alone, to the place of the first of them. Returns
 * how many are left. */
static size_t merge(int axis, size_t count, int32_t *const *index, double *p)
{
    size_t last = 0;

    for (size_t i = 1; i < count; i++) {
        int32_t differs = 0;

        for (int j = 0; j < axis; j++)
            differs |= index[j][i] ^ index[j][last];
        if (!differs) {
            p[last] += p[i];
            continue;
        }
        last++;
        for (int j = 0; j < axis; j++)
            index[j][last] = index[j][i];
        p[last] = p[i];
    }
    return last + 1;
}

/* Adds a batch of cells to the sums, which lie behind the struct, the last axis first. */
static void add_batch(const gbees_marginals *to, int n, size_t count, int32_t *const *index, double *p)
{
    for (int axis = n - 1; axis >= 0; axis--) {
        add_axis(to, axis, count, index, p);
        count = axis > 0 ? merge(axis, count, index, p) : count;
    }
}

int gbees_cells_marginals_are_small(const gbees_cells *cells, uint64_t most)
{
    gbees_marginals shape;

    return cells->count > 0 && find_shape(cells, most, &shape) <= SMALL + 2 * (uint64_t)cells->count;
}

int gbees_cells_marginals(const gbees_cells *cells, uint64_t most, gbees_marginals **marginals, gbees_error *error)
{
    gbees_marginals *made = cells->count > 0 ? lay_out(cells, most) : NULL;
    int32_t own[GBEES_MAX_DIM][BATCH], *rows[GBEES_MAX_DIM], *behind[GBEES_MAX_DIM];
    double p[BATCH];
    size_t end = 0, held = 0; /* of the cells that are in memory; cells of the batch */
    int status = GBEES_OK;

    if (!made)
        return cells->count > 0
                   ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a record")
                   : GBEES_OK;
    for (int j = 0; j < cells->dimension; j++)
        rows[j] = own[j];
    for (size_t first = 0, count; first < cells->count && !status; first += count) {
        if (first == end)
            status = gbees_cells_hold(cells, first, &end, error);
        if (status)
            break;
        count = end - first < BATCH - held ? end - first : BATCH - held;
        for (int j = 0; j < cells->dimension; j++)
            behind[j] = rows[j] + held;
        gbees_cells_copy(cells, first, count, behind, p + held);
        held += count;
        if (held < BATCH && first + count < cells->count)
            continue; /* batches are the same however the cells are divided, and so is the rounding of their sums */
        add_batch(made, cells->dimension, held, rows, p);
        held = 0;
    }
    if (status)
        free(made);
    else
        *marginals = made;
    return status;
}
