/* sparse.c - sorts the spans by counting, one axis after the other, on threads: each counts a part, prefix sums give
 * the places, and each moves its part. The first of several sorts reads the parts' spans, the others all spans. */
#include "sparse.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

enum { PART_CELLS = 2048, RANGE_MOST = 1 << 18 };

/* ---- parts and memory ---- */

size_t gbees_sparse_parts(const gbees_sparse *cells)
{
    const size_t parts = cells->count / PART_CELLS + 1;

    return parts < GBEES_SPARSE_PARTS ? parts : GBEES_SPARSE_PARTS;
}

size_t gbees_sparse_first(const gbees_sparse *cells, size_t part)
{
    const size_t parts = gbees_sparse_parts(cells);

    return cells->span_count / parts * part + cells->span_count % parts * part / parts;
}

void gbees_sparse_empty(gbees_sparse_part *part)
{
    double *const own = part->own;
    const size_t capacity = part->capacity;

    part->own = part->last;
    part->capacity = part->last_capacity;
    part->last = own;
    part->last_capacity = capacity;
    part->count = part->span_count = 0;
}

int gbees_sparse_reserve(gbees_sparse_part *part, size_t span_count, size_t count)
{
    return gbees_array_reserve(&part->span, part->span_count + span_count, &part->span_capacity,
                               sizeof *part->span) ||
           gbees_array_reserve(&part->own, part->count + count, &part->capacity, sizeof *part->own);
}

/* Makes memory for so many spans; what was there is lost. Returns 1 if there is none. */
static int make_spans(gbees_sparse_span **span, size_t *capacity, size_t count)
{
    if (*span && count <= *capacity)
        return 0;
    free(*span);
    *capacity = count + count / 2;
    *span = gbees_array_create(*capacity, sizeof **span);
    if (!*span)
        *capacity = 0;
    return !*span;
}

void gbees_sparse_close(gbees_sparse *cells)
{
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        free(cells->part[k].span);
        free(cells->part[k].own);
        free(cells->part[k].last);
    }
    free(cells->span);
    free(cells->spare);
    *cells = (gbees_sparse){0};
}

/* ---- sorts ---- */

/* A sort by the index along one axis that keeps the order of equals. */
typedef struct sorting {
    gbees_sparse *cells;
    int axis;
    int32_t first;               /* the lowest index */
    size_t parts, range, *place; /* [parts][range]: counts of spans, then their first places */
    gbees_sparse_span *to;
} sorting;

/* The place, among a part's, of spans with this one's index; if s->range is 1 all have the same. */
static inline size_t *place_of(const sorting *s, const gbees_sparse_span *span, size_t *place)
{
    return place + (s->range > 1 ? span->at[s->axis] - s->first : 0);
}

static void count_spans(const sorting *s, size_t part, const gbees_sparse_span *span, size_t count)
{
    size_t *const place = s->place + part * s->range;

    memset(place, 0, s->range * sizeof *place);
    for (size_t k = 0; k < count; k++)
        ++*place_of(s, &span[k], place);
}

static void count_part(void *context, size_t part)
{
    const sorting *s = context;

    count_spans(s, part, s->cells->part[part].span, s->cells->part[part].span_count);
}

static void move_part(void *context, size_t number)
{
    const sorting *s = context;
    const gbees_sparse_part *part = &s->cells->part[number];
    size_t *const place = s->place + number * s->range;
    const double *p = part->p;

    for (size_t k = 0; k < part->span_count; k++) {
        gbees_sparse_span *to = &s->to[(*place_of(s, &part->span[k], place))++];

        *to = part->span[k];
        to->p = p;
        p += to->length;
    }
}

static void count_sorted(void *context, size_t part)
{
    const sorting *s = context;
    const size_t first = gbees_sparse_first(s->cells, part), end = gbees_sparse_first(s->cells, part + 1);

    count_spans(s, part, s->cells->span + first, end - first);
}

