/* divide.c - divides along the axis by which most is won, and reduces the edges of what results, as lattices are
 * reduced; see divide.h. */
#include "divide.h"
#include "base/clones.h"
#include <math.h>

enum {
    ROUNDS = 8,   /* of reductions, at most */
    SAMPLES = 256 /* lattice cells from which extents and numbers of parts are estimated */
};

/* Parts that are no wider than the least are fine enough, in cells of the grid; wider ones than the most are not, but
 * there are no more parts than so many to make them narrower. */
static const double least_width = 1 / 32., most_width = 1 / 3., most_parts = 2e7;
/* How long a part may be, also across several lattice cells, over the root of the mean square of the log weight's
 * derivative: sums over parts are still as good as integrals. */
static const double longest = 1.1;

/* ---- the extents of a part ---- */

/* The edges of a part: their images over the largest width of a part, and their own coordinates over the longest that
 * these may be. */
typedef struct reduced {
    int n;
    double edge[GBEES_MAX_DIM][2 * GBEES_MAX_DIM];
} reduced;

static inline double product(int size, const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < size; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Subtracts whole multiples of the edges from each other until none becomes shorter. */
static inline void reduce(reduced *r)
{
    const int n = r->n;
    int changed = 1;

    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = 0;
        for (int k = 0; k < n; k++) {
            const double square = product(2 * n, r->edge[k], r->edge[k]);

            for (int i = 0; i < n; i++) {
                const double times = i == k ? 0 : rint(product(2 * n, r->edge[i], r->edge[k]) / square);

                for (int j = 0; j < 2 * n && times != 0; j++)
                    r->edge[i][j] -= times * r->edge[k][j];
                changed |= times != 0;
            }
        }
    }
}

GBEES_PROCESSOR_CLONES void gbees_divide_extents(const gbees_image *image, uint32_t point, const int *count,
                                                 double *extent)
{
    const int n = image->n;
    reduced r = {.n = n};

    for (int k = 0; k < n; k++) {
        const double *slope = gbees_image_slope(image, point, k);

        for (int j = 0; j < n; j++)
            r.edge[k][j] = slope[j] / (most_width * count[k]);
        r.edge[k][n + k] = fmax(sqrt(image->fisher[k]), 1e-3) / (longest * count[k]);
    }
    reduce(&r);
    for (int j = 0; j < n; j++) {
        double square = 0;

        for (int k = 0; k < n; k++)
            square += r.edge[k][j] * r.edge[k][j] * most_width * most_width;
        extent[j] = sqrt(square);
    }
}

/* ---- numbers of parts ---- */

static double log_mass_of(const gbees_image *image, uint32_t point)
{
    return image->value[(size_t)point * (size_t)image->values + (size_t)image->n];
}

double gbees_divide_point(const gbees_image *image, uint32_t point, const int *all, int *count)
{
    const double halvings = fmin(fmax((image->typical - log_mass_of(image, point)) / log(256), 0), 8);
    double parts = 1;

    for (int k = 0; k < image->n; k++) {
        count[k] = all[k] >> (int)halvings;
        count[k] += count[k] == 0;
        parts *= count[k];
    }
    return parts;
}

/* An estimate of the number of parts around all points. */
static double expect(const gbees_image *image, const int *all)
{
    const uint32_t step = image->count / SAMPLES + 1;
    int count[GBEES_MAX_DIM];
    double parts = 0;

    for (uint32_t i = 0; i < image->count; i += step)
        parts += step * gbees_divide_point(image, i, all, count);
    return parts;
}

/* Sets square[n] to the mean squares of a part's extents along the grid's axes where most of the mass is; returns
 * their mean. */
static double mean_square(const gbees_image *image, const int *count, double *square)
{
    const int n = image->n;
    const uint32_t step = image->count / SAMPLES + 1;
    double all = 0, mean = 0;

    for (int j = 0; j < n; j++)
        square[j] = 0;
    for (uint32_t i = 0; i < image->count; i += step) {
        const double mass = exp(fmax(log_mass_of(image, i) - image->typical, -700));
        double extent[GBEES_MAX_DIM];

        if (mass < 0.1 && i > 0)
            continue;
        gbees_divide_extents(image, i, count, extent);
        for (int j = 0; j < n; j++)
            square[j] += mass * extent[j] * extent[j];
        all += mass;
    }
    for (int j = 0; j < n; j++)
        mean += (square[j] /= all) / n;
    return mean;
}

/* Divides once more along the axis along which that makes parts narrowest. Returns their mean square, infinite if
 * there are as many as may be. */
static double divide_more(const gbees_image *image, int *count)
{
    double square[GBEES_MAX_DIM], least = INFINITY, all = 1;
    int axis = -1;

    for (int k = 0; k < image->n; k++)
        all *= count[k];
    for (int k = 0; k < image->n && 2 * all <= GBEES_DIVIDE_ALL; k++) {
        if (2 * count[k] > GBEES_DIVIDE_MOST)
            continue;
        count[k] *= 2;
        const double mean = mean_square(image, count, square);
        count[k] /= 2;
        if (mean < least) {
            least = mean;
            axis = k;
        }
    }
    if (axis >= 0)
        count[axis] *= 2;
    return least;
}

/* Halves the largest number of parts. */
static void divide_less(int n, int *count)
{
    int axis = 0;

    for (int k = 1; k < n; k++)
        axis = count[k] > count[axis] ? k : axis;
    count[axis] -= count[axis] / 2;
}

void gbees_divide(const gbees_image *image, double most, int coarser, int *count, double *square)
{
    int next[GBEES_MAX_DIM];

    for (int k = 0; k < image->n; k++)
        count[k] = next[k] = 1;
    for (double mean = mean_square(image, count, square); mean > least_width * least_width;) {
        const double may_be = mean > most_width * most_width ? most_parts : fmin(most, most_parts);

        mean = divide_more(image, next);
        if (isinf(mean) || expect(image, next) > may_be)
            break;
        for (int k = 0; k < image->n; k++)
            count[k] = next[k];
    }
    for (int k = 0; k < coarser; k++)
        divide_less(image->n, count);
    mean_square(image, count, square);
}
