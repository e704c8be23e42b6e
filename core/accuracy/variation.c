/* variation.c - divides cells among bins and keeps the bins' masses in a hash table. A bin is identified by a 64-bit
 * hash of its index: that two of millions of bins have the same is less likely than an error of the memory. */
#include "variation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = GBEES_MAX_DIM, BATCH = 1024, PARTS_MOST = 16, LEAST = 1024, ROW = 16 };

typedef struct bin {
    uint64_t key; /* 0: the place is free */
    double p;
} bin;

/* Open addressing; the capacity is a power of two, at least twice the count. */
struct gbees_histogram {
    size_t count, capacity;
    bin *bins;
    double sum; /* of all p */
};

/* The grid of a record in bins: along axis j cell i reaches from lowest + width * i to width more. */
typedef struct grid_in_bins {
    int n;
    double lowest[N], width[N];
} grid_in_bins;

/* Of a cell along one axis: the first bin that it reaches into, and the fraction of it in each from there on. */
typedef struct overlap {
    int64_t first;
    int count;
    double fraction[PARTS_MOST];
} overlap;

/* Cells that differ in the last index alone, added up in bins along that axis: so a bin is looked up once for a row,
 * not for each cell. */
typedef struct row {
    int32_t index[N]; /* of its cells, but for the last axis */
    int64_t first;    /* bin along the last axis that p[0] is for */
    int used;         /* bins up to the last one with a cell; 0: the row is empty */
    double p[ROW];
} row;

/* ---- the table ---- */

static bin *find(const gbees_histogram *in, uint64_t key)
{
    size_t at = (size_t)key & (in->capacity - 1);

    while (in->bins[at].key && in->bins[at].key != key)
        at = (at + 1) & (in->capacity - 1);
    return &in->bins[at];
}

static int grow(gbees_histogram *in)
{
    gbees_histogram larger = {in->count, in->capacity ? 4 * in->capacity : LEAST, NULL, in->sum};

    larger.bins = calloc(larger.capacity, sizeof *larger.bins);
    if (!larger.bins)
        return 1;
    for (size_t i = 0; i < in->capacity; i++)
        if (in->bins[i].key)
            *find(&larger, in->bins[i].key) = in->bins[i];
    free(in->bins);
    *in = larger;
    return 0;
}

static int add(gbees_histogram *to, uint64_t key, double p)
{
    if (2 * (to->count + 1) > to->capacity && grow(to))
        return 1;
    bin *at = find(to, key);
    to->count += at->key == 0;
    at->key = key;
    at->p += p;
    to->sum += p;
    return 0;
}

/* ---- cells ---- */

/* A rotated grid's origin is its centre, which another grid on the way moves. */
static void set_grid(const gbees_problem *start, const gbees_problem *now, grid_in_bins *grid)
{
    const int n = start->dimension;

    grid->n = n;
    for (int j = 0; j < n; j++) {
        const double std = sqrt(start->covariance[j * n + j]), bin_width = std > 0 ? std : start->width[j];
        double middle = now->mean[j] - start->mean[j]; /* of cell 0 */

        for (int k = 0; k < n && start->rotated; k++)
            middle += start->rotation[k * n + j] * (now->centre[k] - start->centre[k]);
        grid->width[j] = now->width[j] / bin_width;
        grid->lowest[j] = middle / bin_width - grid->width[j] / 2;
    }
}

static void divide(const grid_in_bins *grid, int axis, int32_t index, overlap *to)
{
    const double low = grid->lowest[axis] + grid->width[axis] * index, high = low + grid->width[axis];

    to->first = (int64_t)floor(low);
    to->count = 0;
    for (double at = floor(low); (at < high || to->count == 0) && to->count < PARTS_MOST; at++)
        to->fraction[to->count++] = (fmin(high, at + 1) - fmax(low, at)) / grid->width[axis];
}

static uint64_t mix(uint64_t key, int64_t index)
{
    key = (key ^ (uint32_t)index) * UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 32;
}

