/* sparse_list.c - finds the spans of a list of multi-indices, and writes such a list, on threads. */
#include "sparse_list.h"
#include "base/initial_cells.h"
#include <gbees/gbees.h>
#include <stdatomic.h>
#include <string.h>

/* ---- spans of a list ---- */

typedef struct packing {
    const gbees_initial_cells *list;
    const int *axis;
    gbees_sparse *cells;
    int32_t low[GBEES_SPARSE_PARTS][GBEES_MAX_DIM], high[GBEES_SPARSE_PARTS][GBEES_MAX_DIM];
    atomic_int failed; /* whether there was no memory */
} packing;

/* The first cell of the list in a part. */
static size_t first_of(const packing *t, size_t part)
{
    const size_t parts = t->cells->parts, count = t->list->count;

    return count / parts * part + count % parts * part / parts;
}

/* Whether cell i of the list follows cell i - 1 along the spans. */
static int follows(const packing *t, size_t i)
{
    int follows = 1;

    for (int k = 0; k < t->cells->n; k++) {
        const int32_t *index = t->list->index[t->axis[k]];

        follows = follows && index[i] == index[i - 1] + (k == t->cells->axis);
    }
    return follows;
}

/* Appends a span that begins with cell i of the list, and has no cell yet. */
static int begin_span(const packing *t, size_t i, gbees_sparse_part *part)
{
    gbees_sparse_span span = {.length = 0};

    if (gbees_sparse_reserve(part, 1, 0))
        return 1;
    for (int k = 0; k < t->cells->n; k++)
        span.at[k] = t->list->index[t->axis[k]][i];
    part->span[part->span_count++] = span;
    return 0;
}

/* Sets a part's range of indices along an axis. */
static void find_range(packing *t, size_t part, int axis)
{
    const int32_t *index = t->list->index[t->axis[axis]];
    const size_t end = first_of(t, part + 1);
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (size_t i = first_of(t, part); i < end; i++) {
        low = index[i] < low ? index[i] : low;
        high = index[i] > high ? index[i] : high;
    }
    t->low[part][axis] = low;
    t->high[part][axis] = high;
}

static void pack_part(void *context, size_t number)
{
    packing *t = context;
    const size_t first = first_of(t, number), end = first_of(t, number + 1);
    gbees_sparse_part *part = &t->cells->part[number];
    int failed = 0;

    for (size_t i = first; i < end && !failed; i++) {
        if (i == first || !follows(t, i))
            failed = begin_span(t, i, part);
        if (!failed)
            part->span[part->span_count - 1].length++;
    }
    part->p = t->list->p + first;
    part->count = end - first;
    for (int k = 0; k < t->cells->n; k++)
        find_range(t, number, k);
    if (failed)
        atomic_store(&t->failed, 1);
}

/* Sets the range of indices along axis k to that of all parts. */
static void join_ranges(const packing *t, int k)
{
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (size_t part = 0; part < t->cells->parts; part++) {
        low = t->low[part][k] < low ? t->low[part][k] : low;
        high = t->high[part][k] > high ? t->high[part][k] : high;
    }
    t->cells->low[k] = low;
    t->cells->high[k] = high;
}

int gbees_sparse_from_list(const gbees_initial_cells *list, const int *axis, gbees_sparse *cells)
{
    packing t = {.list = list, .axis = axis, .cells = cells};

    cells->count = list->count;
    cells->parts = gbees_sparse_parts(cells);
    for (int k = 0; k < cells->n; k++)
        if (axis[k] == cells->n - 1)
            cells->axis = k;
    gbees_pool_run(cells->pool, cells->parts, pack_part, &t);
    for (int k = 0; k < cells->n; k++)
        join_ranges(&t, k);
    return atomic_load(&t.failed);
}

/* ---- unpacking ---- */

typedef struct unpacking {
    const gbees_sparse *cells;
    const int *axis;
    double least;
    gbees_initial_cells *list;
    size_t first[GBEES_SPARSE_PARTS]; /* how many cells of a part are kept, then where they go */
    double dropped[GBEES_SPARSE_PARTS];
} unpacking;

static void count_part(void *context, size_t part)
{
    unpacking *g = context;
    const size_t end = gbees_sparse_first(g->cells, part + 1);
    size_t kept = 0;
    double dropped = 0;

    for (size_t k = gbees_sparse_first(g->cells, part); k < end; k++) {
        const gbees_sparse_span *span = &g->cells->span[k];

        for (uint32_t i = 0; i < span->length; i++) {
            kept += span->p[i] >= g->least;
            dropped += span->p[i] >= g->least ? 0 : span->p[i];
        }
    }
    g->first[part] = kept;
    g->dropped[part] = dropped;
}

/* Writes the cells of a span that are kept to the list, from entry `to` on; returns the entry after them. */
static size_t unpack_span(const unpacking *g, const gbees_sparse_span *span, size_t to)
{
    const int along = g->cells->axis;
    int32_t *index = g->list->index[g->axis[along]];
    size_t end = to;

    for (uint32_t i = 0; i < span->length; i++)
        if (span->p[i] >= g->least) {
            g->list->p[end] = span->p[i];
            index[end++] = span->at[along] + (int32_t)i;
        }
    for (int k = 0; k < g->cells->n; k++)
        for (size_t i = to; k != along && i < end; i++)
            g->list->index[g->axis[k]][i] = span->at[k];
    return end;
}

static void unpack_part(void *context, size_t part)
{
    unpacking *g = context;
    const size_t end = gbees_sparse_first(g->cells, part + 1);
    size_t to = g->first[part];

    for (size_t k = gbees_sparse_first(g->cells, part); k < end; k++)
        to = unpack_span(g, &g->cells->span[k], to);
}

/* Sets the place of each part's cells in the list; returns their number. */
static size_t set_places(unpacking *g, double *dropped)
{
    size_t count = 0;

    for (size_t part = 0; part < gbees_sparse_parts(g->cells); part++) {
        const size_t kept = g->first[part];

        g->first[part] = count;
        count += kept;
        *dropped += g->dropped[part];
    }
    return count;
}

int gbees_sparse_to_list(const gbees_sparse *cells, const int *axis, double least, gbees_initial_cells *list,
                         double *dropped)
{
    gbees_initial_cells made = *list;
    unpacking g = {.cells = cells, .axis = axis, .least = least, .list = &made};
    double lost = 0;

    gbees_pool_run(cells->pool, gbees_sparse_parts(cells), count_part, &g);
    const size_t count = set_places(&g, &lost);
    memset(made.index, 0, sizeof made.index);
    if (gbees_initial_cells_reserve(&made, cells->n, count))
        return 1;
    made.count = count;
    gbees_pool_run(cells->pool, gbees_sparse_parts(cells), unpack_part, &g);
    gbees_initial_cells_clear(list);
    *list = made;
    *dropped += lost;
    return 0;
}
