/* slabs.c - chooses the slabs of a record's cells, and fetches them: see slabs.h. */
#include "slabs.h"
#include "base/no_memory.h"
#include "cells_private.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 };

struct gbees_slabs {
    gbees_slab_source source;
    size_t count;      /* of slabs */
    int32_t *from;     /* [count + 1]: slab k has indices from[k] ... from[k + 1] - 1 along axis 0 */
    size_t *first;     /* [count + 1]: the cells before slab k */
    size_t held;       /* the slab in memory */
    gbees_cells *slab; /* its cells; NULL: no slab is in memory */
};

/* ---- counting ---- */

/* Cells by index along axis 0, from `lowest` on. */
typedef struct counting {
    gbees_cells *cells; /* whose ranges and number are set */
    int32_t lowest;
    size_t length, *count;
    int failed; /* 1: no memory */
} counting;

/* Has the counts extend from index lo to hi, with as much in reserve on each side. Returns 1 if there is no memory.
 */
static int widen(counting *c, int32_t lo, int32_t hi)
{
    const int64_t last = (int64_t)c->lowest + (int64_t)c->length - 1;

    if (c->length > 0 && lo >= c->lowest && hi <= last)
        return 0;
    const int64_t low = c->length > 0 && c->lowest < lo ? c->lowest : lo,
                  high = c->length > 0 && last > hi ? last : hi;
    const int64_t reserve = (high - low) / 2 + 16, from = low - reserve < INT32_MIN ? INT32_MIN : low - reserve;
    const size_t length = (size_t)(high + reserve - from + 1);
    size_t *count = calloc(length, sizeof *count);

    if (!count)
        return 1;
    if (c->length > 0)
        memcpy(count + (c->lowest - from), c->count, c->length * sizeof *count);
    free(c->count);
    c->count = count;
    c->lowest = (int32_t)from;
    c->length = length;
    return 0;
}

/* A gbees_cell_visitor: extends the ranges and counts the cells. */
static int count_cells(void *context, size_t count, const int32_t *const *index, const double *p)
{
    counting *c = context;
    gbees_cells *cells = c->cells;

    (void)p;
    for (int j = 0; j < cells->dimension && count > 0; j++) {
        int32_t lo, hi;

        gbees_cells_find_range(index[j], 0, count, &lo, &hi);
        cells->first[j] = cells->count > 0 && cells->first[j] < lo ? cells->first[j] : lo;
        cells->last[j] = cells->count > 0 && cells->last[j] > hi ? cells->last[j] : hi;
        c->failed |= j == 0 && widen(c, lo, hi);
    }
    for (size_t i = 0; i < count && !c->failed; i++)
        c->count[index[0][i] - c->lowest]++;
    cells->count += count;
    return c->failed;
}

/* Divides the counted indices into slabs. Returns 1 if there is no memory. */
static int divide(gbees_slabs *slabs, const counting *c)
{
    const size_t length = c->cells->count > 0 ? (size_t)((int64_t)c->cells->last[0] - c->cells->first[0] + 1) : 0;
    size_t all = 0, own = 0;

    slabs->from = malloc((length + 1) * sizeof *slabs->from);
    slabs->first = malloc((length + 1) * sizeof *slabs->first);
    if (!slabs->from || !slabs->first)
        return 1;
    for (size_t i = 0; i < length; i++) {
        const int32_t index = (int32_t)(c->cells->first[0] + (int64_t)i);
        const size_t count = c->count[index - c->lowest];

        if (i == 0 || own + count > slabs->source.most) {
            slabs->from[slabs->count] = index;
            slabs->first[slabs->count++] = all;
            own = 0;
        }
        own += count;
        all += count;
    }
    slabs->from[slabs->count] = length > 0 ? c->cells->last[0] + 1 : 0;
    slabs->first[slabs->count] = all;
    return 0;
}

