/* refine.c - halves or merges the cells of a list along one axis after the other, line by line, on threads; mass is
 * kept. */
#include "refine.h"
#include "base/array.h"
#include "lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 128 /* cells of a line that are computed at a time */ };

/* Cells `from` ... `from + count - 1` of a line. */
typedef struct piece {
    size_t line, from, count;
} piece;

/* A pass over all lines along an axis: from the lines `of` to P of others. */
typedef struct pass {
    const gbees_lines *of;
    int axis;
    double fraction; /* of an exchange */
    double *p;       /* of an exchange */
    gbees_lines *to; /* of a halving */
    size_t *half[2]; /* of a halving: by line, where the lower and the upper halves' P begin; with a stride of 2 along
                        the last axis */
} pass;

/* Calls compute() with each piece of the lines and its neighbours: beside[reach + shift] has P of the cells that lie
 * `shift` cells further along the axis, -reach <= shift <= reach. */
static void for_pieces(const pass *s, size_t first, size_t end, int reach,
                       void (*compute)(const pass *s, const piece *at, double (*beside)[PIECE]))
{
    double beside[5][PIECE];
    size_t place[5];

    for (int k = 0; k <= 2 * reach && first < end; k++)
        place[k] = gbees_lines_find(s->of, first, s->axis, k - reach);
    for (size_t line = first; line < end; line++)
        for (size_t from = 0; from < s->of->line[line].length; from += PIECE) {
            const size_t rest = s->of->line[line].length - from;
            const piece at = {line, from, rest < PIECE ? rest : PIECE};

            for (int k = 0; k <= 2 * reach; k++)
                if (k != reach)
                    gbees_lines_beside(s->of, line, from, at.count, s->axis, k - reach, &place[k], beside[k]);
            compute(s, &at, beside);
        }
}

/* ---- halving ---- */

static void halve_piece(const pass *s, const piece *at, double (*beside)[PIECE])
{
    const int last = s->axis == s->of->n - 1;
    const size_t stride = last ? 2 : 1;
    const double *own = s->of->p + s->of->line[at->line].first + at->from;
    double *lower = s->to->p + s->half[0][at->line] + stride * at->from;
    double *upper = s->to->p + s->half[1][at->line] + stride * at->from;

    for (size_t k = 0; k < at->count; k++) {
        const double p = own[k], near = beside[3][k] - beside[1][k], far = beside[4][k] - beside[0][k];
        /* The upper half's average less the cell's (Harten, SIAM J. Numer. Anal. 33 (1996) 1205). */
        double more = (22 * near - 3 * far) / 128;

        more = more > p ? p : more < -p ? -p : more;
        lower[stride * k] = (p - more) / 2;
        upper[stride * k] = (p + more) / 2;
    }
}

static void halve_lines(void *context, size_t first, size_t end)
{
    for_pieces(context, first, end, 2, halve_piece);
}

/* Appends the line of a line's lower or upper half to s->to. */
static void add_half(pass *s, size_t of, int upper)
{
    gbees_line *line = &s->to->line[s->to->count++];

    *line = s->of->line[of];
    line->index[s->axis] = 2 * line->index[s->axis] + upper;
    line->first = s->half[upper][of] = s->to->cells;
    s->to->cells += line->length;
}

/* Sets the lines of the finer grid, in lexicographic order. Halving the last axis makes each line twice as long.
 * Halving another axis makes two lines of each: for all lines with the same index up to this axis, first those of the
 * lower halves, then those of the upper ones. */
static void place_halves(pass *s)
{
    const gbees_lines *of = s->of;
    const int last = s->axis == of->n - 1;

    for (size_t first = 0, end; first < of->count; first = end) {
        for (end = first + 1; !last && end < of->count &&
                              gbees_lines_same(of->n, of->line[first].index, of->line[end].index, s->axis + 1);)
            end++;
        for (int upper = 0; upper < (last ? 1 : 2); upper++)
            for (size_t k = first; k < end; k++)
                add_half(s, k, upper);
        if (last) {
            s->to->line[first].length *= 2;
            s->half[1][first] = s->half[0][first] + 1;
            s->to->cells += of->line[first].length;
        }
    }
}

/* Replaces lines by `made` and returns 0; if `failed` is set, frees `made` instead and returns 1. */
static int take_over(gbees_lines *lines, gbees_lines *made, int failed)
{
    if (!failed) {
        gbees_lines_clear(lines);
        *lines = *made;
        return 0;
    }
    gbees_lines_clear(made);
    return 1;
}

