/* lines.c - appends, finds and compares lines, and copies to a line the values of those beside it along any axis. */
#include "lines.h"
#include "base/array.h"
#include "base/workers.h"
#include "base/initial_cells.h"
#include <stdlib.h>
#include <string.h>

enum { PART = 512 /* lines, taken by one thread at a time */, FEW = 1 << 15 /* cells: one thread suffices */ };

void gbees_lines_clear(gbees_lines *lines)
{
    free(lines->line);
    free(lines->p);
    *lines = (gbees_lines){.n = lines->n, .threads = lines->threads};
}

/* Enlarges an array for `needed` entries, and some more. */
static int enlarge(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return 0;
    const size_t wanted = *array ? needed + needed / 2 : needed;
    void *larger = gbees_array_create(wanted, size);
    if (!larger)
        return 1;
    if (*array)
        memcpy(larger, *array, *capacity * size);
    free(*array);
    *array = larger;
    *capacity = wanted;
    return 0;
}

int gbees_lines_reserve(gbees_lines *lines, size_t count, size_t cells)
{
    void *line = lines->line, *p = lines->p;
    const int failed = enlarge(&line, &lines->capacity, lines->count + count, sizeof *lines->line) ||
                       enlarge(&p, &lines->cell_capacity, lines->cells + cells, sizeof *lines->p);

    lines->line = line;
    lines->p = p;
    return failed;
}

int gbees_lines_same(int n, const int32_t *a, const int32_t *b, int axis)
{
    for (int j = 0; j < n && j < axis; j++)
        if (a[j] != b[j])
            return 0;
    return 1;
}

int gbees_lines_append(gbees_lines *lines, const int32_t *index, const double *p, size_t length)
{
    const int last = lines->n - 1;
    gbees_line *line = lines->count ? &lines->line[lines->count - 1] : NULL;
    int64_t place = line ? (int64_t)index[last] - line->index[last] : 0;

    if (!line || !gbees_lines_same(lines->n, line->index, index, last) ||
        place > (int64_t)line->length + GBEES_LINE_GAP) {
        if (gbees_lines_reserve(lines, 1, length))
            return 1;
        line = &lines->line[lines->count++];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is memory for it */
        *line = (gbees_line){.first = lines->cells};
        memcpy(line->index, index, (size_t)lines->n * sizeof *index);
        place = 0;
    }
    const size_t end = (size_t)place + length, more = end > line->length ? end - line->length : 0;
    if (gbees_lines_reserve(lines, 0, more))
        return 1;
    line = &lines->line[lines->count - 1];
    memset(lines->p + lines->cells, 0, more * sizeof *lines->p);
    lines->cells += more;
    line->length += more;
    for (size_t k = 0; k < length; k++)
        lines->p[line->first + (size_t)place + k] += p[k];
    return 0;
}

/* ---- neighbours ---- */

/* Compares the row of line a with the row that lies `shift` cells along an axis beyond that of line b: returns -1 if
 * it comes before that row, 0 if it is that row, 1 if it comes after. */
static int compare_rows(const gbees_lines *lines, const gbees_line *a, const gbees_line *b, int axis, int shift)
{
    for (int j = 0; j < lines->n - 1; j++) {
        const int64_t wanted = (int64_t)b->index[j] + (j == axis ? shift : 0);

        if (a->index[j] != wanted)
            return a->index[j] < wanted ? -1 : 1;
    }
    return 0;
}

