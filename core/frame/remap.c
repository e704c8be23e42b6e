/* remap.c - applies the passes between two frames to a list of cells: sorts it so that the rows of a pass lie
 * together, maps each row (row.c), and drops cells that have too little. Threads take parts of the rows. */
#include "remap.h"
#include "base/workers.h"
#include "passes.h"
#include "row.h"
#include "sparse_list.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After each pass cells below this part of `least` are dropped: cells that passes add at the density's edge would
 * otherwise be most of all cells. In six dimensions a thousandth in its place keeps less than a tenth of the dropped
 * mass, and takes twice as long. */
static const double least_part = 0.1;

enum { CELL_NS = 50 /* time of a cell, about, in all passes: decides how many threads are worth starting */ };

static const double to_averages = 1.0 / 24, to_centres = -1.0 / 24;

/* One pass over all rows. */
typedef struct rows {
    const gbees_sparse *cells;
    const gbees_pass *map; /* NULL: the rows stay where they are */
    int axis, rising;      /* rising: the axis of the next pass is a larger one */
    double before, after;  /* fractions of an exchange along the row, 0: none */
    double spread;         /* variance that diffusion along the row adds, in cells squared */
    double least;
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
        if (j != s->axis && a->at[j] != b->at[j])
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
        cell->at[s->axis] = (int32_t)(row->first + (int64_t)k);
        cell->p = row->p[k];
        cell++;
    }
    if (cell > begin) {
        const int32_t low = begin->at[s->axis], high = cell[-1].at[s->axis];

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
    const double scale = fabs(s->map->scale), last = (double)part->row.first + (double)part->row.length;
    double shift = s->map->shift;

    for (int j = 0; j < s->cells->n; j++)
        shift += s->map->shear[j] * at[j]; /* 0 along the row */
    if (!(fabs(scale * (double)part->row.first + shift) < GBEES_SPARSE_REACH &&
          fabs(scale * last + shift) < GBEES_SPARSE_REACH))
        return GBEES_ENUMERIC;
    return gbees_row_map(&part->row, scale, shift, &part->moved) ? GBEES_ENOMEM : GBEES_OK;
}

/* Applies the pass to the cells from `first` to `end`, which are one row. A negative scale reverses the row. */
static gbees_status take_row(const rows *s, size_t first, size_t end, rows_part *part)
{
    const gbees_sparse_cell *cell = s->cells->cell;
    const int sign = s->map && s->map->scale < 0 ? -1 : 1;
    const int32_t low = cell[first].at[s->axis], high = cell[end - 1].at[s->axis];
    gbees_row *row = &part->row;
    gbees_status status = GBEES_OK;

    if (gbees_row_open(row, sign > 0 ? low : -high, sign > 0 ? high : -low))
        return GBEES_ENOMEM;
    for (size_t i = first; i < end; i++)
        row->p[sign * (int64_t)cell[i].at[s->axis] - row->first] = cell[i].p;
    if (s->before != 0)
        gbees_row_exchange(row, s->before);
    if (s->map) {
        status = move_row(s, cell[first].at, part);
        row = &part->moved;
    }
    if (!status && s->spread > 0) {
        gbees_row *const wider = row == &part->row ? &part->moved : &part->row;

        status = gbees_row_spread(row, s->spread, wider) ? GBEES_ENOMEM : GBEES_OK;
        row = wider;
    }
    if (!status && s->after != 0)
        gbees_row_exchange(row, s->after);
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
    cells->low[s->axis] = low;
    cells->high[s->axis] = high;
    return GBEES_OK;
}

/* Applies a pass to all rows. */
static int pass_rows(rows *s, gbees_sparse *cells, double *dropped, gbees_error *error)
{
    int status = gbees_sparse_turn(cells, s->axis, s->rising, error);

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
                               (int)GBEES_SPARSE_REACH);
    return failed ? gbees_error_set(error, failed, "not enough memory for the cells of another frame") : GBEES_OK;
}

/* ---- passes ---- */

/* Whether, from pass number k on, a pass shifts rows by their coordinate along `axis` before one moves rows along
 * this axis. If so, P must be values at centres along the axis; else, and after the last pass, averages. */
