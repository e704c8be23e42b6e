/* remap.c - applies the passes between two frames to a list of cells: turns plane by plane, so that spans of cells
 * become the rows of a pass (plane.c), maps each row (row.c), and drops cells that have too little. What is left of a
 * row are spans again. Threads take parts of the planes.
 *
 * The sorts of a plan are for lists of cells. Of spans along an axis, sorted by the others, those of a plane lie
 * together where the pass's axis is the last of the others; sorts of spans see to that, of which most passes need
 * one. As planes are taken in their order, the spans that they become are sorted, too.
 */
#include "remap.h"
#include "base/workers.h"
#include "plane.h"
#include "row.h"
#include "sparse_list.h"
#include <float.h>
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_NS = 50 /* time of a cell, about, in all passes: decides how many threads are worth starting */ };

/* One pass over all rows. */
typedef struct rows {
    gbees_sparse *cells;
    const gbees_remap_pass *pass;
    double least;             /* cells with less are dropped, > 0 */
    struct rows_part *part;   /* [GBEES_SPARSE_PARTS] */
    int order[GBEES_MAX_DIM]; /* axes, the slowest first: spans are sorted so, and lie along the last one */
} rows;

/* Aligned, so that no two threads write to one cache line. */
typedef struct rows_part {
    _Alignas(128) gbees_plane plane;
    gbees_row row, other;
    int32_t low, high; /* indices along the rows lie between them */
    double dropped;
    gbees_status failed;
} rows_part;

/* ---- spans that rows become ---- */

/* Appends a span of `length` cells from index `first` of a row on; at: the index along the other axes. */
static void append_span(const rows *s, const int32_t *at, int64_t first, size_t length, gbees_sparse_part *part)
{
    gbees_sparse_span *span = &part->span[part->span_count++];

    memcpy(span->at, at, sizeof span->at);
    span->at[s->pass->axis] = (int32_t)first;
    span->length = (uint32_t)length;
    part->count += length;
}

/* What append_row() finds in a row. */
typedef struct kept_cells {
    size_t first, last, count; /* of those that are kept */
    double dropped;
} kept_cells;

/* Writes the P that are kept to `to`, and one more. There are no branches but the loop's, as most rows are short, and
 * where their kept cells begin and end can't be predicted: an `if`, or ? with doubles, would be one. */
static kept_cells keep(const gbees_row *row, double least, double *to)
{
    kept_cells kept = {0};

    for (size_t k = 0; k < row->length; k++) {
        double p = row->p[k];
        const uint64_t is_kept = p >= least;
        uint64_t bits;

        to[kept.count] = p;
        kept.count += is_kept;
        kept.first += kept.count == 0;
        kept.last = is_kept ? k : kept.last;
        memcpy(&bits, &p, sizeof bits);
        bits &= is_kept - 1;
        memcpy(&p, &bits, sizeof p); /* 0 if it is kept */
        kept.dropped += p;
    }
    return kept;
}

/* Appends the spans of kept cells of a row with gaps; as append_span(). */
static void append_spans(const rows *s, const int32_t *at, const gbees_row *row, gbees_sparse_part *part)
{
    for (size_t k = 0, first = 0; k < row->length; first = ++k) {
        while (k < row->length && row->p[k] >= s->least)
            k++;
        if (k > first)
            append_span(s, at, row->first + (int64_t)first, k - first, part);
    }
}

/* Appends the cells of a row with P of at least s->least; adds the P of the others to *dropped. */
static int append_row(const rows *s, const int32_t *at, const gbees_row *row, gbees_sparse_part *part,
                      double *dropped)
{
    if (gbees_sparse_reserve(part, (row->length + 1) / 2, row->length + 1))
        return 1;
    const kept_cells kept = keep(row, s->least, part->own + part->count);
    *dropped += kept.dropped;
    if (kept.count > 0 && kept.last - kept.first + 1 == kept.count)
        append_span(s, at, row->first + (int64_t)kept.first, kept.count, part);
    else if (kept.count > 0)
        append_spans(s, at, row, part);
    return 0;
}

/* Appends the cells of a row as they are. */
static int append_cells(const rows *s, const int32_t *at, const gbees_plane_cell *cell, size_t count,
                        gbees_sparse_part *part)
{
    if (gbees_sparse_reserve(part, count, count))
        return 1;
    for (size_t k = 0, first = 0; k < count; first = k) {
        double *p = part->own + part->count;

        do {
            p[k - first] = cell[k].p;
            k++;
        } while (k < count && cell[k].at == cell[k - 1].at + 1);
        append_span(s, at, cell[first].at, k - first, part);
    }
    return 0;
}

/* ---- rows ---- */

