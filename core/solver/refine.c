/* refine.c - see refine.h. */
#include "refine.h"
#include "cells.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void gbees_initial_cells_clear(gbees_initial_cells *cells)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(cells->index[j]);
    free(cells->p);
    memset(cells->index, 0, sizeof cells->index);
    cells->p = NULL;
    cells->count = 0;
}

static int no_memory(size_t count, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for another grid of %zu cells", count);
}

/* Sets the arrays of an empty list for `capacity` cells. */
static int reserve(gbees_initial_cells *cells, int n, size_t capacity, gbees_error *error)
{
    int whole = 1;

    for (int j = 0; j < n; j++) {
        cells->index[j] = malloc((capacity + 1) * sizeof *cells->index[j]);
        whole = whole && cells->index[j];
    }
    cells->p = malloc((capacity + 1) * sizeof *cells->p);
    if (whole && cells->p)
        return GBEES_OK;
    gbees_initial_cells_clear(cells);
    return no_memory(capacity, error);
}

/* Replaces the arrays of a list by those of another. */
static void replace(gbees_initial_cells *cells, const gbees_initial_cells *by)
{
    gbees_initial_cells_clear(cells);
    memcpy(cells->index, by->index, sizeof cells->index);
    cells->p = by->p;
    cells->count = by->count;
}

/* Sorts the cells so that those along `axis` follow each other; the other axes keep their order. */
static int sort_along(gbees_initial_cells *cells, int n, int axis, gbees_error *error)
{
    gbees_cells *sorted = gbees_cells_create(n);
    int32_t *index[GBEES_MAX_DIM];
    int last = 0, status;

    for (int j = 0; j < n; j++)
        if (j != axis)
            index[last++] = cells->index[j];
    index[last] = cells->index[axis];
    if (!sorted)
        return no_memory(cells->count, error);
    (void)gbees_cells_add(sorted, cells->count, (const int32_t *const *)index, cells->p);
    status = gbees_cells_finish(sorted, error); /* which returns a failure of adding */
    if (!status)
        gbees_cells_copy(sorted, 0, cells->count, index, cells->p);
    gbees_cells_destroy(sorted);
    return status;
}

/* Whether two cells of the list are in one line along an axis. */
static int in_line(const gbees_initial_cells *cells, int n, int axis, size_t a, size_t b)
{
    for (int j = 0; j < n; j++)
        if (j != axis && cells->index[j][a] != cells->index[j][b])
            return 0;
    return 1;
}

/* P of the cell `offset` cells beyond cell i along the axis by which the list is sorted; 0 if it is absent. */
static double beside(const gbees_initial_cells *cells, int n, int axis, size_t i, int offset)
{
    const int64_t wanted = (int64_t)cells->index[axis][i] + offset;

    for (int k = 1; k <= abs(offset); k++) {
        size_t at;

        if (offset < 0 ? i < (size_t)k : cells->count - i <= (size_t)k)
            return 0;
        at = offset < 0 ? i - (size_t)k : i + (size_t)k;
        if (cells->index[axis][at] == wanted)
            return in_line(cells, n, axis, i, at) ? cells->p[at] : 0;
    }
    return 0;
}

/* Appends a cell, unless it holds nothing. */
static void append(gbees_initial_cells *to, int n, const gbees_initial_cells *from, size_t i, int axis, int64_t index,
                   double p)
{
    if (!(p > 0))
        return;
    for (int j = 0; j < n; j++)
        to->index[j][to->count] = j == axis ? (int32_t)index : from->index[j][i];
    to->p[to->count++] = p;
}

static int halve(gbees_initial_cells *cells, int n, int axis, gbees_error *error)
{
    gbees_initial_cells halves = {0};
    int status = reserve(&halves, n, 2 * cells->count, error);

    for (size_t i = 0; i < cells->count && !status; i++) {
        const double p = cells->p[i];
        const double near = beside(cells, n, axis, i, 1) - beside(cells, n, axis, i, -1);
        const double far = beside(cells, n, axis, i, 2) - beside(cells, n, axis, i, -2);
        /* The upper half's average less the cell's (Harten, SIAM J. Numer. Anal. 33 (1996) 1205). */
        double more = (22 * near - 3 * far) / 128;
        const int64_t index = 2 * (int64_t)cells->index[axis][i];

        more = more > p ? p : more < -p ? -p : more;
        append(&halves, n, cells, i, axis, index, (p - more) / 2);
        append(&halves, n, cells, i, axis, index + 1, (p + more) / 2);
    }
    if (!status)
        replace(cells, &halves);
    return status;
}

