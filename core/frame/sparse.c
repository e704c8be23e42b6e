/* sparse.c - sorts the cells by counting, one axis after the other, on threads: each counts a part, prefix sums give
 * the places, and each moves its part. */
#include "sparse.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

enum { PART_CELLS = 2048, RANGE_MOST = 1 << 18 };

size_t gbees_sparse_parts(const gbees_sparse *cells)
{
    const size_t parts = cells->count / PART_CELLS + 1;

    return parts < GBEES_SPARSE_PARTS ? parts : GBEES_SPARSE_PARTS;
}

size_t gbees_sparse_first(const gbees_sparse *cells, size_t part)
{
    const size_t parts = gbees_sparse_parts(cells);

    return cells->count / parts * part + cells->count % parts * part / parts;
}

void gbees_sparse_for_parts(const gbees_sparse *cells, void (*work)(void *context, size_t part), void *context)
{
    gbees_pool_run(cells->pool, gbees_sparse_parts(cells), work, context);
}

int gbees_sparse_reserve(gbees_sparse *cells, size_t count)
{
    const size_t capacity = count + count / 4;

    if (count <= cells->spare_capacity && cells->spare)
        return 0;
    free(cells->spare);
    cells->spare = gbees_array_create(capacity, sizeof *cells->spare);
    cells->spare_capacity = cells->spare ? capacity : 0;
    return !cells->spare;
}

void gbees_sparse_swap(gbees_sparse *cells, size_t count)
{
    gbees_sparse_cell *cell = cells->cell;
    const size_t capacity = cells->capacity;

    cells->cell = cells->spare;
    cells->capacity = cells->spare_capacity;
    cells->count = count;
    cells->spare = cell;
    cells->spare_capacity = capacity;
}

void gbees_sparse_close(gbees_sparse *cells)
{
    free(cells->cell);
    free(cells->spare);
    *cells = (gbees_sparse){0};
}

/* A sort by the index along one axis that keeps the order of equals. */
typedef struct sorting {
    const gbees_sparse *cells;
    int axis;
    int32_t first;        /* the lowest index */
    size_t range, *place; /* [part][range]: counts of cells, then their first places */
} sorting;

static void count_part(void *context, size_t part)
{
    sorting *s = context;
    size_t *count = s->place + part * s->range;
    const size_t end = gbees_sparse_first(s->cells, part + 1);

    memset(count, 0, s->range * sizeof *count);
    for (size_t i = gbees_sparse_first(s->cells, part); i < end; i++)
        count[s->cells->cell[i].at[s->axis] - s->first]++;
}

static void move_part(void *context, size_t part)
{
    sorting *s = context;
    size_t *place = s->place + part * s->range;
    const size_t end = gbees_sparse_first(s->cells, part + 1);

    for (size_t i = gbees_sparse_first(s->cells, part); i < end; i++)
        s->cells->spare[place[s->cells->cell[i].at[s->axis] - s->first]++] = s->cells->cell[i];
}

/* Turns the counts in `place` into first places (prefix sums): by index, and by part where indices are equal. */
static void set_places(sorting *s)
{
    const size_t parts = gbees_sparse_parts(s->cells);
    size_t all = 0;

    for (size_t k = 0; k < s->range; k++)
        for (size_t part = 0; part < parts; part++) {
            const size_t count = s->place[part * s->range + k];

            s->place[part * s->range + k] = all;
            all += count;
        }
}

int gbees_sparse_sort(gbees_sparse *cells, int axis, gbees_error *error)
{
    sorting s = {.cells = cells, .axis = axis, .first = cells->low[axis]};

    if (cells->high[axis] <= cells->low[axis]) /* no cell, or all of one index */
        return GBEES_OK;
    s.range = (size_t)((int64_t)cells->high[axis] - cells->low[axis]) + 1;
    if (s.range > RANGE_MOST)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the cells of a density in a moving frame lie up to %zu cells apart, and at most %d are "
            "possible: it has parts far from each other, or the frame is too fine",
            s.range, (int)RANGE_MOST);
    s.place = gbees_array_create(gbees_sparse_parts(cells) * s.range, sizeof *s.place);
    if (!s.place || gbees_sparse_reserve(cells, cells->count)) {
        free(s.place);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to sort %zu cells", cells->count);
    }
    gbees_sparse_for_parts(cells, count_part, &s);
    set_places(&s);
    gbees_sparse_for_parts(cells, move_part, &s);
    gbees_sparse_swap(cells, cells->count);
    free(s.place);
    return GBEES_OK;
}