/* Sets `to` to a row after the pass's map; at: the index along the other axes. */
static gbees_status move_row(const rows *s, const int32_t *at, const gbees_row *row, gbees_row *to)
{
    const double scale = fabs(s->pass->scale), last = (double)row->first + (double)row->length;
    double shift = s->pass->shift;

    for (int j = 0; j < s->cells->n; j++)
        shift += s->pass->shear[j] * at[j]; /* 0 along the row */
    if (!(fabs(scale * (double)row->first + shift) < GBEES_REMAP_REACH &&
          fabs(scale * last + shift) < GBEES_REMAP_REACH))
        return GBEES_ENUMERIC;
    return gbees_row_map(row, scale, shift, to) ? GBEES_ENOMEM : GBEES_OK;
}

/* Whether the pass does anything but turn planes. */
static int changes(const gbees_remap_pass *pass)
{
    return pass->moves || pass->before != 0 || pass->after != 0 || pass->spread > 0 || pass->convolved > 0;
}

/* Sets part->row to the cells of a row, in reverse if the pass has a negative scale. Returns 1 if there is no memory.
 */
static int fill_row(const rows *s, const gbees_plane_cell *cell, size_t count, rows_part *part)
{
    const int32_t low = cell[0].at, high = cell[count - 1].at;
    const int sign = s->pass->moves && s->pass->scale < 0 ? -1 : 1;
    gbees_row *row = &part->row;

    if (gbees_row_open(row, sign > 0 ? low : -high, sign > 0 ? high : -low))
        return 1;
    for (size_t i = 0; i < count; i++)
        row->p[sign * (int64_t)cell[i].at - row->first] = cell[i].p;
    return 0;
}

static void swap(gbees_row **a, gbees_row **b)
{
    gbees_row *const row = *a;

    *a = *b;
    *b = row;
}

/* Applies the pass to part->row; *result: the row that has what became of it. at: as for move_row(). */
static gbees_status change_row(const rows *s, const int32_t *at, rows_part *part, gbees_row **result)
{
    gbees_row *row = &part->row, *next = &part->other;
    gbees_status status = GBEES_OK;

    if (s->pass->before != 0) {
        status = gbees_row_exchange(row, s->pass->before, next) ? GBEES_ENOMEM : GBEES_OK;
        swap(&row, &next);
    }
    if (!status && s->pass->moves) {
        status = move_row(s, at, row, next);
        swap(&row, &next);
    }
    if (!status && s->pass->convolved > 0) {
        status = gbees_row_convolve(row, s->pass->convolved, next) ? GBEES_ENOMEM : GBEES_OK;
        swap(&row, &next);
    }
    if (!status && s->pass->spread > 0) {
        status = gbees_row_spread(row, s->pass->spread, next) ? GBEES_ENOMEM : GBEES_OK;
        swap(&row, &next);
    }
    if (!status && s->pass->after != 0) {
        status = gbees_row_exchange(row, s->pass->after, next) ? GBEES_ENOMEM : GBEES_OK;
        swap(&row, &next);
    }
    *result = row;
    return status;
}

/* Notes the range of indices along the rows, of the part's spans from number `first` on, which are of one row. */
static void note_range(const rows *s, const gbees_sparse_part *spans, size_t first, rows_part *part)
{
    if (spans->span_count == first)
        return;
    const gbees_sparse_span *last = &spans->span[spans->span_count - 1];
    const int32_t low = spans->span[first].at[s->pass->axis],
                  high = last->at[s->pass->axis] + (int32_t)(last->length - 1);

    part->low = low < part->low ? low : part->low;
    part->high = high > part->high ? high : part->high;
}

/* Takes one row of the plane of a part; at: the index along the other axes. */
static gbees_status take_row(const rows *s, size_t number, const int32_t *at, const gbees_plane_cell *cell,
                             size_t count)
{
    rows_part *part = &s->part[number];
    gbees_sparse_part *spans = &s->cells->part[number];
    const size_t first = spans->span_count;
    gbees_row *row = NULL;
    gbees_status status = GBEES_OK;
    int failed = 0;

    if (!changes(s->pass)) {
        failed = append_cells(s, at, cell, count, spans);
    } else {
        failed = fill_row(s, cell, count, part);
        if (!failed)
            status = change_row(s, at, part, &row);
        if (!failed && !status)
            failed = append_row(s, at, row, spans, &part->dropped);
    }
    note_range(s, spans, first, part);
    return failed ? GBEES_ENOMEM : status;
}

/* ---- planes ---- */

/* Whether two spans lie in one plane: in a row, if the pass is along them. */
static int same_plane(const rows *s, const gbees_sparse_span *a, const gbees_sparse_span *b)
{
    for (int j = 0; j < s->cells->n; j++)
        if (j != s->pass->axis && j != s->cells->axis && a->at[j] != b->at[j])
            return 0;
    return 1;
}