size_t gbees_lines_find(const gbees_lines *lines, size_t of, int axis, int shift)
{
    size_t low = 0, high = lines->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_rows(lines, &lines->line[middle], &lines->line[of], axis, shift) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Copies to p[count] what cells `begin` ... of a row have in one of its lines; `offset`: of the line's first cell. */
static void copy_common(const gbees_lines *lines, const gbees_line *line, int64_t offset, size_t count, double *p)
{
    const int64_t first = offset > 0 ? offset : 0, end = offset + (int64_t)line->length;
    const int64_t last = end < (int64_t)count ? end : (int64_t)count;

    if (first < last)
        memcpy(p + first, lines->p + line->first + (first - offset), (size_t)(last - first) * sizeof *p);
}

void gbees_lines_beside(const gbees_lines *lines, size_t of, size_t from, size_t count, int axis, int shift,
                        size_t *at, double *p)
{
    const gbees_line *line = &lines->line[of];
    const int last = lines->n - 1;
    const int64_t begin = (int64_t)line->index[last] + (int64_t)from;

    memset(p, 0, count * sizeof *p);
    if (axis == last) { /* the gap to the next line in the row is wider than `shift` */
        copy_common(lines, line, -(int64_t)from - shift, count, p);
        return;
    }
    for (; *at < lines->count; ++*at) {
        const gbees_line *other = &lines->line[*at];
        const int order = compare_rows(lines, other, line, axis, shift);

        if (order > 0 || (order == 0 && other->index[last] + (int64_t)other->length > begin))
            break;
    }
    for (size_t k = *at; k < lines->count; k++) {
        const gbees_line *other = &lines->line[k];

        if (other->index[last] >= begin + (int64_t)count || compare_rows(lines, other, line, axis, shift))
            break;
        copy_common(lines, other, other->index[last] - begin, count, p);
    }
}

/* ---- threads ---- */

typedef struct loop {
    size_t count;
    void (*work)(void *context, size_t first, size_t end);
    void *context;
} loop;

static void work_part(void *context, size_t item)
{
    const loop *s = context;
    const size_t first = item * PART, end = first + PART;

    s->work(s->context, first, end < s->count ? end : s->count);
}

void gbees_lines_for_parts(const gbees_lines *lines, void (*work)(void *context, size_t first, size_t end),
                           void *context)
{
    loop s = {.count = lines->count, .work = work, .context = context};

    gbees_workers_run(lines->cells < FEW ? 1 : lines->threads, (lines->count + PART - 1) / PART, work_part, &s);
}

/* ---- lists of cells ---- */

int gbees_lines_of_cells(gbees_lines *lines, const gbees_initial_cells *cells)
{
    const int n = lines->n;
    size_t begin = 0;

    if (gbees_lines_reserve(lines, cells->count / 8, cells->count + cells->count / 4))
        return 1;
    for (size_t i = 1; i <= cells->count; i++) { /* the cells from `begin` to i - 1 are in a row */
        int go_on = i < cells->count && cells->index[n - 1][i] == cells->index[n - 1][i - 1] + 1;
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < n - 1 && go_on; j++)
            go_on = cells->index[j][i] == cells->index[j][i - 1];
        if (go_on)
            continue;
        for (int j = 0; j < n; j++)
            index[j] = cells->index[j][begin];
        if (gbees_lines_append(lines, index, cells->p + begin, i - begin))
            return 1;
        begin = i;
    }
    return 0;
}

typedef struct listing {
    const gbees_lines *lines;
    gbees_initial_cells *cells;
    size_t *start; /* of each part: how many cells it has; then where they begin */
} listing;

static void count_cells(void *context, size_t first, size_t end)
{
    const listing *l = context;
    size_t count = 0;

    for (size_t k = first; k < end; k++)
        for (size_t c = 0; c < l->lines->line[k].length; c++)
            count += l->lines->p[l->lines->line[k].first + c] > 0;
    l->start[first / PART] = count;
}

static void list_cells(void *context, size_t first, size_t end)
{
    const listing *l = context;
    const int last = l->lines->n - 1;
    size_t at = l->start[first / PART];

    for (size_t k = first; k < end; k++) {
        const gbees_line *line = &l->lines->line[k];
        const size_t begin = at;

        for (size_t c = 0; c < line->length; c++) {
            const double p = l->lines->p[line->first + c];

            if (!(p > 0))
                continue;
            l->cells->index[last][at] = line->index[last] + (int32_t)c;
            l->cells->p[at++] = p;
        }
        for (int j = 0; j < last; j++)
            for (size_t i = begin; i < at; i++)
                l->cells->index[j][i] = line->index[j];
    }
}

int gbees_lines_to_cells(const gbees_lines *lines, gbees_initial_cells *cells)
{
    const size_t parts = (lines->count + PART - 1) / PART;
    listing l = {.lines = lines, .cells = cells, .start = malloc((parts + 1) * sizeof *l.start)};
    size_t all = 0;

    if (!l.start)
        return 1;
    gbees_lines_for_parts(lines, count_cells, &l);
    for (size_t part = 0; part < parts; part++) {
        const size_t count = l.start[part];

        l.start[part] = all;
        all += count;
    }
    int failed = gbees_initial_cells_reserve(cells, lines->n, all);
    if (!failed) {
        cells->count = all;
        gbees_lines_for_parts(lines, list_cells, &l);
    }
    free(l.start);
    return failed;
}
