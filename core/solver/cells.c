/* cells.c - see cells.h and gbees.h. */
#include "cells.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 key128;

typedef struct entry {
    uint64_t high, low; /* the packed index, axis 0 in the most significant bits */
    double p;
} entry;

/* How indices are packed: index = offset + (key >> shift & mask). */
typedef struct layout {
    int64_t offset[GBEES_MAX_DIM];
    uint64_t mask[GBEES_MAX_DIM];
    int shift[GBEES_MAX_DIM];
    int bits; /* of all axes */
} layout;

struct gbees_cells {
    int dimension;
    layout layout;
    size_t count, capacity;
    entry *entries;
    int32_t first[GBEES_MAX_DIM], last[GBEES_MAX_DIM];
    gbees_error failure; /* of gbees_cells_add */
};

static void set_axis(layout *as, int axis, int bits, int64_t offset)
{
    as->offset[axis] = offset;
    as->mask[axis] = (UINT64_C(1) << bits) - 1;
    as->shift[axis] = bits ? as->bits : 0;
    as->bits += bits;
}

gbees_cells *gbees_cells_create(int dimension)
{
    int bits = 128 / dimension < 32 ? 128 / dimension : 32;
    gbees_cells *cells = calloc(1, sizeof *cells);

    if (!cells)
        return NULL;
    cells->dimension = dimension;
    for (int j = dimension - 1; j >= 0; j--)
        set_axis(&cells->layout, j, bits, -(INT64_C(1) << (bits - 1)));
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        cells->last[j] = -1;
    return cells;
}

void gbees_cells_destroy(gbees_cells *cells)
{
    if (!cells)
        return;
    free(cells->entries);
    free(cells);
}

static int32_t index_of(const gbees_cells *cells, size_t i, int axis)
{
    key128 key = (key128)cells->entries[i].high << 64 | cells->entries[i].low;
    uint64_t place = (uint64_t)(key >> cells->layout.shift[axis]) & cells->layout.mask[axis];

    return (int32_t)(cells->layout.offset[axis] + (int64_t)place);
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
    entry *entries =
        capacity > SIZE_MAX / sizeof *entries ? NULL : realloc(cells->entries, capacity * sizeof *entries);
    if (!entries)
        return gbees_error_set(&cells->failure, GBEES_ENOMEM, "not enough memory for a record of %zu cells", needed);
    cells->entries = entries;
    cells->capacity = capacity;
    return 0;
}