/* The first span of a plane that begins in this part or later. */
static size_t first_plane(const rows *s, size_t part)
{
    const gbees_sparse_span *span = s->cells->span;
    size_t i = gbees_sparse_first(s->cells, part);

    while (i > 0 && i < s->cells->span_count && same_plane(s, &span[i], &span[i - 1]))
        i++;
    return i;
}

/* Whether the parts share all planes, and each takes some rows of them: two axes have one plane only. */
static int is_one_plane(const rows *s)
{
    return s->cells->n == 2 && s->pass->axis != s->cells->axis;
}

/* The axes of a part's planes, and which of their rows it takes. */
static gbees_plane_axes axes_of(const rows *s, size_t part)
{
    const int along = s->cells->axis;
    const int64_t low = s->cells->low[along], range = s->cells->high[along] - low + 1,
                  parts = (int64_t)gbees_sparse_parts(s->cells);
    gbees_plane_axes axes = {.along = along, .across = s->pass->axis, .low = INT32_MIN, .high = INT32_MAX};

    if (is_one_plane(s)) {
        axes.low = (int32_t)(low + range * (int64_t)part / parts);
        axes.high = (int32_t)(low + range * (int64_t)(part + 1) / parts - 1);
    }
    return axes;
}

/* Takes the rows of the plane of `count` spans. */
static gbees_status take_plane(const rows *s, size_t number, const gbees_sparse_span *span, size_t count)
{
    gbees_plane *plane = &s->part[number].plane;
    const gbees_plane_axes axes = axes_of(s, number);
    const int turns = axes.along != axes.across;
    gbees_status status = GBEES_OK;
    int32_t at[GBEES_MAX_DIM];

    if (turns ? gbees_plane_turn(plane, &axes, span, count) : gbees_plane_join(plane, axes.along, span, count))
        return GBEES_ENOMEM;
    memcpy(at, span->at, sizeof at);
    for (size_t k = 0, begin = 0; k < plane->rows && !status; begin = plane->end[k++]) {
        if (plane->end[k] == begin)
            continue;
        if (turns)
            at[axes.along] = (int32_t)(plane->first + (int64_t)k);
        status = take_row(s, number, at, &plane->cell[begin], plane->end[k] - begin);
    }
    return status;
}

static void take_planes(void *context, size_t number)
{
    const rows *s = context;
    rows_part *part = &s->part[number];
    const gbees_sparse_span *span = s->cells->span;
    const int shares = is_one_plane(s);
    const size_t stop = shares ? s->cells->span_count : first_plane(s, number + 1);

    for (size_t first = shares ? 0 : first_plane(s, number), end = first; first < stop && !part->failed;
         first = end) {
        do
            end++;
        while (end < stop && same_plane(s, &span[first], &span[end]));
        part->failed = take_plane(s, number, &span[first], end - first);
    }
    s->cells->part[number].p = s->cells->part[number].own;
}

/* ---- passes ---- */

/* Sorts the spans so that those of a plane, or of a row if the pass is along them, follow each other: the pass's axis
 * is then the last but one in the order. */
static int sort_planes(rows *s, gbees_error *error)
{
    const int n = s->cells->n, axis = s->pass->axis;
    int sorts[GBEES_MAX_DIM], order[GBEES_MAX_DIM], place = 0, count = 0;

    if (axis == s->cells->axis)
        return gbees_sparse_sort(s->cells, sorts, 0, error);
    while (s->order[place] != axis)
        place++;
    for (int k = n - 2; k > place; k--)
        sorts[count++] = s->order[k];
    memcpy(order, s->order, sizeof order);
    memcpy(s->order, order + place + 1, (size_t)count * sizeof *order);
    memcpy(s->order + count, order, (size_t)(place + 1) * sizeof *order);
    if (gbees_sparse_check_range(s->cells, s->cells->axis, error))
        return GBEES_ENUMERIC;
    return gbees_sparse_sort(s->cells, sorts, count, error);
}

/* Makes the cells those of the parts. */
static gbees_status join_parts(rows *s, size_t parts, double *dropped)
{
    gbees_sparse *cells = s->cells;
    gbees_status failed = GBEES_OK;
    int32_t low = INT32_MAX, high = INT32_MIN;

    if (cells->axis != s->pass->axis) {
        s->order[cells->n - 2] = cells->axis;
        s->order[cells->n - 1] = s->pass->axis;
    }
    cells->axis = s->pass->axis;
    cells->parts = parts;
    cells->count = 0;
    for (size_t k = 0; k < parts; k++) {
        failed = failed ? failed : s->part[k].failed;
        cells->count += cells->part[k].count;
        *dropped += s->part[k].dropped;
        low = s->part[k].low < low ? s->part[k].low : low;
        high = s->part[k].high > high ? s->part[k].high : high;
    }
    cells->low[cells->axis] = low;
    cells->high[cells->axis] = high;
    return failed;
}

