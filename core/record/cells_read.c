/* cells_read.c - unpacks, sums and lists the cells of a record, and frees them. */
#include "base/initial_cells.h"
#include "base/workers.h"
#include "cells_private.h"
#include "slabs.h"
#include <stdlib.h>
#include <string.h>

void gbees_cells_destroy(gbees_cells *cells)
{
    if (!cells)
        return;
    gbees_slabs_destroy(cells->slabs);
    gbees_cells_free(cells);
}

size_t gbees_cells_count(const gbees_cells *cells)
{
    return cells->count;
}

int gbees_cells_hold(const gbees_cells *cells, size_t cell, size_t *end, gbees_error *error)
{
    if (cells->slabs)
        return gbees_slabs_hold(cells->slabs, cell, end, error);
    *end = cells->count;
    return GBEES_OK;
}

int gbees_cells_are_whole(const gbees_cells *cells)
{
    return !cells->slabs;
}

/* Copies entries first + at ..., at most a block of them, to places at ... of the arrays. */
static void unpack(const gbees_cells *cells, size_t first, size_t at, size_t count, int32_t *const *index, double *p)
{
    const gbees_cells_entry *e = cells->entries + first + at;
    uint64_t place[GBEES_CELLS_BLOCK];
    gbees_cells_keys key;

    gbees_cells_take_keys(e, count, &key);
    for (int j = 0; index && j < cells->dimension; j++) {
        if (!index[j])
            continue;
        gbees_cells_take_axis(&key, count, cells->layout.shift[j], cells->layout.mask[j], place);
        for (size_t i = 0; i < count; i++)
            index[j][at + i] = (int32_t)((int64_t)place[i] + cells->layout.offset[j]);
    }
    for (size_t i = 0; i < count && p; i++)
        p[at + i] = e[i].p;
}

void gbees_cells_copy(const gbees_cells *cells, size_t first, size_t count, int32_t *const *index, double *p)
{
    if (cells->slabs) {
        size_t before;

        cells = gbees_slabs_held(cells->slabs, &before);
        first -= before;
    }
    for (size_t at = 0; at < count; at += GBEES_CELLS_BLOCK)
        unpack(cells, first, at, count - at < GBEES_CELLS_BLOCK ? count - at : GBEES_CELLS_BLOCK, index, p);
}

typedef struct listing {
    const gbees_cells *cells;
    gbees_initial_cells *list;
} listing;

static void list_part(void *context, size_t part)
{
    const listing *l = context;
    const size_t first = gbees_workers_first(l->cells->count, part);
    int32_t *index[GBEES_MAX_DIM] = {NULL};

    for (int j = 0; j < l->cells->dimension; j++)
        index[j] = l->list->index[j] + first;
    gbees_cells_copy(l->cells, first, gbees_workers_first(l->cells->count, part + 1) - first, index,
                     l->list->p + first);
}

int gbees_cells_list_by(const gbees_cells *cells, int threads, gbees_initial_cells *list, gbees_error *error)
{
    enum { CELL_NS = 20 /* time of a cell, about: decides how many threads are worth starting */ };
    listing l = {cells, list};

    if (gbees_initial_cells_reserve(list, cells->dimension, cells->count))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a list of %zu cells", cells->count);
    list->count = cells->count;
    gbees_workers_run(gbees_workers_worth(threads, CELL_NS * (double)cells->count), GBEES_WORKERS_PARTS, list_part,
                      &l);
    return 0;
}

int gbees_cells_list(const gbees_cells *cells, gbees_initial_cells *list, gbees_error *error)
{
    return gbees_cells_list_by(cells, 1, list, error);
}

void gbees_cells_range(const gbees_cells *cells, int axis, int32_t *lo, int32_t *hi)
{
    *lo = cells->first[axis];
    *hi = cells->last[axis];
}

static size_t length_of(const gbees_cells *cells, int axis)
{
    return (size_t)((int64_t)cells->last[axis] - cells->first[axis] + 1);
}

int gbees_cells_marginal_1d(const gbees_cells *cells, int a, double **p, gbees_error *error)
{
    size_t length = length_of(cells, a);
    double *sum = calloc(length + 1, sizeof *sum);

    if (!sum)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the marginal of axis %d: %zu cells", a,
                               length);
    for (size_t i = 0; i < cells->count; i++)
        sum[(int64_t)gbees_cells_index(cells, i, a) - cells->first[a]] += cells->entries[i].p;
    *p = sum;
    return 0;
}

int gbees_cells_marginal_2d(const gbees_cells *cells, int a, int b, double **p, gbees_error *error)
{
    size_t rows = length_of(cells, a), columns = length_of(cells, b);
    double *sum = NULL;

    if (columns == 0 || rows < (SIZE_MAX / sizeof *sum - 1) / columns)
        sum = calloc(rows * columns + 1, sizeof *sum);
    if (!sum)
        return gbees_error_set(error, GBEES_ENOMEM,
                               "not enough memory for the marginal of axes %d and %d: %zu x %zu "
                               "cells",
                               a, b, rows, columns);
    for (size_t i = 0; i < cells->count; i++) {
        size_t row = (size_t)((int64_t)gbees_cells_index(cells, i, a) - cells->first[a]);
        size_t column = (size_t)((int64_t)gbees_cells_index(cells, i, b) - cells->first[b]);

        sum[row * columns + column] += cells->entries[i].p;
    }
    *p = sum;
    return 0;
}