static int is_read_next(const gbees_passes *passes, int k, int axis)
{
    for (; k < passes->count && passes->pass[k].axis != axis; k++)
        if (passes->pass[k].shear[axis] != 0)
            return 1;
    return 0;
}

/* Applies all passes, one after the other. every: the fields that all passes have in common; spread: as
 * gbees_remap_options has it. */
static int pass_all(const gbees_passes *passes, const rows *every, const double *spread, gbees_sparse *cells,
                    double *dropped, gbees_error *error)
{
    int centres[GBEES_MAX_DIM] = {0}, status = GBEES_OK; /* by axis: whether cells hold values at centres */

    for (int j = 0; j < passes->n && !status; j++) {
        rows s = {.axis = j, .rising = 1, .after = to_centres, .least = every->least, .part = every->part};

        centres[j] = is_read_next(passes, 0, j);
        status = centres[j] ? pass_rows(&s, cells, dropped, error) : GBEES_OK;
    }
    for (int k = 0; k < passes->count && !status; k++) {
        const int axis = passes->pass[k].axis;
        const int rising = k + 1 < passes->count && passes->pass[k + 1].axis > axis;
        rows s = {
            .map = &passes->pass[k], .axis = axis, .rising = rising, .least = every->least, .part = every->part};

        s.before = centres[axis] ? to_averages : 0;
        centres[axis] = is_read_next(passes, k + 1, axis);
        s.after = centres[axis] ? to_centres : 0;
        status = pass_rows(&s, cells, dropped, error);
    }
    for (int j = 0; j < passes->n && !status; j++) {
        rows s = {.axis = j, .rising = 1, .least = every->least, .part = every->part};

        s.before = centres[j] ? to_averages : 0;
        s.spread = spread ? spread[passes->to[j]] : 0;
        status = centres[j] || s.spread > 0 ? pass_rows(&s, cells, dropped, error) : GBEES_OK;
    }
    return status;
}

/* Applies all passes to the cells; allocates and frees the memory of their parts. */
static int pass_in_parts(const gbees_passes *passes, const gbees_remap_options *options, gbees_sparse *cells,
                         double *dropped, gbees_error *error)
{
    const size_t bytes = GBEES_SPARSE_PARTS * sizeof(rows_part);
    const rows every = {.least = least_part * options->least, .part = aligned_alloc(_Alignof(rows_part), bytes)};

    if (!every.part)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of another frame");
    memset(every.part, 0, bytes);
    const int status = pass_all(passes, &every, options->spread, cells, dropped, error);
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        gbees_row_close(&every.part[k].row);
        gbees_row_close(&every.part[k].moved);
        free(every.part[k].cell);
    }
    free(every.part);
    return status;
}

/* ---- lists ---- */

static int no_memory(size_t count, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for %zu cells of another frame", count);
}

/* Sets order[j] to the coordinate that is axis j of a list; axis[k]: that of coordinate k. */
static void set_order(int n, const int *axis, int *order)
{
    for (int k = 0; k < n; k++)
        order[axis[k]] = k;
}

int gbees_remap(gbees_initial_cells *cells, const gbees_moving_frame *from, const gbees_moving_frame *to,
                const gbees_remap_options *options, double *dropped, gbees_error *error)
{
    gbees_sparse sparse = {.n = from->n};
    gbees_passes passes;
    int order[GBEES_MAX_DIM] = {0}, status = gbees_passes_find(from, to, &passes, error);
    double lost = 0;

    if (status)
        return status;
    sparse.pool = gbees_pool_open(gbees_workers_worth(options->threads, CELL_NS * (double)cells->count));
    set_order(passes.n, passes.from, sparse.order);
    set_order(passes.n, passes.to, order);
    if (gbees_sparse_from_list(cells, passes.from, &sparse))
        status = no_memory(cells->count, error);
    if (!status)
        status = pass_in_parts(&passes, options, &sparse, &lost, error);
    if (!status)
        status = gbees_sparse_order(&sparse, order, error);
    if (!status && gbees_sparse_to_list(&sparse, passes.to, options->least, cells, &lost))
        status = no_memory(sparse.count, error);
    gbees_pool_close(sparse.pool);
    gbees_sparse_close(&sparse);
    if (!status)
        *dropped += lost;
    return status;
}