static void move_sorted(void *context, size_t part)
{
    const sorting *s = context;
    size_t *const place = s->place + part * s->range;
    const size_t end = gbees_sparse_first(s->cells, part + 1);

    for (size_t i = gbees_sparse_first(s->cells, part); i < end; i++)
        s->to[(*place_of(s, &s->cells->span[i], place))++] = s->cells->span[i];
}

/* Turns the counts in `place` into first places (prefix sums): by index, and by part where indices are equal. */
static void set_places(const sorting *s)
{
    size_t all = 0;

    for (size_t k = 0; k < s->range; k++)
        for (size_t part = 0; part < s->parts; part++) {
            const size_t count = s->place[part * s->range + k];

            s->place[part * s->range + k] = all;
            all += count;
        }
}

/* Counts, sets places, and moves the spans. Returns 1 if there is no memory. */
static int sort_parts(sorting *s, void (*count)(void *, size_t), void (*move)(void *, size_t))
{
    s->place = gbees_array_create(s->parts * s->range, sizeof *s->place);
    if (!s->place)
        return 1;
    gbees_pool_run(s->cells->pool, s->parts, count, s);
    set_places(s);
    gbees_pool_run(s->cells->pool, s->parts, move, s);
    free(s->place);
    return 0;
}

/* Sorts the parts' spans. Returns 1 if there is no memory. */
static int join(sorting *s)
{
    gbees_sparse *cells = s->cells;

    s->parts = cells->parts;
    cells->span_count = 0;
    for (size_t k = 0; k < cells->parts; k++)
        cells->span_count += cells->part[k].span_count;
    if (make_spans(&cells->span, &cells->span_capacity, cells->span_count))
        return 1;
    s->to = cells->span;
    return sort_parts(s, count_part, move_part);
}

/* Sorts all spans. Returns 1 if there is no memory. */
static int sort_again(sorting *s)
{
    gbees_sparse *cells = s->cells;
    gbees_sparse_span *const span = cells->span;
    const size_t capacity = cells->span_capacity;

    s->parts = gbees_sparse_parts(cells);
    if (make_spans(&cells->spare, &cells->spare_capacity, cells->span_count))
        return 1;
    s->to = cells->spare;
    if (sort_parts(s, count_sorted, move_sorted))
        return 1;
    cells->span = cells->spare;
    cells->span_capacity = cells->spare_capacity;
    cells->spare = span;
    cells->spare_capacity = capacity;
    return 0;
}

/* The number of indices along an axis between the lowest and the highest; 1 if there is no cell. */
static size_t range_of(const gbees_sparse *cells, int axis)
{
    const int32_t low = cells->low[axis], high = cells->high[axis];

    return high > low ? (size_t)((int64_t)high - low) + 1 : 1;
}

int gbees_sparse_check_range(const gbees_sparse *cells, int axis, gbees_error *error)
{
    const size_t range = range_of(cells, axis);

    if (range > RANGE_MOST)
        return gbees_error_set(
            error, GBEES_ENUMERIC,
            "the cells of a density in a moving frame lie up to %zu cells apart, and at most %d are "
            "possible: it has parts far from each other, or the frame is too fine",
            range, (int)RANGE_MOST);
    return GBEES_OK;
}

int gbees_sparse_sort(gbees_sparse *cells, const int *axes, int count, gbees_error *error)
{
    sorting s = {.cells = cells, .range = 1};
    int failed = 0;

    for (int k = 0; k < count; k++)
        if (gbees_sparse_check_range(cells, axes[k], error))
            return GBEES_ENUMERIC;
    for (int k = 0; k < (count > 0 ? count : 1) && !failed; k++) {
        if (count > 0) {
            s.axis = axes[k];
            s.first = cells->low[axes[k]];
            s.range = range_of(cells, axes[k]);
        }
        if (k == 0)
            failed = join(&s);
        else if (s.range > 1)
            failed = sort_again(&s);
    }
    return failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to sort %zu cells", cells->count)
                  : GBEES_OK;
}
