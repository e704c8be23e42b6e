/* sparse.c - see sparse.h. */
#include "sparse.h"
#include "base/array.h"
#include "base/workers.h"
#include <stdlib.h>
#include <string.h>

enum { CELL_NS = 5 /* about what a pass takes for each cell */, RANGE_MOST = 1 << 18 };

size_t gbees_sparse_first(const gbees_sparse *cells, size_t part)
{
    return cells->count / GBEES_SPARSE_PARTS * part + cells->count % GBEES_SPARSE_PARTS * part / GBEES_SPARSE_PARTS;
}

void gbees_sparse_share(const gbees_sparse *cells, void (*work)(void *context, size_t part), void *context)
{
    gbees_workers_run(gbees_workers_worth(cells->threads, CELL_NS * (double)cells->count), GBEES_SPARSE_PARTS, work,
                      context);
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
    *cells = (gbees_sparse){.last = -1};
}

/* A sort by the index along one axis that keeps the order of equals. */
typedef struct sorting {
    const gbees_sparse *cells;
    int axis;
    int32_t low[GBEES_SPARSE_PARTS], high[GBEES_SPARSE_PARTS], first; /* of the parts, and of all */
    size_t range, *place;                                             /* [part][range]: how many, then where */
} sorting;

static void find_range(void *context, size_t part)
{
    sorting *s = context;
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (size_t i = gbees_sparse_first(s->cells, part); i < gbees_sparse_first(s->cells, part + 1); i++) {
        const int32_t at = s->cells->cell[i].at[s->axis];

        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    s->low[part] = low;
    s->high[part] = high;
}

static void count_part(void *context, size_t part)
{
    sorting *s = context;
    size_t *count = s->place + part * s->range;

    memset(count, 0, s->range * sizeof *count);
    for (size_t i = gbees_sparse_first(s->cells, part); i < gbees_sparse_first(s->cells, part + 1); i++)
        count[s->cells->cell[i].at[s->axis] - s->first]++;
}

static void move_part(void *context, size_t part)
{
    sorting *s = context;
    size_t *place = s->place + part * s->range;

    for (size_t i = gbees_sparse_first(s->cells, part); i < gbees_sparse_first(s->cells, part + 1); i++)
        s->cells->spare[place[s->cells->cell[i].at[s->axis] - s->first]++] = s->cells->cell[i];
}

/* From how many to where: by index, then by part. */
static void set_places(sorting *s)
{
    size_t all = 0;

    for (size_t k = 0; k < s->range; k++)
        for (size_t part = 0; part < GBEES_SPARSE_PARTS; part++) {
            const size_t count = s->place[part * s->range + k];

            s->place[part * s->range + k] = all;
            all += count;
        }
}

static int sort_by(gbees_sparse *cells, int axis, gbees_error *error)
{
    sorting s = {.cells = cells, .axis = axis, .first = INT32_MAX};
    int32_t end = INT32_MIN;

    gbees_sparse_share(cells, find_range, &s);
    for (int part = 0; part < GBEES_SPARSE_PARTS; part++) {
        s.first = s.low[part] < s.first ? s.low[part] : s.first;
        end = s.high[part] > end ? s.high[part] : end;
    }
    if (end <= s.first) /* no cell, or all of one index */
        return GBEES_OK;
    s.range = (size_t)((int64_t)end - s.first) + 1;
    if (s.range > RANGE_MOST)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the cells of a density in a moving frame lie up to %zu cells apart, and at most %d are "
            "possible: it has parts far from each other, or the frame is too fine",
            s.range, (int)RANGE_MOST);
    s.place = gbees_array_create(GBEES_SPARSE_PARTS * s.range, sizeof *s.place);
    if (!s.place || gbees_sparse_reserve(cells, cells->count)) {
        free(s.place);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to sort %zu cells", cells->count);
    }
    gbees_sparse_share(cells, count_part, &s);
    set_places(&s);
    gbees_sparse_share(cells, move_part, &s);
    gbees_sparse_swap(cells, cells->count);
    free(s.place);
    return GBEES_OK;
}

int gbees_sparse_turn(gbees_sparse *cells, int axis, gbees_error *error)
{
    const int n = cells->n;
    int sorts = cells->last < 0 ? n : (axis - cells->last + n) % n, status = GBEES_OK;

    for (; sorts > 0 && !status; sorts--)
        status = sort_by(cells, (axis - sorts + n) % n, error);
    cells->last = axis;
    return status;
}

int gbees_sparse_order(gbees_sparse *cells, const int *order, gbees_error *error)
{
    int status = GBEES_OK;

    for (int j = cells->n - 1; j >= 0 && !status; j--)
        status = sort_by(cells, order[j], error);
    cells->last = -1;
    return status;
}
