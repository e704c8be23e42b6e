/* cells.c - packs the cells that a backend passes, block by block, and sorts them. */
#include "base/array.h"
#include "base/workers.h"
#include "cells_private.h"
#include <stdlib.h>
#include <string.h>

gbees_cells *gbees_cells_create(int dimension)
{
    int bits = 128 / dimension < 32 ? 128 / dimension : 32;
    gbees_cells *cells = calloc(1, sizeof *cells);

    if (!cells)
        return NULL;
    cells->dimension = dimension;
    for (int j = dimension - 1; j >= 0; j--)
        gbees_cells_set_axis(&cells->layout, j, bits, -(INT64_C(1) << (bits - 1)));
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        cells->last[j] = -1;
    return cells;
}

/* ---- adding ------------------------------------------------------------------------------------------------ */

static int reserve(gbees_cells *cells, size_t extra)
{
    size_t needed = cells->count + extra;

    if (needed <= cells->capacity)
        return 0;
    size_t capacity = cells->capacity + cells->capacity / 2 + 4096;
    if (capacity < needed)
        capacity = needed;
    gbees_cells_entry *entries =
        capacity > SIZE_MAX / sizeof *entries ? NULL : realloc(cells->entries, capacity * sizeof *entries);
    if (!entries)
        return gbees_error_set(&cells->failure, GBEES_ENOMEM, "not enough memory for a record of %zu cells", needed);
    cells->entries = entries;
    cells->capacity = capacity;
    return 0;
}

/* Cells that are added: divided into parts, of which each thread takes one after the other. */
typedef struct adding {
    const gbees_cells *to;
    size_t count, parts;
    const int32_t *const *index;
    const double *p;
    int32_t first[GBEES_WORKERS_PARTS][GBEES_MAX_DIM], last[GBEES_WORKERS_PARTS][GBEES_MAX_DIM]; /* of each part */
} adding;

/* Packs cells first ... first + count - 1 of a list, of at most GBEES_CELLS_BLOCK, to the same places of `to`. */
static void pack(const gbees_cells_layout *as, int n, size_t first, size_t count, const int32_t *const *index,
                 const double *p, gbees_cells_entry *to)
{
    gbees_cells_keys key = {{0}, {0}};
    uint64_t place[GBEES_CELLS_BLOCK];

    for (int j = 0; j < n; j++) {
        for (size_t i = 0; i < count; i++)
            place[i] = (uint64_t)(index[j][first + i] - as->offset[j]);
        gbees_cells_put_axis(&key, place, count, as->shift[j]);
    }
    for (size_t i = 0; i < count; i++)
        to[first + i] = (gbees_cells_entry){key.high[i], key.low[i], p[first + i]};
}

static size_t part_first(const adding *a, size_t part)
{
    return a->count / a->parts * part + a->count % a->parts * part / a->parts;
}

/* Packs a part behind the cells that there are, and finds its range. */
static void add_part(void *context, size_t part)
{
    adding *a = context;
    const gbees_cells *to = a->to;
    const size_t start = part_first(a, part), end = part_first(a, part + 1);

    for (int j = 0; j < to->dimension; j++)
        gbees_cells_find_range(a->index[j], start, end, &a->first[part][j], &a->last[part][j]);
    for (size_t first = start; first < end; first += GBEES_CELLS_BLOCK)
        pack(&to->layout, to->dimension, first, end - first < GBEES_CELLS_BLOCK ? end - first : GBEES_CELLS_BLOCK,
             a->index, a->p, to->entries + to->count);
}

/* Extends the range of an axis by those of the parts, which must fit into the layout. */
static int extend_range(gbees_cells *cells, int axis, const adding *a)
{
    int32_t first = cells->count ? cells->first[axis] : a->first[0][axis];
    int32_t last = cells->count ? cells->last[axis] : a->last[0][axis];
    const int64_t lowest = cells->layout.offset[axis], highest = lowest + (int64_t)cells->layout.mask[axis];

    for (size_t k = 0; k < a->parts; k++) {
        first = a->first[k][axis] < first ? a->first[k][axis] : first;
        last = a->last[k][axis] > last ? a->last[k][axis] : last;
    }
    if (first < lowest || last > highest)
        return gbees_error_set(&cells->failure, GBEES_ENUMERIC,
                               "cell index %ld along axis %d does not fit in a record of %d dimensions, which holds "
                               "%ld to %ld: use wider cells",
                               (long)(first < lowest ? first : last), axis, cells->dimension, (long)lowest,
                               (long)highest);
    cells->first[axis] = first;
    cells->last[axis] = last;
    return 0;
}