/* Merges cells 2 i and 2 i + 1. */
static void merge(gbees_initial_cells *cells, int n, int axis)
{
    size_t kept = 0;

    for (size_t i = 0; i < cells->count; i++) {
        const int32_t index = cells->index[axis][i];
        const int32_t half = (index - (index & 1)) / 2; /* rounded down, of negative ones, too */

        cells->index[axis][i] = half;
        if (kept > 0 && cells->index[axis][kept - 1] == half && in_line(cells, n, axis, kept - 1, i)) {
            cells->p[kept - 1] += cells->p[i];
            continue;
        }
        for (int j = 0; j < n; j++)
            cells->index[j][kept] = cells->index[j][i];
        cells->p[kept++] = cells->p[i];
    }
    cells->count = kept;
}

/* Moves `share` of the difference between each two neighbours along the axis to the one that holds less; if it is
 * negative, from that one, which keeps a part. */
static void exchange(gbees_initial_cells *cells, int n, int axis, double share)
{
    double gained = 0; /* by cell i, of the cell before it */

    for (size_t i = 0; i < cells->count; i++) {
        const double more = beside(cells, n, axis, i, 1), own = cells->p[i], least = 0.4 * fmin(more, own);
        double moved = more > 0 ? share * (more - own) : 0;

        if (share < 0)
            moved = fmin(fmax(moved, -least), least);
        cells->p[i] += gained + moved;
        gained = -moved;
    }
}

/* Changes the cells along the axis by which they are sorted. Averages P and values at centres p differ by the second
 * difference along the axis: P = p + (p_(i+1) - 2 p_i + p_(i-1)) / 24. */
static int change_axis(gbees_initial_cells *cells, int n, int axis, int change, gbees_cell_values values,
                       gbees_error *error)
{
    const double share = values == GBEES_CELL_POINTS ? 1.0 / 24 : 0;
    int status = GBEES_OK;

    if (share > 0)
        exchange(cells, n, axis, share);
    for (int k = 0; k < change && !status; k++)
        status = halve(cells, n, axis, error);
    for (int k = 0; k > change; k--)
        merge(cells, n, axis);
    if (share > 0 && !status)
        exchange(cells, n, axis, -share);
    return status;
}

/* Whether the indices along an axis fit in a record, and in the arithmetic on indices, if the cells are 2^change
 * times narrower. */
static int check_range(const gbees_initial_cells *cells, int n, int axis, int change, gbees_error *error)
{
    const int64_t most = n > 4 ? (INT64_C(1) << (128 / n - 1)) - 1 : INT32_MAX / 4; /* cells.h */

    for (size_t i = 0; i < cells->count && change > 0; i++) {
        const int64_t parts = INT64_C(1) << change, first = cells->index[axis][i] * parts;

        if (first < -most || first + parts - 1 > most)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "a grid whose cells are %lld times narrower along axis %d has too many cells: its "
                                   "indices reach %lld, and at most %lld fit",
                                   (long long)parts, axis, (long long)first, (long long)most);
    }
    return GBEES_OK;
}

int gbees_refine(gbees_initial_cells *cells, int n, const int *change, gbees_cell_values values, gbees_error *error)
{
    int sorted = n - 1, status = GBEES_OK; /* the axis along which cells follow each other */

    for (int j = n - 1; j >= 0 && !status; j--) {
        if (change[j] == 0)
            continue;
        status = check_range(cells, n, j, change[j], error);
        if (!status && sorted != j)
            status = sort_along(cells, n, j, error);
        sorted = j;
        if (!status)
            status = change_axis(cells, n, j, change[j], values, error);
    }
    return status || sorted == n - 1 ? status : sort_along(cells, n, n - 1, error);
}