static int halve(gbees_lines *lines, int axis)
{
    gbees_lines to = {.n = lines->n, .threads = lines->threads};
    pass s = {.of = lines, .axis = axis, .to = &to};
    int failed = gbees_lines_reserve(&to, 2 * lines->count, 2 * lines->cells);

    for (int upper = 0; upper < 2; upper++) {
        s.half[upper] = malloc((lines->count + 1) * sizeof *s.half[upper]);
        failed = failed || !s.half[upper];
    }
    if (!failed) {
        place_halves(&s);
        gbees_lines_for_parts(lines, halve_lines, &s);
    }
    free(s.half[0]);
    free(s.half[1]);
    return take_over(lines, &to, failed);
}

/* ---- merging ---- */

/* Half of an index, rounded down, also if it is negative. */
static int32_t half_of(int32_t index)
{
    return (index - (index & 1)) / 2;
}

/* Appends a line whose cells are merged in pairs along the last axis. */
static int merge_in_line(const gbees_lines *lines, size_t of, gbees_lines *to)
{
    const gbees_line *line = &lines->line[of];
    const int last = lines->n - 1;
    const double *p = lines->p + line->first;
    size_t c = 0;
    int failed = 0;

    while (c < line->length && !failed) {
        const int32_t begin = line->index[last] + (int32_t)c;
        int32_t index[GBEES_MAX_DIM];
        double sum[PIECE] = {0};

        memcpy(index, line->index, sizeof index);
        index[last] = half_of(begin);
        for (; c < line->length && half_of(line->index[last] + (int32_t)c) - index[last] < PIECE; c++)
            sum[half_of(line->index[last] + (int32_t)c) - index[last]] += p[c];
        failed = gbees_lines_append(to, index, sum,
                                    (size_t)(half_of(line->index[last] + (int32_t)(c - 1)) - index[last]) + 1);
    }
    return failed;
}

/* Whether line a comes before line b, or at the same place, by their indices along the axes behind `axis`. */
static int comes_first(const gbees_lines *lines, size_t a, size_t b, int axis)
{
    for (int j = axis + 1; j < lines->n; j++)
        if (lines->line[a].index[j] != lines->line[b].index[j])
            return lines->line[a].index[j] < lines->line[b].index[j];
    return 1;
}

/* Appends, in order, lines lower ... upper - 1 merged with lines upper ... end - 1, whose cells lie above theirs
 * along the axis. */
static int merge_rows(const gbees_lines *lines, size_t lower, size_t upper, size_t end, int axis, gbees_lines *to)
{
    const size_t middle = upper;
    int failed = 0;

    while ((lower < middle || upper < end) && !failed) {
        const int from_lower = upper == end || (lower < middle && comes_first(lines, lower, upper, axis));
        const gbees_line *line = &lines->line[from_lower ? lower++ : upper++];
        int32_t index[GBEES_MAX_DIM];

        memcpy(index, line->index, sizeof index);
        index[axis] = half_of(index[axis]);
        failed = gbees_lines_append(to, index, lines->p + line->first, line->length);
    }
    return failed;
}

/* The first line behind `first` that has another index up to this axis. */
static size_t end_of_rows(const gbees_lines *lines, size_t first, int axis)
{
    size_t end = first;

    while (end < lines->count &&
           gbees_lines_same(lines->n, lines->line[first].index, lines->line[end].index, axis + 1))
        end++;
    return end;
}

/* Whether two lines, one before the other, become one row when cells are merged along an axis before the last. */
static int is_pair(const gbees_lines *lines, size_t a, size_t b, int axis)
{
    return b < lines->count && gbees_lines_same(lines->n, lines->line[a].index, lines->line[b].index, axis) &&
           half_of(lines->line[a].index[axis]) == half_of(lines->line[b].index[axis]);
}

/* Merges cells 2 i and 2 i + 1. */
static int merge(gbees_lines *lines, int axis)
{
    gbees_lines to = {.n = lines->n, .threads = lines->threads};
    int failed = gbees_lines_reserve(&to, lines->count / 2, lines->cells / 2);

    for (size_t k = 0; k < lines->count && !failed;) {
        if (axis == lines->n - 1) {
            failed = merge_in_line(lines, k++, &to);
            continue;
        }
        const size_t upper = end_of_rows(lines, k, axis);
        const size_t end = is_pair(lines, k, upper, axis) ? end_of_rows(lines, upper, axis) : upper;
        failed = merge_rows(lines, k, upper, end, axis, &to);
        k = end;
    }
    return take_over(lines, &to, failed);
}