void gbees_cells_expect(gbees_cells *cells, size_t count)
{
    if (cells->entries)
        return;
    cells->entries = gbees_array_create(count, sizeof *cells->entries);
    cells->capacity = cells->entries ? count : 0;
}

void gbees_cells_use_threads(gbees_cells *cells, int threads)
{
    cells->threads = threads;
}

int gbees_cells_add(void *context, size_t count, const int32_t *const *index, const double *p)
{
    enum { CELL_NS = 20 /* time to add a cell, about */ };
    gbees_cells *cells = context;
    adding a;

    if (count == 0 || cells->failure.status || reserve(cells, count))
        return (int)cells->failure.status;
    const int threads = cells->threads > 1 ? gbees_workers_worth(cells->threads, CELL_NS * (double)count) : 1;
    a.to = cells;
    a.count = count;
    a.index = index;
    a.p = p;
    a.parts = threads > 1 ? GBEES_WORKERS_PARTS : 1;
    gbees_workers_run(threads, a.parts, add_part, &a);
    for (int j = 0; j < cells->dimension; j++)
        if (extend_range(cells, j, &a))
            return (int)cells->failure.status;
    cells->count += count;
    return 0;
}

int gbees_cells_collect(const gbees_backend *backend, gbees_engine *engine, double fraction, int dimension,
                        uint64_t count, const char *what, gbees_cells **cells, gbees_error *error)
{
    gbees_cells *made = gbees_cells_create(dimension);
    gbees_error cause = {0};

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %s", what);
    if (count > 0)
        gbees_cells_expect(made, (size_t)count);
    int status = backend->cells(engine, fraction, gbees_cells_add, made, &cause);
    if (made->failure.status) { /* the visit ended for lack of memory */
        cause = made->failure;
        status = (int)cause.status;
    }
    if (!status) {
        *cells = made;
        return GBEES_OK;
    }
    gbees_cells_free(made);
    return gbees_error_set(error, (gbees_status)status, "%s", cause.text);
}

/* ---- ending ------------------------------------------------------------------------------------------------ */

static void give_back(gbees_cells *cells)
{
    gbees_cells_entry *entries = realloc(cells->entries, cells->count * sizeof *entries);

    if (entries) {
        cells->entries = entries;
        cells->capacity = cells->count;
    }
}

/* Cells in order, among which some are looked for that are there twice. */
typedef struct pairing {
    const gbees_cells *cells;
    size_t twice[GBEES_WORKERS_PARTS]; /* the first of a part that equals the one before it; 0: none */
} pairing;

static void find_twice(void *context, size_t part)
{
    pairing *p = context;
    const gbees_cells_entry *e = p->cells->entries;
    const size_t end = gbees_workers_first(p->cells->count, part + 1);
    size_t i = gbees_workers_first(p->cells->count, part);

    for (i += i == 0; i < end && gbees_cells_is_less(&e[i - 1], &e[i]);)
        i++;
    p->twice[part] = i < end ? i : 0;
}

int gbees_cells_finish(gbees_cells *cells, int threads, gbees_error *error)
{
    enum { CELL_NS = 3 /* time of a cell, about */ };
    pairing p = {.cells = cells};

    if (cells->failure.status)
        return gbees_error_set(error, cells->failure.status, "%s", cells->failure.text);
    if (cells->count == 0 || cells->slabs)
        return 0;
    gbees_cells_sort(cells, threads);
    gbees_workers_run(gbees_workers_worth(threads, CELL_NS * (double)cells->count), GBEES_WORKERS_PARTS, find_twice,
                      &p);
    for (size_t k = 0; k < GBEES_WORKERS_PARTS; k++)
        if (p.twice[k] > 0)
            return gbees_error_set(error, GBEES_EBACKEND,
                                   "the backend handed out the cell with index %ld along axis 0 twice: this is an "
                                   "error in the backend",
                                   (long)gbees_cells_index(cells, p.twice[k], 0));
    give_back(cells);
    return 0;
}