int gbees_slabs_create(const gbees_slab_source *from, gbees_cells **cells, gbees_error *error)
{
    counting c = {.cells = gbees_cells_create(from->dimension)};
    gbees_slabs *slabs = calloc(1, sizeof *slabs);
    int status;

    if (!c.cells || !slabs) {
        gbees_cells_free(c.cells);
        free(slabs);
        return gbees_no_memory(error, "for the slabs of a record's cells");
    }
    slabs->source = *from;
    c.cells->slabs = slabs;
    status = from->backend->cells(from->engine, from->fraction, count_cells, &c, error);
    if (c.failed || (!status && divide(slabs, &c)))
        status = gbees_no_memory(error, "for the slabs of a record's cells");
    free(c.count);
    if (!status) {
        *cells = c.cells;
        return GBEES_OK;
    }
    gbees_slabs_destroy(slabs);
    gbees_cells_free(c.cells);
    return status;
}

void gbees_slabs_destroy(gbees_slabs *slabs)
{
    if (!slabs)
        return;
    gbees_cells_free(slabs->slab);
    free(slabs->from);
    free(slabs->first);
    free(slabs);
}

/* ---- fetching ---- */

/* A visit whose cells are added if they are in a slab. */
typedef struct fetching {
    gbees_cells *to;
    int32_t from, end; /* the slab's indices along axis 0 */
} fetching;

/* Adds the cells of the slab. It is a gbees_cell_visitor. */
static int add_own(void *context, size_t count, const int32_t *const *index, const double *p)
{
    const fetching *f = context;
    int32_t own[GBEES_MAX_DIM][BATCH];
    const int32_t *rows[GBEES_MAX_DIM];
    double value[BATCH];
    size_t found = 0;

    for (int j = 0; j < f->to->dimension; j++)
        rows[j] = own[j];
    for (size_t i = 0; i < count; i++) {
        if (index[0][i] >= f->from && index[0][i] < f->end) {
            for (int j = 0; j < f->to->dimension; j++)
                own[j][found] = index[j][i];
            value[found++] = p[i];
        }
        if (found == BATCH || (found > 0 && i + 1 == count)) {
            if (gbees_cells_add(f->to, found, rows, value))
                return 1;
            found = 0;
        }
    }
    return 0;
}

/* Fetches slab k and sorts it. */
static int fetch(gbees_slabs *slabs, size_t k, gbees_error *error)
{
    const gbees_slab_source *source = &slabs->source;
    const size_t expected = slabs->first[k + 1] - slabs->first[k];
    fetching f = {gbees_cells_create(source->dimension), slabs->from[k], slabs->from[k + 1]};

    if (!f.to)
        return gbees_no_memory(error, "for the slabs of a record's cells");
    slabs->slab = f.to;
    slabs->held = k;
    gbees_cells_expect(f.to, expected);
    int status = source->backend->cells(source->engine, source->fraction, add_own, &f, error);
    if (!status || f.to->failure.status)
        status = gbees_cells_finish(f.to, source->threads, error);
    if (!status && f.to->count != expected)
        status = gbees_error_set(error, GBEES_EBACKEND,
                                 "the backend handed out %zu cells of a slab, of which it had counted %zu: this is "
                                 "an error in the backend",
                                 f.to->count, expected);
    return status;
}

int gbees_slabs_hold(gbees_slabs *slabs, size_t cell, size_t *end, gbees_error *error)
{
    size_t lo = 0, hi = slabs->count;
    int status = GBEES_OK;

    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;

        if (slabs->first[middle] <= cell)
            lo = middle;
        else
            hi = middle;
    }
    if (!slabs->slab || slabs->held != lo) {
        gbees_cells_free(slabs->slab);
        slabs->slab = NULL;
        status = fetch(slabs, lo, error);
    }
    if (status) {
        gbees_cells_free(slabs->slab);
        slabs->slab = NULL;
    }
    *end = slabs->first[lo + 1];
    return status;
}

const gbees_cells *gbees_slabs_held(const gbees_slabs *slabs, size_t *first)
{
    *first = slabs->slab ? slabs->first[slabs->held] : 0;
    return slabs->slab;
}
