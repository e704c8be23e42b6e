/* density.c - sums a record's cells over the other states into a dense array, coarser if it would be too large, and
 * refines it by cubic interpolation of the root; or, if the grid is not along the states, has its cells spread. */
#include "density.h"
#include "base/workers.h"
#include <gbees/spread.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BORDER = 2 }; /* cells of 0 around the data: surfaces close, and interpolation needs no special case */
enum { BATCH = 1024, MOST_SPREAD = 1 << 21 };

static const double nothing = 1e-12; /* of the peak: rounding */

void gbees_density_destroy(gbees_density *density)
{
    if (density)
        free(density->value);
    free(density);
}

size_t gbees_density_count(const gbees_density *density)
{
    size_t count = 1;

    for (int d = 0; d < density->dimension; d++)
        count *= density->length[d];
    return count;
}

static void find_range(const int32_t *index, size_t count, int32_t *lo, int32_t *hi)
{
    *lo = *hi = index[0];
    for (size_t i = 1; i < count; i++) {
        if (index[i] < *lo)
            *lo = index[i];
        if (index[i] > *hi)
            *hi = index[i];
    }
}

/* Cells of the grid when `stride` cells are taken as one; lengths are set. */
static double shape(gbees_density *density, const int32_t *lo, const int32_t *hi, int64_t stride)
{
    double count = 1;

    for (int d = 0; d < density->dimension; d++) {
        density->length[d] = (size_t)(((int64_t)hi[d] - lo[d]) / stride + 1 + 2 * BORDER);
        count *= (double)density->length[d];
    }
    return count;
}

static void find_peak(gbees_density *density)
{
    const size_t count = gbees_density_count(density);

    density->peak = 0;
    for (size_t i = 0; i < count; i++)
        if (density->value[i] > density->peak)
            density->peak = density->value[i];
}

static void sum_cells(gbees_density *density, const gbees_snapshot *snapshot, const int32_t *lo, int64_t stride)
{
    double volume = 1;

    for (int d = 0; d < density->dimension; d++)
        volume *= density->width[d];
    for (size_t i = 0; i < snapshot->count; i++) {
        size_t place = 0;

        for (int d = 0; d < density->dimension; d++) {
            const int64_t cell = ((int64_t)snapshot->index[density->axis[d]][i] - lo[d]) / stride;

            place = place * density->length[d] + (size_t)cell + BORDER;
        }
        density->value[place] += snapshot->p[i] / volume;
    }
}

static double cubic(double a, double b, double c, double d, double u)
{
    const double value = b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));

    return value > 0 ? value : 0;
}

/* What stands for the border beside the outermost cell `end`, whose neighbour is `next`: 0 where a density vanishes
 * there, and else, at a wall or where a circle is cut, what does not make it steep. */
static double beyond(double end, double next)
{
    return fmax(0, fmin(end, 2 * end - next));
}

/* One axis of `length`, between `outer` slower and `inner` faster indices, that gets `factor` values for each. */
typedef struct refining {
    const double *from, *zeros; /* zeros: [inner], for what is beyond the border */
    size_t length, inner;
    int factor;
    double *to;
    size_t rows; /* of `to`: outer * length * factor */
} refining;

enum { ROWS = 64, VALUE_NS = 2 /* to make a value takes about as long */ };

/* Makes rows item * ROWS and those after it; called by gbees_workers_run(). */
static void refine_rows(void *context, size_t item)
{
    const refining *r = context;
    const size_t finer = r->length * (size_t)r->factor;
    const size_t last = (item + 1) * ROWS < r->rows ? (item + 1) * ROWS : r->rows;

    for (size_t number = item * ROWS; number < last; number++) {
        const double place = ((double)(number % finer) + 0.5) / r->factor - 0.5;
        const double left = floor(place), u = place - left;
        const double *first = r->from + number / finer * r->length * r->inner, *row[4];
        const int is_first = left == BORDER, is_last = left + 2 + BORDER == (double)r->length;
        double *to = r->to + number * r->inner;

        for (ptrdiff_t s = 0; s < 4; s++) {
            const ptrdiff_t cell = (ptrdiff_t)left - 1 + s;

            row[s] = cell < 0 || cell >= (ptrdiff_t)r->length ? r->zeros : first + (size_t)cell * r->inner;
        }
        for (size_t i = 0; i < r->inner; i++) {
            const int is_empty = row[0][i] == 0 && row[1][i] == 0 && row[2][i] == 0 && row[3][i] == 0;

            if (is_empty) { /* most are */
                to[i] = 0;
                continue;
            }
            to[i] = cubic(is_first ? beyond(row[1][i], row[2][i]) : row[0][i], row[1][i], row[2][i],
                          is_last ? beyond(row[2][i], row[1][i]) : row[3][i], u);
        }
    }
}