/* ---- values at centres ---- */

/* The mass that moves to a cell, with P `own`, from the next one along the axis, with P `next`: `fraction` of the
 * difference; 0 if one of them is empty. With a negative fraction it is at most 0.4 of what either holds. */
static double exchange_flux(double fraction, double own, double next)
{
    const double least = 0.4 * fmin(next, own), moved = next > 0 && own > 0 ? fraction * (next - own) : 0;

    return fraction < 0 ? fmin(fmax(moved, -least), least) : moved;
}

static void exchange_piece(const pass *s, const piece *at, double (*beside)[PIECE])
{
    const size_t first = s->of->line[at->line].first + at->from;
    const double *own = s->of->p + first;

    for (size_t k = 0; k < at->count; k++)
        s->p[first + k] = own[k] + (exchange_flux(s->fraction, own[k], beside[2][k]) -
                                    exchange_flux(s->fraction, beside[0][k], own[k]));
}

static void exchange_lines(void *context, size_t first, size_t end)
{
    for_pieces(context, first, end, 1, exchange_piece);
}

/* Moves `fraction` of the difference between each two neighbours along the axis to the cell that holds less; a
 * negative fraction moves mass from that cell (exchange_flux()). */
static int exchange(gbees_lines *lines, int axis, double fraction)
{
    pass s = {.of = lines, .axis = axis, .fraction = fraction, .p = gbees_array_create(lines->cells, sizeof *s.p)};

    if (!s.p)
        return 1;
    gbees_lines_for_parts(lines, exchange_lines, &s);
    free(lines->p);
    lines->p = s.p;
    lines->cell_capacity = lines->cells;
    return 0;
}

/* ---- all ---- */

/* Changes the cells along an axis. Averages P and values at centres p differ by the second difference along the axis:
 * P = p + (p_(i+1) - 2 p_i + p_(i-1)) / 24. */
static int change_axis(gbees_lines *lines, int axis, int change, gbees_cell_values values)
{
    const double fraction = values == GBEES_CELL_POINTS && change ? 1.0 / 24 : 0;
    int failed = fraction > 0 && exchange(lines, axis, fraction);

    for (int k = 0; k < change && !failed; k++)
        failed = halve(lines, axis);
    for (int k = 0; k > change && !failed; k--)
        failed = merge(lines, axis);
    return failed || (fraction > 0 && exchange(lines, axis, -fraction));
}

/* Whether the indices along an axis fit in a record, and in the arithmetic on indices, if the cells are 2^change
 * times narrower. */
static int check_range(const gbees_lines *lines, int axis, int change, gbees_error *error)
{
    const int n = lines->n;
    const int64_t most = n > 4 ? (INT64_C(1) << (128 / n - 1)) - 1 : INT32_MAX / 4; /* cells.h */
    const int64_t parts = change > 0 ? INT64_C(1) << change : 1;

    for (size_t k = 0; k < lines->count && change > 0; k++) {
        const gbees_line *line = &lines->line[k];
        const int64_t length = axis == n - 1 ? (int64_t)line->length : 1, first = line->index[axis] * parts;

        if (first < -most || first + length * parts - 1 > most)
            return gbees_error_set(error, GBEES_ENUMERIC,
                                   "a grid whose cells are %lld times narrower along axis %d has too many cells: its "
                                   "indices reach %lld, and at most %lld fit",
                                   (long long)parts, axis,
                                   (long long)(first < -most ? first : first + length * parts - 1), (long long)most);
    }
    return GBEES_OK;
}

int gbees_refine(gbees_initial_cells *cells, int n, const int *change, gbees_cell_values values, int threads,
                 gbees_error *error)
{
    gbees_lines lines = {.n = n, .threads = threads};
    int failed = gbees_lines_of_cells(&lines, cells), status = GBEES_OK;

    for (int j = n - 1; j >= 0 && !status && !failed; j--) {
        status = check_range(&lines, j, change[j], error);
        failed = !status && change_axis(&lines, j, change[j], values);
    }
    if (!status && !failed) {
        gbees_initial_cells_clear(cells);
        failed = gbees_lines_to_cells(&lines, cells);
    }
    if (failed)
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for another grid of %zu cells", lines.cells);
    gbees_lines_clear(&lines);
    return status;
}
