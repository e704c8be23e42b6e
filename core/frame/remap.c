/* remap.c - applies the passes between two frames to a list of cells: sorts it so that the rows of a pass lie
 * together, maps each row (row.c), and drops cells that have too little. Threads take parts of the rows. */
#include "remap.h"
#include "base/workers.h"
#include "row.h"
#include "sparse_list.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_NS = 50 /* time of a cell, about, in all passes: decides how many threads are worth starting */ };

/* One pass over all rows. */
typedef struct rows {
    const gbees_sparse *cells;
    const gbees_remap_pass *pass;
    double least;           /* cells with less are dropped */
    struct rows_part *part; /* [GBEES_SPARSE_PARTS] */
} rows;

/* Aligned, so that no two threads write to one cache line. */
typedef struct rows_part {
    _Alignas(128) gbees_sparse_cell *cell;
    size_t count, capacity, first; /* first: its place among all */
    int32_t low, high;             /* indices along the rows lie between them */
    gbees_row row, moved;
    double dropped;
    gbees_status failed;
} rows_part;

/* ---- rows ---- */

/* Whether two cells lie in one row. */
static int same_row(const rows *s, const gbees_sparse_cell *a, const gbees_sparse_cell *b)
{
    for (int j = 0; j < s->cells->n; j++)
        if (j != s->pass->axis && a->at[j] != b->at[j])
            return 0;
    return 1;
}

/* The first cell of a row that begins in this part or later. */
static size_t first_row(const rows *s, size_t part)
{
    const gbees_sparse_cell *cell = s->cells->cell;
    size_t i = gbees_sparse_first(s->cells, part);

    while (i > 0 && i < s->cells->count && same_row(s, &cell[i], &cell[i - 1]))
        i++;
    return i;
}

static int is_kept(const rows *s, double p)
{
    return p > 0 && p >= s->least;
}

/* Appends the cells of a row with P of at least s->least; at: the index along the other axes. */
static int append_row(const rows *s, const gbees_row *row, const int32_t *at, rows_part *part)
{
    if (part->count + row->length > part->capacity) {
        const size_t capacity = 2 * (part->count + row->length);
        gbees_sparse_cell *larger = realloc(part->cell, capacity * sizeof *larger);

        if (!larger)
            return 1;
        part->cell = larger;
        part->capacity = capacity;
    }
    gbees_sparse_cell *const begin = part->cell + part->count, *cell = begin;
    double dropped = part->dropped;

    for (size_t k = 0; k < row->length; k++) {
        if (!is_kept(s, row->p[k])) {
            dropped += row->p[k];
            continue;
        }
        memcpy(cell->at, at, sizeof cell->at);
        cell->at[s->pass->axis] = (int32_t)(row->first + (int64_t)k);
        cell->p = row->p[k];
        cell++;
    }
    if (cell > begin) {
        const int32_t low = begin->at[s->pass->axis], high = cell[-1].at[s->pass->axis];

        part->low = low < part->low ? low : part->low;
        part->high = high > part->high ? high : part->high;
    }
    part->count += (size_t)(cell - begin);
    part->dropped = dropped;
    return 0;
}

/* Moves part->row along itself to part->moved; at: the index along the other axes. */
static gbees_status move_row(const rows *s, const int32_t *at, rows_part *part)
{
    const double scale = fabs(s->pass->scale), last = (double)part->row.first + (double)part->row.length;
    double shift = s->pass->shift;

    for (int j = 0; j < s->cells->n; j++)
        shift += s->pass->shear[j] * at[j]; /* 0 along the row */
    if (!(fabs(scale * (double)part->row.first + shift) < GBEES_REMAP_REACH &&
          fabs(scale * last + shift) < GBEES_REMAP_REACH))
        return GBEES_ENUMERIC;
    return gbees_row_map(&part->row, scale, shift, &part->moved) ? GBEES_ENOMEM : GBEES_OK;
}

/* Applies the pass to the cells from `first` to `end`, which are one row. A negative scale reverses the row. */
static gbees_status take_row(const rows *s, size_t first, size_t end, rows_part *part)
{
    const gbees_sparse_cell *cell = s->cells->cell;
    const int sign = s->pass->moves && s->pass->scale < 0 ? -1 : 1;
    const int32_t low = cell[first].at[s->pass->axis], high = cell[end - 1].at[s->pass->axis];
    gbees_row *row = &part->row;
    gbees_status status = GBEES_OK;

    if (gbees_row_open(row, sign > 0 ? low : -high, sign > 0 ? high : -low))
        return GBEES_ENOMEM;
    for (size_t i = first; i < end; i++)
        row->p[sign * (int64_t)cell[i].at[s->pass->axis] - row->first] = cell[i].p;
    if (s->pass->before != 0)
        gbees_row_exchange(row, s->pass->before);
    if (s->pass->moves) {
        status = move_row(s, cell[first].at, part);
        row = &part->moved;
    }
    if (!status && s->pass->spread > 0) {
        gbees_row *const wider = row == &part->row ? &part->moved : &part->row;

        status = gbees_row_spread(row, s->pass->spread, wider) ? GBEES_ENOMEM : GBEES_OK;
        row = wider;
    }
    if (!status && s->pass->after != 0)
        gbees_row_exchange(row, s->pass->after);
    if (!status && append_row(s, row, cell[first].at, part))
        status = GBEES_ENOMEM;
    return status;
}