/* Adds a row's parts in all bins that it reaches into: `part` of it, along `axis` and the axes behind it. */
static int add_parts(gbees_histogram *to, const row *from, const overlap *along, int n, int axis, uint64_t key,
                     double part)
{
    int bad = 0;

    for (int k = 0; axis == n - 1 && k < from->used && !bad; k++)
        if (from->p[k] * part > 0) {
            const uint64_t mixed = mix(key, from->first + k);

            bad = add(to, mixed ? mixed : 1, from->p[k] * part);
        }
    for (int k = 0; axis < n - 1 && k < along[axis].count && !bad; k++)
        bad =
            add_parts(to, from, along, n, axis + 1, mix(key, along[axis].first + k), part * along[axis].fraction[k]);
    return bad;
}

/* Adds a row to the bins and empties it. */
static int add_row(gbees_histogram *to, const grid_in_bins *grid, row *from)
{
    overlap along[N];

    for (int j = 0; j < grid->n - 1; j++)
        divide(grid, j, from->index[j], &along[j]);
    const int bad = from->used ? add_parts(to, from, along, grid->n, 0, 0, 1) : 0;
    from->used = 0;
    return bad;
}

/* Whether a cell that reaches into bins from `first` on belongs to a row, and fits in it. */
static int is_in_row(const row *now, int n, const int32_t *const *index, size_t cell, const overlap *along)
{
    for (int j = 0; j < n - 1; j++)
        if (index[j][cell] != now->index[j])
            return 0;
    return now->used && along->first >= now->first && along->first + along->count <= now->first + ROW;
}

/* Adds a cell to the row, which is added to the bins first if the cell is of another one. */
static int add_cell(gbees_histogram *to, const grid_in_bins *grid, row *now, const int32_t *const *index, size_t cell,
                    double p)
{
    const int n = grid->n;
    overlap along;

    divide(grid, n - 1, index[n - 1][cell], &along);
    if (!is_in_row(now, n, index, cell, &along)) {
        if (add_row(to, grid, now))
            return 1;
        for (int j = 0; j < n - 1; j++)
            now->index[j] = index[j][cell];
        now->first = along.first;
    }
    const int at = (int)(along.first - now->first);
    for (; now->used < at + along.count; now->used++)
        now->p[now->used] = 0;
    for (int k = 0; k < along.count; k++)
        now->p[at + k] += p * along.fraction[k];
    return 0;
}

static int add_cells(gbees_histogram *to, const grid_in_bins *grid, const gbees_cells *cells)
{
    const size_t count = gbees_cells_count(cells);
    int32_t list[N][BATCH], *index[N];
    double p[BATCH];
    row now = {.used = 0};
    int bad = 0;

    for (int j = 0; j < grid->n; j++)
        index[j] = list[j];
    for (size_t first = 0; first < count && !bad; first += BATCH) {
        const size_t batch = count - first < BATCH ? count - first : BATCH;

        gbees_cells_copy(cells, first, batch, index, p);
        for (size_t i = 0; i < batch && !bad; i++)
            bad = add_cell(to, grid, &now, (const int32_t *const *)index, i, p[i]);
    }
    return bad ? bad : add_row(to, grid, &now);
}

int gbees_histogram_create(const gbees_problem *start, const gbees_record *record, gbees_histogram **histogram,
                           gbees_error *error)
{
    const size_t count = record->cells && !start->moving ? gbees_cells_count(record->cells) : 0;
    grid_in_bins grid;

    *histogram = NULL;
    if (count == 0 || count > GBEES_COMPARED_CELLS)
        return GBEES_OK;
    set_grid(start, record->problem, &grid);
    for (int j = 0; j < grid.n; j++)
        if (!(grid.width[j] < PARTS_MOST - 1))
            return GBEES_OK;
    gbees_histogram *made = calloc(1, sizeof *made);
    if (!made || add_cells(made, &grid, record->cells)) {
        gbees_histogram_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare runs");
    }
    *histogram = made;
    return GBEES_OK;
}

void gbees_histogram_destroy(gbees_histogram *histogram)
{
    if (histogram)
        free(histogram->bins);
    free(histogram);
}

double gbees_histogram_variation(const gbees_histogram *a, const gbees_histogram *b)
{
    double sum = 0;

    for (size_t i = 0; i < a->capacity; i++)
        if (a->bins[i].key)
            sum += fabs(a->bins[i].p / a->sum - find(b, a->bins[i].key)->p / b->sum);
    for (size_t i = 0; i < b->capacity; i++)
        if (b->bins[i].key && !find(a, b->bins[i].key)->key)
            sum += b->bins[i].p / b->sum;
    return sum / 2;
}