static int check_range(gbees_cells *cells, int axis, size_t count, const int32_t *index)
{
    int32_t first = cells->first[axis], last = cells->last[axis];
    int64_t lowest = cells->layout.offset[axis], highest = lowest + (int64_t)cells->layout.mask[axis];

    if (cells->count == 0)
        first = last = index[0];
    for (size_t i = 0; i < count; i++) {
        first = index[i] < first ? index[i] : first;
        last = index[i] > last ? index[i] : last;
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

int gbees_cells_add(void *context, size_t count, const int32_t *const *index, const double *p)
{
    gbees_cells *cells = context;
    const layout *as = &cells->layout;

    if (count == 0 || cells->failure.status)
        return (int)cells->failure.status;
    for (int j = 0; j < cells->dimension; j++)
        if (check_range(cells, j, count, index[j]))
            return (int)cells->failure.status;
    if (reserve(cells, count))
        return (int)cells->failure.status;
    entry *to = cells->entries + cells->count;
    for (size_t i = 0; i < count; i++) {
        key128 key = 0;

        for (int j = 0; j < cells->dimension; j++)
            key |= (key128)(uint64_t)(index[j][i] - as->offset[j]) << as->shift[j];
        to[i] = (entry){(uint64_t)(key >> 64), (uint64_t)key, p[i]};
    }
    cells->count += count;
    return 0;
}

int gbees_cells_collect(const gbees_backend *backend, gbees_engine *engine, double fraction, int dimension,
                        const char *what, gbees_cells **cells, gbees_error *error)
{
    gbees_cells *made = gbees_cells_create(dimension);
    gbees_error cause = {0};

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %s", what);
    int status = backend->cells(engine, fraction, gbees_cells_add, made, &cause);
    if (made->failure.status) { /* the visit ended for lack of memory */
        cause = made->failure;
        status = (int)cause.status;
    }
    if (!status) {
        *cells = made;
        return GBEES_OK;
    }
    gbees_cells_destroy(made);
    return gbees_error_set(error, (gbees_status)status, "%s", cause.text);
}

/* ---- sorting: most significant byte first, in place, for a second copy of a big record is too much ----------- */

enum { SMALL = 40 };

static int is_less(const entry *a, const entry *b)
{
    return a->high != b->high ? a->high < b->high : a->low < b->low;
}

static void sort_small(entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        entry moving = entries[i];
        size_t k = i;

        for (; k > 0 && is_less(&moving, &entries[k - 1]); k--)
            entries[k] = entries[k - 1];
        entries[k] = moving;
    }
}

static unsigned byte_of(const entry *e, int byte)
{
    return (unsigned)((byte < 8 ? e->low >> (8 * byte) : e->high >> (8 * (byte - 8))) & 255);
}

/* Sorts the entries in place by one byte: each entry moves to the next free place of its bucket. end[b]: where
 * bucket b ends afterwards. */
static void permute(entry *entries, int byte, const size_t *number, size_t *end)
{
    size_t next[256], start = 0;

    for (int b = 0; b < 256; b++) {
        next[b] = start;
        start += number[b];
        end[b] = start;
    }
    for (unsigned b = 0; b < 256; b++) {
        while (next[b] < end[b]) {
            entry moving = entries[next[b]];
            unsigned to = byte_of(&moving, byte);

            while (to != b) {
                entry displaced = entries[next[to]];

                entries[next[to]++] = moving;
                moving = displaced;
                to = byte_of(&moving, byte);
            }
            entries[next[b]++] = moving;
        }
    }
}

static void sort(entry *entries, size_t count, int byte)
{
    size_t number[256], end[256];

    for (;; byte--) { /* from the most significant byte in which the entries differ */
        if (byte < 0)
            return;
        if (count <= SMALL) {
            sort_small(entries, count);
            return;
        }
        memset(number, 0, sizeof number);
        for (size_t i = 0; i < count; i++)
            number[byte_of(&entries[i], byte)]++;
        if (number[byte_of(&entries[0], byte)] < count)
            break;
    }
    permute(entries, byte, number, end);
    for (int b = 0; b < 256; b++)
        if (number[b] > 1)
            sort(entries + end[b] - number[b], number[b], byte - 1);
}

/* Packs again, as tight as the range of the cells allows, so that the sort has fewer bytes. */
static void repack(gbees_cells *cells)
{
    layout tight = {0};

    for (int j = cells->dimension - 1; j >= 0; j--) {
        int bits = 0;

        while (((int64_t)cells->last[j] - cells->first[j]) >> bits)
            bits++;
        set_axis(&tight, j, bits, cells->first[j]);
    }
    for (size_t i = 0; i < cells->count; i++) {
        key128 key = 0;

        for (int j = 0; j < cells->dimension; j++)
            key |= (key128)(uint64_t)(index_of(cells, i, j) - tight.offset[j]) << tight.shift[j];
        cells->entries[i].high = (uint64_t)(key >> 64);
        cells->entries[i].low = (uint64_t)key;
    }
    cells->layout = tight;
}

static void give_back(gbees_cells *cells)
{
    entry *entries = realloc(cells->entries, cells->count * sizeof *entries);

    if (entries) {
        cells->entries = entries;
        cells->capacity = cells->count;
    }
}

static int put_in_order(gbees_cells *cells, gbees_error *error)
{
    if (cells->failure.status)
        return gbees_error_set(error, cells->failure.status, "%s", cells->failure.text);
    if (cells->count == 0)
        return 0;
    repack(cells);
    sort(cells->entries, cells->count, (cells->layout.bits + 7) / 8 - 1);
    return 0;
}

int gbees_cells_finish(gbees_cells *cells, gbees_error *error)
{
    const int status = put_in_order(cells, error);

    if (status || cells->count == 0)
        return status;
    for (size_t i = 1; i < cells->count; i++)
        if (!is_less(&cells->entries[i - 1], &cells->entries[i]))
            return gbees_error_set(error, GBEES_EBACKEND,
                                   "the backend handed out the cell with index %ld along axis 0 twice: this is an "
                                   "error in the backend",
                                   (long)index_of(cells, i, 0));
    give_back(cells);
    return 0;
}

int gbees_cells_finish_sums(gbees_cells *cells, gbees_error *error)
{
    const int status = put_in_order(cells, error);
    size_t last = 0;

    if (status || cells->count == 0)
        return status;
    for (size_t i = 1; i < cells->count; i++) {
        if (is_less(&cells->entries[last], &cells->entries[i]))
            cells->entries[++last] = cells->entries[i];
        else
            cells->entries[last].p += cells->entries[i].p;
    }
    cells->count = last + 1;
    give_back(cells);
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

size_t gbees_cells_count(const gbees_cells *cells)
{
    return cells->count;
}

void gbees_cells_copy(const gbees_cells *cells, size_t first, size_t count, int32_t *const *index, double *p)
{
    for (int j = 0; index && j < cells->dimension; j++)
        if (index[j])
            for (size_t i = 0; i < count; i++)
                index[j][i] = index_of(cells, first + i, j);
    if (p)
        for (size_t i = 0; i < count; i++)
            p[i] = cells->entries[first + i].p;
}

double gbees_initial_cells_sum(const gbees_initial_cells *cells)
{
    double sum = 0;

    for (size_t i = 0; i < cells->count; i++)
        sum += cells->p[i];
    return sum;
}

void gbees_initial_cells_clear(gbees_initial_cells *cells)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(cells->index[j]);
    free(cells->p);
    memset(cells->index, 0, sizeof cells->index);
    cells->p = NULL;
    cells->count = 0;
}

int gbees_initial_cells_reserve(gbees_initial_cells *cells, int n, size_t count)
{
    int whole = 1;

    for (int j = 0; j < n; j++)
        whole = (cells->index[j] = gbees_array_create(count, sizeof *cells->index[j])) && whole;
    cells->p = gbees_array_create(count, sizeof *cells->p);
    if (whole && cells->p)
        return 0;
    gbees_initial_cells_clear(cells);
    return 1;
}

int gbees_cells_list(const gbees_cells *cells, gbees_initial_cells *list, gbees_error *error)
{
    if (gbees_initial_cells_reserve(list, cells->dimension, cells->count))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a list of %zu cells", cells->count);
    list->count = cells->count;
    gbees_cells_copy(cells, 0, cells->count, list->index, list->p);
    return 0;
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
        sum[(int64_t)index_of(cells, i, a) - cells->first[a]] += cells->entries[i].p;
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
        size_t row = (size_t)((int64_t)index_of(cells, i, a) - cells->first[a]);
        size_t column = (size_t)((int64_t)index_of(cells, i, b) - cells->first[b]);

        sum[row * columns + column] += cells->entries[i].p;
    }
    *p = sum;
    return 0;
}