/* Replaces the values by their roots, which vary less from cell to cell. Returns the sum of the values. */
static double take_roots(gbees_density *density)
{
    const size_t count = gbees_density_count(density);
    double all = 0;

    for (size_t i = 0; i < count; i++) {
        all += density->value[i];
        density->value[i] = sqrt(density->value[i]);
    }
    return all;
}

/* Replaces roots by the values, and makes them such that their sum is `all`. */
static void take_squares(gbees_density *density, double all)
{
    const size_t count = gbees_density_count(density);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        density->value[i] *= density->value[i];
        sum += density->value[i];
    }
    for (size_t i = 0; i < count && sum > 0; i++)
        density->value[i] *= all / sum;
}

/* Cuts every cell into `factor` along each axis, unless there would then be more than `most` cells. */
static int refine(gbees_density *density, int factor, size_t most, gbees_error *error)
{
    if (factor == 1 || (double)gbees_density_count(density) * pow(factor, density->dimension) > (double)most)
        return GBEES_OK;
    const double before = take_roots(density);
    for (int d = density->dimension - 1; d >= 0; d--) { /* the longest rows for the largest array */
        const size_t count = gbees_density_count(density) * (size_t)factor;
        double *value = malloc(count * sizeof *value), *zeros;
        size_t inner = 1;

        for (int e = d + 1; e < density->dimension; e++)
            inner *= density->length[e];
        zeros = calloc(inner, sizeof *zeros);
        if (!value || !zeros) {
            free(value);
            free(zeros);
            return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
        }
        refining r = {density->value, zeros, density->length[d], inner, factor, value, count / inner};
        gbees_workers_run(gbees_workers_worth(0, (double)count * VALUE_NS), (r.rows + ROWS - 1) / ROWS, refine_rows,
                          &r);
        free(zeros);
        free(density->value);
        density->value = value;
        density->length[d] *= (size_t)factor;
        density->first[d] += density->width[d] * (0.5 / factor - 0.5);
        density->width[d] /= factor;
    }
    take_squares(density, before * pow(factor, density->dimension));
    return GBEES_OK;
}

/* ---- a grid along the states -------------------------------------------------------------------------------- */

/* Sums the cells, several as one if they would be too many. */
static int sum_grid(gbees_density *density, const gbees_snapshot *snapshot, size_t most, gbees_error *error)
{
    int32_t lo[3] = {0}, hi[3] = {0};
    int64_t stride = 1;

    for (int d = 0; d < density->dimension; d++)
        find_range(snapshot->index[density->axis[d]], snapshot->count, &lo[d], &hi[d]);
    while (shape(density, lo, hi, stride) > (double)most)
        stride++;
    for (int d = 0; d < density->dimension; d++) {
        const double h = snapshot->width[density->axis[d]];

        density->width[d] = h * (double)stride;
        density->first[d] = snapshot->origin[density->axis[d]] +
                            h * ((double)lo[d] + 0.5 * (double)(stride - 1) - (double)(BORDER * stride));
    }
    density->value = calloc(gbees_density_count(density), sizeof *density->value);
    if (!density->value)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
    sum_cells(density, snapshot, lo, stride);
    return GBEES_OK;
}

/* ---- any other grid ----------------------------------------------------------------------------------------- */

static void find_edges(const gbees_snapshot *snapshot, const gbees_density *density, gbees_spread_edges *edges)
{
    const int n = snapshot->dimension;

    edges->count = n;
    for (int d = 0; d < density->dimension; d++)
        for (int k = 0; k < n; k++)
            edges->along[d * n + k] = snapshot->rotation[density->axis[d] * n + k] * snapshot->width[k];
}

static void add_cells(gbees_spread *spread, const gbees_snapshot *snapshot, const gbees_density *density)
{
    double x[3][BATCH];

    for (size_t first = 0; first < snapshot->count; first += BATCH) {
        const size_t left = snapshot->count - first, count = left < BATCH ? left : BATCH;

        for (int d = 0; d < density->dimension; d++)
            for (size_t i = 0; i < count; i++)
                x[d][i] = gbees_snapshot_centre(snapshot, density->axis[d], first + i);
        gbees_spread_add(spread, count, (const double *const[]){x[0], x[1], x[2]}, snapshot->p + first);
    }
}

