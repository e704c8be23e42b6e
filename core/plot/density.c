/* density.c - sums a record's cells over the other states into a dense array, coarser if it would be too large; a
 * rotated grid's cells are spread over neighbours. Refines the array by cubic interpolation. */
#include "density.h"
#include "base/workers.h"
#include <math.h>
#include <stdlib.h>

enum { THIRDS = 3 };
enum { BORDER = 2 }; /* cells of 0 around the data: surfaces close, and interpolation needs no special case */

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

/* The extent of a cell with these edges along a state. */
static double extent_along(const gbees_snapshot *snapshot, const double *edges, int axis)
{
    const int n = snapshot->dimension;
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += pow(edges[axis * n + k] * snapshot->width[k], 2);
    return sqrt(sum);
}

/* The extent of a rotated grid's cells along a state; of several modes the least. */
static double rotated_width(const gbees_snapshot *snapshot, int axis)
{
    double least = extent_along(snapshot, snapshot->rotation, axis);

    for (int k = 0; k < snapshot->mode_count; k++)
        least = fmin(least, extent_along(snapshot, snapshot->mode[k].rotation, axis));
    return least;
}

/* The range of a rotated grid along a state, in those extents from the origin. */
static void find_rotated_range(const gbees_snapshot *snapshot, int axis, int32_t *lo, int32_t *hi)
{
    const double width = rotated_width(snapshot, axis);
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < snapshot->count; i++) {
        const double place = (gbees_snapshot_centre(snapshot, axis, i) - snapshot->origin[axis]) / width;

        least = fmin(least, place);
        most = fmax(most, place);
    }
    *lo = (int32_t)floor(least);
    *hi = (int32_t)floor(most) + 1;
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

/* Adds a point of a rotated grid to the neighbouring cells of the picture, with multilinear weights. */
static void add_point(gbees_density *density, const double *x, double value)
{
    double below[3] = {0}, rest[3] = {0};

    for (int d = 0; d < density->dimension; d++) {
        const double place = (x[d] - density->first[d]) / density->width[d];

        below[d] = floor(place);
        rest[d] = place - below[d];
    }
    for (int corner = 0; corner < 1 << density->dimension; corner++) {
        double part = value;
        size_t place = 0;

        for (int d = 0; d < density->dimension; d++) {
            const int up = corner >> d & 1;

            part *= up ? rest[d] : 1 - rest[d];
            place = place * density->length[d] + (size_t)((int64_t)below[d] + up);
        }
        density->value[place] += part;
    }
}

/* Sums the cells of a rotated grid into those of the picture. With few axes interference of the two grids would show:
 * then a cell counts as THIRDS points along each axis. */
static void sum_rotated(gbees_density *density, const gbees_snapshot *snapshot)
{
    const int n = snapshot->dimension, thirds = n <= 3 ? THIRDS : 1;
    double volume = 1;
    int points = 1;

    for (int d = 0; d < density->dimension; d++)
        volume *= density->width[d];
    for (int k = 0; k < n; k++)
        points *= thirds;
    for (size_t i = 0; i < snapshot->count; i++) {
        const gbees_snapshot_mode *mode = gbees_snapshot_mode_of(snapshot, i);
        const double *const edges = mode ? mode->rotation : snapshot->rotation;

        for (int point = 0; point < points; point++) {
            double x[3];

            for (int d = 0; d < density->dimension; d++) {
                x[d] = gbees_snapshot_centre(snapshot, density->axis[d], i);
                for (int k = 0, digits = point; k < n; k++, digits /= thirds)
                    x[d] += edges[density->axis[d] * n + k] * snapshot->width[k] * (digits % thirds - thirds / 2) /
                            thirds;
            }
            add_point(density, x, snapshot->p[i] / volume / points);
        }
    }
}

int gbees_density_create(const gbees_snapshot *snapshot, int dimension, const int *axis, size_t most,
                         gbees_density **density, gbees_error *error)
{
    int32_t lo[3] = {0}, hi[3] = {0};
    int64_t stride = 1;
    gbees_density *made;

    if (snapshot->count == 0)
        return gbees_error_set(error, GBEES_EINPUT, "leg %d, record %d has no cells: there is nothing to draw",
                               snapshot->leg, snapshot->number);
    made = calloc(1, sizeof *made);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
    made->dimension = dimension;
    for (int d = 0; d < dimension; d++) {
        made->axis[d] = axis[d];
        if (snapshot->rotated)
            find_rotated_range(snapshot, axis[d], &lo[d], &hi[d]);
        else
            find_range(snapshot->index[axis[d]], snapshot->count, &lo[d], &hi[d]);
    }
    while (shape(made, lo, hi, stride) > (double)most)
        stride++;
    for (int d = 0; d < dimension && snapshot->rotated; d++) { /* points are spread to the next cells */
        lo[d] -= 2 * (int32_t)stride;
        hi[d] += 2 * (int32_t)stride;
    }
    (void)shape(made, lo, hi, stride);
    for (int d = 0; d < dimension; d++) {
        const double h = snapshot->rotated ? rotated_width(snapshot, axis[d]) : snapshot->width[axis[d]];

        made->width[d] = h * (double)stride;
        made->first[d] =
            snapshot->origin[axis[d]] + h * ((double)lo[d] + 0.5 * (double)(stride - 1) - (double)(BORDER * stride));
    }
    made->value = calloc(gbees_density_count(made), sizeof *made->value);
    if (!made->value) {
        gbees_density_destroy(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw a density");
    }
    if (snapshot->rotated)
        sum_rotated(made, snapshot);
    else
        sum_cells(made, snapshot, lo, stride);
    find_peak(made);
    if (!(made->peak > 0) || !isfinite(made->peak)) {
        gbees_density_destroy(made);
        return gbees_error_set(error, GBEES_EINPUT,
                               "leg %d, record %d holds no probability: there is nothing to draw", snapshot->leg,
                               snapshot->number);
    }
    *density = made;
    return GBEES_OK;
}

static double cubic(double a, double b, double c, double d, double u)
{
    const double value = b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));

    return value > 0 ? value : 0;
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
        double *to = r->to + number * r->inner;

        for (ptrdiff_t s = 0; s < 4; s++) {
            const ptrdiff_t cell = (ptrdiff_t)left - 1 + s;

            row[s] = cell < 0 || cell >= (ptrdiff_t)r->length ? r->zeros : first + (size_t)cell * r->inner;
        }
        for (size_t i = 0; i < r->inner; i++) {
            const int is_empty = row[0][i] == 0 && row[1][i] == 0 && row[2][i] == 0 && row[3][i] == 0;

            to[i] = is_empty ? 0 : cubic(row[0][i], row[1][i], row[2][i], row[3][i], u); /* most are empty */
        }
    }
}

int gbees_density_refine(gbees_density *density, int factor, size_t most, gbees_error *error)
{
    if ((double)gbees_density_count(density) * pow(factor, density->dimension) > (double)most)
        return GBEES_OK;
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
    find_peak(density);
    return GBEES_OK;
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