static void take_rows(void *context, size_t number)
{
    const rows *s = context;
    rows_part *part = &s->part[number];
    const size_t stop = first_row(s, number + 1);

    for (size_t first = first_row(s, number), end = first; first < stop && !part->failed; first = end) {
        do
            end++;
        while (end < stop && same_row(s, &s->cells->cell[first], &s->cells->cell[end]));
        part->failed = take_row(s, first, end, part);
    }
}

static void copy_part(void *context, size_t number)
{
    const rows *s = context;

    if (s->part[number].count > 0)
        memcpy(s->cells->spare + s->part[number].first, s->part[number].cell,
               s->part[number].count * sizeof *s->part[number].cell);
}

/* Replaces the cells by those of the parts, one after the other. */
static gbees_status join_parts(rows *s, gbees_sparse *cells, double *dropped)
{
    const size_t parts = gbees_sparse_parts(cells);
    gbees_status failed = GBEES_OK;
    int32_t low = INT32_MAX, high = INT32_MIN;
    size_t count = 0;

    for (size_t k = 0; k < parts; k++) {
        s->part[k].first = count;
        count += s->part[k].count;
        failed = failed ? failed : s->part[k].failed;
        low = s->part[k].low < low ? s->part[k].low : low;
        high = s->part[k].high > high ? s->part[k].high : high;
    }
    if (failed || gbees_sparse_reserve(cells, count))
        return failed ? failed : GBEES_ENOMEM;
    gbees_sparse_for_parts(cells, copy_part, s);
    for (size_t k = 0; k < parts; k++)
        *dropped += s->part[k].dropped;
    gbees_sparse_swap(cells, count);
    cells->low[s->pass->axis] = low;
    cells->high[s->pass->axis] = high;
    return GBEES_OK;
}

/* Applies a pass to all rows. */
static int pass_rows(rows *s, gbees_sparse *cells, double *dropped, gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; k < s->pass->sort_count && !status; k++)
        status = gbees_sparse_sort(cells, s->pass->sorts[k], error);
    if (status)
        return status;
    s->cells = cells;
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        s->part[k].count = 0;
        s->part[k].dropped = 0;
        s->part[k].low = INT32_MAX;
        s->part[k].high = INT32_MIN;
    }
    gbees_sparse_for_parts(cells, take_rows, s);
    const gbees_status failed = join_parts(s, cells, dropped);
    if (failed == GBEES_ENUMERIC)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "a density can't be taken to another frame: a cell would be more than %d cells from "
                               "its centre; the frames are too different",
                               (int)GBEES_REMAP_REACH);
    return failed ? gbees_error_set(error, failed, "not enough memory for the cells of another frame") : GBEES_OK;
}

/* ---- all passes ---- */

/* Applies a plan to the cells; allocates and frees the memory of their parts. */
static int pass_all(const gbees_remap_plan *plan, gbees_sparse *cells, double *dropped, gbees_error *error)
{
    const size_t bytes = GBEES_SPARSE_PARTS * sizeof(rows_part);
    rows s = {.least = plan->least_between, .part = aligned_alloc(_Alignof(rows_part), bytes)};
    int status = GBEES_OK;

    if (!s.part)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of another frame");
    memset(s.part, 0, bytes);
    for (int k = 0; k < plan->count && !status; k++) {
        s.pass = &plan->pass[k];
        status = pass_rows(&s, cells, dropped, error);
    }
    for (int k = 0; k < plan->sort_count && !status; k++)
        status = gbees_sparse_sort(cells, plan->sorts[k], error);
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        gbees_row_close(&s.part[k].row);
        gbees_row_close(&s.part[k].moved);
        free(s.part[k].cell);
    }
    free(s.part);
    return status;
}

static int no_memory(size_t count, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %zu cells of another frame", count);
}

int gbees_remap(gbees_initial_cells *cells, const gbees_moving_frame *from, const gbees_moving_frame *to,
                const gbees_remap_options *options, double *dropped, gbees_error *error)
{
    gbees_sparse sparse = {.n = from->n};
    gbees_remap_plan plan;
    int status = gbees_remap_plan_find(from, to, options, &plan, error);
    double lost = 0;

    if (status)
        return status;
    sparse.pool = gbees_pool_open(gbees_workers_worth(options->threads, CELL_NS * (double)cells->count));
    if (gbees_sparse_from_list(cells, plan.from, &sparse))
        status = no_memory(cells->count, error);
    if (!status)
        status = pass_all(&plan, &sparse, &lost, error);
    if (!status && gbees_sparse_to_list(&sparse, plan.to, plan.least, cells, &lost))
        status = no_memory(sparse.count, error);
    gbees_pool_close(sparse.pool);
    gbees_sparse_close(&sparse);
    if (!status)
        *dropped += lost;
    return status;
}