/* Copies what is not 0, with a border. */
static int copy_spread(gbees_density *density, const gbees_spread *spread, gbees_error *error)
{
    const size_t *length = spread->length, count = length[0] * length[1] * length[2];
    size_t lo[3] = {length[0], length[1], length[2]}, hi[3] = {0};
    double peak = 0, volume = 1;

    for (size_t i = 0; i < count; i++)
        peak = fmax(peak, spread->p[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0, at[3] = {i / length[2] / length[1], i / length[2] % length[1], i % length[2]};
             d < 3 && fabs(spread->p[i]) > nothing * peak; d++) {
            lo[d] = at[d] < lo[d] ? at[d] : lo[d];
            hi[d] = at[d] > hi[d] ? at[d] : hi[d];
        }
    for (int d = 0; d < density->dimension; d++) {
        density->length[d] = peak > 0 ? hi[d] - lo[d] + 1 + 2 * BORDER : 1;
        density->width[d] = spread->width[d];
        density->first[d] = spread->origin[d] + spread->width[d] * ((double)lo[d] - BORDER);
        volume *= spread->width[d];
    }
    density->value = calloc(gbees_density_count(density), sizeof *density->value);
    if (!density->value)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
    for (size_t i = 0; i < count && peak > 0; i++) {
        const size_t at[3] = {i / length[2] / length[1], i / length[2] % length[1], i % length[2]};
        size_t place = 0;
        int is_kept = 1;

        for (int d = 0; d < density->dimension; d++) {
            is_kept = is_kept && at[d] >= lo[d] && at[d] <= hi[d];
            place = place * density->length[d] + at[d] - lo[d] + BORDER;
        }
        if (is_kept)
            density->value[place] = spread->p[i] / volume;
    }
    return GBEES_OK;
}

static int spread_cells(gbees_density *density, const gbees_snapshot *snapshot, const gbees_density_choice *choice,
                        gbees_error *error)
{
    gbees_spread_shape shape = {.dimension = density->dimension,
                                .entries = density->dimension == 3 ? 2 : 8,
                                .limit = choice->most < MOST_SPREAD ? choice->most : MOST_SPREAD};
    gbees_spread *spread;

    for (int d = 0; d < density->dimension; d++) {
        shape.least[d] = INFINITY;
        shape.most[d] = -INFINITY;
        for (size_t i = 0; i < snapshot->count; i++) {
            const double x = gbees_snapshot_centre(snapshot, density->axis[d], i);

            shape.least[d] = fmin(shape.least[d], x);
            shape.most[d] = fmax(shape.most[d], x);
        }
    }
    find_edges(snapshot, density, &shape.edges);
    int status = gbees_spread_create(&shape, &spread, error);
    if (status)
        return status;
    add_cells(spread, snapshot, density);
    gbees_spread_finish(spread, &shape.edges);
    status = copy_spread(density, spread, error);
    gbees_spread_destroy(spread);
    return status;
}

/* ---- both --------------------------------------------------------------------------------------------------- */

int gbees_density_create(const gbees_snapshot *snapshot, const gbees_density_choice *choice, gbees_density **density,
                         gbees_error *error)
{
    gbees_density *made;
    int status;

    if (snapshot->count == 0)
        return gbees_error_set(error, GBEES_EINPUT, "leg %d, record %d has no cells: there is nothing to draw",
                               snapshot->leg, snapshot->number);
    made = calloc(1, sizeof *made);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
    made->dimension = choice->dimension;
    memcpy(made->axis, choice->axis, sizeof made->axis);
    if (snapshot->rotated)
        status = spread_cells(made, snapshot, choice, error);
    else {
        status = sum_grid(made, snapshot, choice->most, error);
        if (!status)
            status = refine(made, choice->factor, choice->most, error);
    }
    if (!status)
        find_peak(made);
    if (!status && (!(made->peak > 0) || !isfinite(made->peak)))
        status =
            gbees_error_set(error, GBEES_EINPUT, "leg %d, record %d holds no probability: there is nothing to draw",
                            snapshot->leg, snapshot->number);
    if (status)
        gbees_density_destroy(made);
    else
        *density = made;
    return status;
}

void gbees_density_range(const gbees_density *density, int axis, double level, double *lo, double *hi)
{
    const size_t count = gbees_density_count(density);
    size_t inner = 1, first = density->length[axis], last = 0;

    for (int e = axis + 1; e < density->dimension; e++)
        inner *= density->length[e];
    for (size_t i = 0; i < count; i++)
        if (density->value[i] >= level * density->peak) {
            const size_t k = i / inner % density->length[axis];

            first = k < first ? k : first;
            last = k > last ? k : last;
        }
    *lo = density->first[axis] + density->width[axis] * ((double)first - 0.5);
    *hi = density->first[axis] + density->width[axis] * ((double)last + 0.5);
}
