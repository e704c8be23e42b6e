/* plane.c - turns planes by counting how many cells each row gets: the cells of a plane are few enough to stay in the
 * processor's caches meanwhile. */
#include "plane.h"
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 6 /* spans: their P lie anywhere, and are asked for so much ahead */ };

/* Makes memory for so many rows, all of no cells, and for so many cells. Returns 1 if there is none. */
static int make(gbees_plane *plane, size_t rows, size_t count)
{
    if (rows >= plane->row_capacity) {
        free(plane->end);
        plane->row_capacity = 2 * rows + 1;
        plane->end = malloc(plane->row_capacity * sizeof *plane->end);
    }
    if (count > plane->capacity) {
        free(plane->cell);
        plane->capacity = 2 * count;
        plane->cell = malloc(plane->capacity * sizeof *plane->cell);
    }
    if (!plane->end || (count > 0 && !plane->cell)) {
        gbees_plane_close(plane);
        return 1;
    }
    plane->rows = rows;
    memset(plane->end, 0, (rows + 1) * sizeof *plane->end);
    return 0;
}

void gbees_plane_close(gbees_plane *plane)
{
    free(plane->end);
    free(plane->cell);
    *plane = (gbees_plane){0};
}

/* The part of a span that belongs to the plane. */
typedef struct piece {
    int32_t first;
    size_t length;
    const double *p;
} piece;

static inline piece piece_of(const gbees_plane_axes *axes, const gbees_sparse_span *span)
{
    const int32_t first = span->at[axes->along], last = first + (int32_t)(span->length - 1);
    const int32_t low = first > axes->low ? first : axes->low, high = last < axes->high ? last : axes->high;

    if (low > high)
        return (piece){.length = 0};
    return (piece){low, (size_t)(high - low) + 1, span->p + (low - first)};
}

/* Makes memory for the cells of the spans, and sets plane->first. Returns 1 if there is none. */
static int measure(gbees_plane *plane, const gbees_plane_axes *axes, const gbees_sparse_span *span, size_t count)
{
    int32_t low = INT32_MAX, high = INT32_MIN;
    size_t cells = 0;

    for (size_t k = 0; k < count; k++) {
        const piece x = piece_of(axes, &span[k]);
        const int32_t last = x.first + (int32_t)x.length - 1;

        if (x.length == 0)
            continue;
        low = x.first < low ? x.first : low;
        high = last > high ? last : high;
        cells += x.length;
    }
    plane->first = low;
    return make(plane, cells > 0 ? (size_t)((int64_t)high - low) + 1 : 0, cells);
}

/* Sets plane->end to where each row begins. A span adds a cell to each of the rows that it crosses, so it is enough
 * to note where it begins and ends, in numbers that wrap around, and to sum up. */
static void set_begins(gbees_plane *plane, const gbees_plane_axes *axes, const gbees_sparse_span *span, size_t count)
{
    size_t crossing = 0, begin = 0;

    for (size_t k = 0; k < count; k++) {
        const piece x = piece_of(axes, &span[k]);

        if (x.length == 0)
            continue;
        plane->end[x.first - plane->first]++;
        plane->end[(size_t)(x.first - plane->first) + x.length]--;
    }
    for (size_t k = 0; k < plane->rows; k++) {
        crossing += plane->end[k];
        plane->end[k] = begin;
        begin += crossing;
    }
}

int gbees_plane_turn(gbees_plane *plane, const gbees_plane_axes *axes, const gbees_sparse_span *span, size_t count)
{
    if (measure(plane, axes, span, count))
        return 1;
    set_begins(plane, axes, span, count);
    for (size_t k = 0; k < count; k++) {
        const piece x = piece_of(axes, &span[k]);
        const int32_t at = span[k].at[axes->across];
        size_t *end = plane->end + (x.first - plane->first);

        if (k + AHEAD < count)
            __builtin_prefetch(span[k + AHEAD].p);
        for (size_t i = 0; i < x.length; i++)
            plane->cell[end[i]++] = (gbees_plane_cell){.p = x.p[i], .at = at};
    }
    return 0;
}

int gbees_plane_join(gbees_plane *plane, int axis, const gbees_sparse_span *span, size_t count)
{
    size_t cells = 0;

    for (size_t k = 0; k < count; k++)
        cells += span[k].length;
    if (make(plane, 1, cells))
        return 1;
    for (size_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < span[k].length; i++)
            plane->cell[plane->end[0]++] = (gbees_plane_cell){.p = span[k].p[i], .at = span[k].at[axis] + (int32_t)i};
    return 0;
}
