/* slab_marginals.c - adds up the marginals of cells that are fetched slab by slab. */
#include "slab_marginals.h"
#include "cells_private.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 };

/* Allocates marginals of the cells' ranges in one block, all 0. NULL: no memory. */
static gbees_marginals *lay_out(const gbees_cells *cells, uint64_t most)
{
    const int n = cells->dimension;
    gbees_marginals shape;
    uint64_t entries = 0, at = 0;

    memset(&shape, 0, sizeof shape);
    for (int j = 0; j < n; j++) {
        shape.first[j] = cells->first[j];
        shape.length[j] = (uint64_t)((int64_t)cells->last[j] - cells->first[j] + 1);
    }
    for (int j = 0; j < n; j++) {
        entries += shape.length[j];
        for (int k = j + 1; k < n; k++)
            entries += shape.length[k] > most / shape.length[j] ? 0 : shape.length[j] * shape.length[k];
    }
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
            if (shape.length[k] > most / shape.length[j])
                continue;
            made->plane[j][k] = sums + at;
            at += shape.length[j] * shape.length[k];
        }
    }
    return made;
}

/* Adds a batch of cells to the sums, which lie behind the struct. */
static void add_batch(const gbees_marginals *to, int n, size_t count, int32_t *const *index, const double *p)
{
    for (int j = 0; j < n; j++) {
        double *line = (double *)to->line[j]; /* of the block, which is this file's */

        for (size_t i = 0; i < count; i++)
            line[index[j][i] - to->first[j]] += p[i];
        for (int k = j + 1; k < n; k++) {
            double *plane = (double *)to->plane[j][k];

            for (size_t i = 0; i < count && plane; i++)
                plane[(uint64_t)(index[j][i] - to->first[j]) * to->length[k] +
                      (uint64_t)(index[k][i] - to->first[k])] += p[i];
        }
    }
}

int gbees_slabs_marginals(const gbees_cells *cells, uint64_t most, gbees_marginals **marginals, gbees_error *error)
{
    gbees_marginals *made = cells->count > 0 ? lay_out(cells, most) : NULL;
    int32_t own[GBEES_MAX_DIM][BATCH], *rows[GBEES_MAX_DIM];
    double p[BATCH];
    int status = GBEES_OK;

    if (!made)
        return cells->count > 0
                   ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginals of a record")
                   : GBEES_OK;
    for (int j = 0; j < cells->dimension; j++)
        rows[j] = own[j];
    for (size_t first = 0, end = 0; first < cells->count && !status;) {
        if (first == end)
            status = gbees_cells_hold(cells, first, &end, error);
        const size_t count = end - first < BATCH ? end - first : BATCH;

        if (!status) {
            gbees_cells_copy(cells, first, count, rows, p);
            add_batch(made, cells->dimension, count, rows, p);
        }
        first += count;
    }
    if (status)
        free(made);
    else
        *marginals = made;
    return status;
}