/* Applies a pass to all rows. */
static int pass_rows(rows *s, double *dropped, gbees_error *error)
{
    gbees_sparse *cells = s->cells;
    const size_t parts = gbees_sparse_parts(cells);
    const int status = sort_planes(s, error);

    if (status)
        return status;
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        gbees_sparse_empty(&cells->part[k]);
        s->part[k].dropped = 0;
        s->part[k].low = INT32_MAX;
        s->part[k].high = INT32_MIN;
    }
    gbees_pool_run(cells->pool, parts, take_planes, s);
    const gbees_status failed = join_parts(s, parts, dropped);
    if (failed == GBEES_ENUMERIC)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "a density can't be taken to another frame: a cell would be more than %d cells from "
                               "its centre; the frames are too different",
                               (int)GBEES_REMAP_REACH);
    return failed ? gbees_error_set(error, failed, "not enough memory for the cells of another frame") : GBEES_OK;
}

/* Brings the cells in an order; wanted: axes, the slowest first; the pass does nothing but turn planes to the last of
 * them. Sorts by the slowest ones are needed, before the
 * longest end of the wanted order whose axes follow each other in the present one. */
static int sort_all(rows *s, const int *wanted, double *dropped, gbees_error *error)
{
    const int n = s->cells->n;
    int sorts[GBEES_MAX_DIM], place[GBEES_MAX_DIM], k = n > 1 ? n - 2 : 0, status = GBEES_OK;

    if (s->pass->axis != s->cells->axis)
        status = pass_rows(s, dropped, error);
    if (status)
        return status;
    for (int j = 0; j < n; j++)
        place[s->order[j]] = j;
    while (k > 0 && place[wanted[k - 1]] < place[wanted[k]])
        k--;
    for (int j = 0; j < k; j++)
        sorts[j] = wanted[k - 1 - j];
    return gbees_sparse_sort(s->cells, sorts, k, error);
}

/* ---- all passes ---- */

/* Applies a plan to the cells; allocates and frees the memory of their parts. */
static int pass_all(const gbees_remap_plan *plan, gbees_sparse *cells, double *dropped, gbees_error *error)
{
    const size_t bytes = GBEES_SPARSE_PARTS * sizeof(rows_part);
    rows s = {.cells = cells,
              .least = fmax(plan->least_between, DBL_TRUE_MIN),
              .part = aligned_alloc(_Alignof(rows_part), bytes)};
    int status = GBEES_OK, wanted[GBEES_MAX_DIM] = {0};

    if (!s.part)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of another frame");
    memset(s.part, 0, bytes);
    for (int k = 0; k < plan->n; k++) {
        s.order[plan->from[k]] = k;
        wanted[plan->to[k]] = k;
    }
    for (int k = 0; k < plan->count && !status; k++) {
        s.pass = &plan->pass[k];
        status = pass_rows(&s, dropped, error);
    }
    const gbees_remap_pass turn = {.axis = wanted[plan->n - 1]};
    s.pass = &turn;
    if (!status)
        status = sort_all(&s, wanted, dropped, error);
    for (int k = 0; k < GBEES_SPARSE_PARTS; k++) {
        gbees_plane_close(&s.part[k].plane);
        gbees_row_close(&s.part[k].row);
        gbees_row_close(&s.part[k].other);
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
    gbees_remap_plan plan;
    const int status = gbees_remap_plan_find(from, to, options, &plan, error);

    return status ? status : gbees_remap_apply(cells, &plan, options->threads, dropped, error);
}

int gbees_remap_apply(gbees_initial_cells *cells, const gbees_remap_plan *plan, int threads, double *dropped,
                      gbees_error *error)
{
    gbees_sparse sparse = {.n = plan->n};
    int status = GBEES_OK;
    double lost = 0;

    sparse.pool = gbees_pool_open(gbees_workers_worth(threads, CELL_NS * (double)cells->count));
    if (gbees_sparse_from_list(cells, plan->from, &sparse))
        status = no_memory(cells->count, error);
    if (!status)
        status = pass_all(plan, &sparse, &lost, error);
    if (!status && gbees_sparse_to_list(&sparse, plan->to, plan->least, cells, &lost))
        status = no_memory(sparse.count, error);
    gbees_pool_close(sparse.pool);
    gbees_sparse_close(&sparse);
    if (!status)
        *dropped += lost;
    return status;
}
