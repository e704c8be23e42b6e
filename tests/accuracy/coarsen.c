/* coarsen.c - records and samples on other cells: see compare.h. */
#include "compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cell {
    int32_t index[GBEES_MAX_DIM]; /* those beyond the dimension are 0 */
    double p;
} cell;

static int cell_compare(const void *left, const void *right)
{
    const cell *a = left, *b = right;

    for (int j = 0; j < GBEES_MAX_DIM; j++) {
        if (a->index[j] != b->index[j])
            return a->index[j] < b->index[j] ? -1 : 1;
    }
    return 0;
}

/* Rounds down, below 0 as well. */
static int32_t divide(int32_t index, int32_t factor)
{
    return index / factor - (index % factor < 0);
}

/* The middle of the first wider cell, which is at the centre of cells 0 .. factor - 1. */
static void shift_origin(gbees_snapshot *coarse, const gbees_snapshot *snapshot, int factor)
{
    const int n = snapshot->dimension;

    for (int j = 0; j < n; j++) {
        const double half = (factor - 1) * snapshot->width[j] / 2;

        if (!snapshot->rotated)
            coarse->origin[j] += half;
        for (int k = 0; k < n && snapshot->rotated; k++)
            coarse->origin[k] += snapshot->rotation[k * n + j] * half;
    }
}

/* Sorts the cells and adds up those of one index; returns how many are left. */
static size_t merge(cell *cells, size_t count)
{
    size_t last = 0;

    qsort(cells, count, sizeof *cells, cell_compare);
    for (size_t i = 1; i < count; i++) {
        if (cell_compare(&cells[last], &cells[i]) == 0)
            cells[last].p += cells[i].p;
        else
            cells[++last] = cells[i];
    }
    return count ? last + 1 : 0;
}

/* A snapshot like `grid`, but of these cells, which are sorted and added up. */
static int snapshot_make(const gbees_snapshot *grid, cell *cells, size_t count, gbees_snapshot **made,
                         gbees_error *error)
{
    gbees_snapshot *new = calloc(1, sizeof *new);
    int complete = new != NULL;

    if (complete) {
        *new = *grid;
        memset(new->index, 0, sizeof new->index);
        new->samples = (gbees_sample_list){0}; /* they stay the other's */
        new->count = merge(cells, count);
        complete = (new->p = calloc(new->count + 1, sizeof *new->p)) != NULL;
    }
    for (int j = 0; complete && j < grid->dimension; j++) {
        complete = (new->index[j] = calloc(new->count + 1, sizeof *new->index[j])) != NULL;
        for (size_t i = 0; complete && i < new->count; i++)
            new->index[j][i] = cells[i].index[j];
    }
    for (size_t i = 0; complete && i < new->count; i++)
        new->p[i] = cells[i].p;
    if (!complete) {
        gbees_snapshot_destroy(new);
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for %zu cells", count);
    }
    *made = new;
    return GBEES_OK;
}

int gbees_compare_coarsen(const gbees_snapshot *snapshot, int factor, gbees_snapshot **coarse, gbees_error *error)
{
    const int n = snapshot->dimension;
    cell *cells = calloc(snapshot->count + 1, sizeof *cells);
    gbees_snapshot grid = *snapshot;
    int status;

    if (!cells)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for %zu cells", snapshot->count);
    for (size_t i = 0; i < snapshot->count; i++) {
        for (int j = 0; j < n; j++)
            cells[i].index[j] = divide(snapshot->index[j][i], factor);
        cells[i].p = snapshot->p[i];
    }
    shift_origin(&grid, snapshot, factor);
    for (int j = 0; j < n; j++)
        grid.width[j] = factor * snapshot->width[j];
    status = snapshot_make(&grid, cells, snapshot->count, coarse, error);
    free(cells);
    return status;
}

int gbees_compare_bin(const gbees_snapshot *grid, const gbees_montecarlo *montecarlo, gbees_snapshot **binned,
                      gbees_error *error)
{
    const size_t count = montecarlo->count;
    cell *cells = calloc(count, sizeof *cells);
    double sum = 0;
    int status;

    if (!cells)
        return gbees_error_set(error, GBEES_ENOMEM, "no memory to bin %zu samples", count);
    for (size_t i = 0; i < count; i++)
        sum += montecarlo->weight[i];
    for (size_t i = 0; i < count; i++) {
        for (int j = 0; j < grid->dimension; j++)
            cells[i].index[j] = (int32_t)floor(gbees_compare_place(grid, montecarlo, j, i) + 0.5);
        cells[i].p = montecarlo->weight[i] / sum;
    }
    status = snapshot_make(grid, cells, count, binned, error);
    free(cells);
    return status;
}

/* ---- between grids of the same axes ------------------------------------------------------------------------ */

/* The grid's cells whose centres are less than the width of one of the snapshot's cells from the centre of its cell
 * i: those to which it contributes. */
typedef struct reach {
    int32_t first[GBEES_MAX_DIM];
    int count[GBEES_MAX_DIM]; /* along each axis */
    size_t all;
} reach;

/* Along axis j, in cells of the grid: the centre of the snapshot's cell i. */
static double place_on(const gbees_snapshot *snapshot, const gbees_snapshot *grid, int j, size_t i)
{
    return (snapshot->origin[j] + snapshot->width[j] * snapshot->index[j][i] - grid->origin[j]) / grid->width[j];
}

static reach reach_of(const gbees_snapshot *snapshot, const gbees_snapshot *grid, size_t i)
{
    reach result = {.all = 1};

    for (int j = 0; j < grid->dimension; j++) {
        const double place = place_on(snapshot, grid, j, i), far = snapshot->width[j] / grid->width[j];

        result.first[j] = (int32_t)floor(place - far) + 1;
        result.count[j] = (int)(ceil(place + far) - floor(place - far)) - 1;
        result.all *= (size_t)result.count[j];
    }
    return result;
}

/* Fills the cells that cell i contributes to: its probability times the weights of linear interpolation. */
static void spread(const gbees_snapshot *snapshot, const gbees_snapshot *grid, size_t i, const reach *to, cell *cells)
{
    for (size_t k = 0; k < to->all; k++) {
        size_t rest = k;

        cells[k].p = snapshot->p[i];
        for (int j = 0; j < grid->dimension; j++) {
            const double ratio = grid->width[j] / snapshot->width[j];

            cells[k].index[j] = to->first[j] + (int32_t)(rest % (size_t)to->count[j]);
            rest /= (size_t)to->count[j];
            cells[k].p *= fmax(0, 1 - ratio * fabs(cells[k].index[j] - place_on(snapshot, grid, j, i))) * ratio;
        }
    }
}

int gbees_compare_transfer(const gbees_snapshot *snapshot, const gbees_snapshot *grid, gbees_snapshot **moved,
                           gbees_error *error)
{
    cell *cells = NULL;
    size_t count = 0;
    int status;

    if (snapshot->dimension != grid->dimension || snapshot->rotated || grid->rotated)
        return gbees_error_set(error, GBEES_EUSAGE,
                               "leg %d record %d: only grids along the model's axes can be compared", grid->leg,
                               grid->number);
    for (size_t i = 0; i < snapshot->count; i++)
        count += reach_of(snapshot, grid, i).all;
    if (!(cells = calloc(count + 1, sizeof *cells)))
        return gbees_error_set(error, GBEES_ENOMEM, "no memory for %zu cells", count);
    count = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        const reach to = reach_of(snapshot, grid, i);

        spread(snapshot, grid, i, &to, cells + count);
        count += to.all;
    }
    status = snapshot_make(grid, cells, count, moved, error);
    free(cells);
    return status;
}
