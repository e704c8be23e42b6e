/* compare.c - see compare.h; the kernel density estimate is in kernel.c. */
#include "compare.h"
#include <math.h>
#include <stdlib.h>

static double total(const gbees_snapshot *snapshot)
{
    double sum = 0;

    for (size_t i = 0; i < snapshot->count; i++)
        sum += snapshot->p[i];
    return sum;
}

/* Order of cell i of `a` and cell k of `b`, axis 0 slowest: how records are sorted. */
static int cell_order(const gbees_snapshot *a, size_t i, const gbees_snapshot *b, size_t k)
{
    for (int j = 0; j < a->dimension; j++) {
        if (a->index[j][i] != b->index[j][k])
            return a->index[j][i] < b->index[j][k] ? -1 : 1;
    }
    return 0;
}

static int check_sorted(const gbees_snapshot *snapshot, gbees_error *error)
{
    for (size_t i = 1; i < snapshot->count; i++) {
        if (cell_order(snapshot, i - 1, snapshot, i) >= 0)
            return gbees_error_set(error, GBEES_EINPUT,
                                   "leg %d record %d: cells %zu and %zu are not in order; is the record damaged?",
                                   snapshot->leg, snapshot->number, i - 1, i);
    }
    if (!(total(snapshot) > 0))
        return gbees_error_set(error, GBEES_EINPUT, "leg %d record %d: its cells have no probability", snapshot->leg,
                               snapshot->number);
    return GBEES_OK;
}

/* ---- moments ---------------------------------------------------------------------------------------------- */

double gbees_compare_mean(int dimension, const gbees_sample_moments *moments, const gbees_sample_moments *truth)
{
    double square = 0;

    for (int j = 0; j < dimension; j++) {
        double error = (moments->mean[j] - truth->mean[j]) / truth->std[j];

        square += error * error;
    }
    return sqrt(square / dimension);
}

double gbees_compare_spread(int dimension, const gbees_sample_moments *moments, const gbees_sample_moments *truth)
{
    double square = 0;

    for (int j = 0; j < dimension; j++) {
        double error = moments->std[j] / truth->std[j] - 1;

        square += error * error;
    }
    return sqrt(square / dimension);
}

/* ---- samples in cells ------------------------------------------------------------------------------------- */

double gbees_compare_place(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, int axis, size_t i)
{
    const int n = snapshot->dimension;
    double sum = 0;

    if (!snapshot->rotated)
        return (montecarlo->x[axis][i] - snapshot->origin[axis]) / snapshot->width[axis];
    for (int k = 0; k < n; k++)
        sum += snapshot->inverse[axis * n + k] * (montecarlo->x[k][i] - snapshot->origin[k]);
    return sum / snapshot->width[axis];
}

/* The cell that holds sample i, by bisection; snapshot->count if it is not recorded. */
static size_t cell_find(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, size_t i)
{
    double place[GBEES_MAX_DIM] = {0}; /* a double holds any index, however far away the sample is */
    size_t lo = 0, hi = snapshot->count;

    for (int j = 0; j < snapshot->dimension; j++)
        place[j] = floor(gbees_compare_place(snapshot, montecarlo, j, i) + 0.5);
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int axis = 0;

        while (axis < snapshot->dimension && place[axis] == snapshot->index[axis][middle])
            axis++;
        if (axis == snapshot->dimension)
            return middle;
        if (snapshot->index[axis][middle] < place[axis])
            lo = middle + 1;
        else
            hi = middle;
    }
    return snapshot->count;
}

/* Adds up the samples' weights by cell (the last entry: outside of all), in the samples' order: the same bits for any
 * number of threads. */
static void cells_fill(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, double *weight)
{
    enum { CHUNK = 65536 };
    size_t cell[CHUNK];

    for (size_t first = 0; first < montecarlo->count; first += CHUNK) {
        const size_t left = montecarlo->count - first, count = left < CHUNK ? left : CHUNK;

#pragma omp parallel for num_threads(gbees_montecarlo_threads(montecarlo))
        for (size_t i = 0; i < count; i++)
            cell[i] = cell_find(snapshot, montecarlo, first + i);
        for (size_t i = 0; i < count; i++)
            weight[cell[i]] += montecarlo->weight[first + i];
    }
}

int gbees_compare_binned(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, double *coefficient,
                         double *covered, gbees_error *error)
{
    double sum = 0, inside = 0, samples = 0, *weight;
    int status = check_sorted(snapshot, error);

    if (status)
        return status;
    if (!(weight = calloc(snapshot->count + 1, sizeof *weight)))
        return gbees_error_set(error, GBEES_ENOMEM, "no memory to bin samples in %zu cells", snapshot->count);
    cells_fill(snapshot, montecarlo, weight);
    for (size_t i = 0; i < snapshot->count; i++) {
        sum += sqrt(snapshot->p[i] * weight[i]);
        inside += weight[i];
    }
    samples = inside + weight[snapshot->count];
    *coefficient = sum / sqrt(samples * total(snapshot));
    if (covered)
        *covered = inside / samples;
    free(weight);
    return GBEES_OK;
}

/* ---- marginals -------------------------------------------------------------------------------------------- */

/* Sums by index along an axis: entry 1 + i is index lo + i, entry 0 what is below, the last what is above. */
static void samples_marginal(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, int axis, int32_t lo,
                             size_t length, double *sum)
{
    for (size_t i = 0; i < montecarlo->count; i++) {
        double place = floor(gbees_compare_place(snapshot, montecarlo, axis, i) + 0.5) - lo + 1;

        sum[place < 1 ? 0 : place > (double)length ? length + 1 : (size_t)place] += montecarlo->weight[i];
    }
}

static int marginal_distance(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, int axis,
                             double *distance)
{
    const int32_t *const index = snapshot->index[axis];
    int32_t lo = index[0], hi = index[0];
    double *grid, *samples, largest = 0, sum = 0, all = 0;
    size_t length;

    for (size_t i = 1; i < snapshot->count; i++) {
        lo = index[i] < lo ? index[i] : lo;
        hi = index[i] > hi ? index[i] : hi;
    }
    length = (size_t)((int64_t)hi - lo + 1);
    if (!(grid = calloc(2 * (length + 2), sizeof *grid)))
        return GBEES_ENOMEM;
    samples = grid + length + 2;
    for (size_t i = 0; i < snapshot->count; i++)
        grid[1 + (size_t)((int64_t)index[i] - lo)] += snapshot->p[i];
    samples_marginal(snapshot, montecarlo, axis, lo, length, samples);
    for (size_t i = 0; i < length + 2; i++) {
        sum += grid[i];
        all += samples[i];
    }
    for (size_t i = 0; i < length + 2; i++) {
        grid[i] = grid[i] / sum - samples[i] / all + (i ? grid[i - 1] : 0);
        largest = fmax(largest, fabs(grid[i]));
    }
    free(grid);
    *distance = largest;
    return GBEES_OK;
}

int gbees_compare_marginals(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, double *distance,
                            gbees_error *error)
{
    double result[GBEES_MAX_DIM] = {0};
    int status = check_sorted(snapshot, error);

    for (int j = 0; j < snapshot->dimension && !status; j++) {
        status = marginal_distance(snapshot, montecarlo, j, &result[j]);
        if (status)
            gbees_error_set(error, GBEES_ENOMEM, "no memory for the marginal of axis %d", j);
    }
    for (int j = 0; j < snapshot->dimension && !status; j++)
        distance[j] = result[j];
    return status;
}

/* ---- two records ------------------------------------------------------------------------------------------ */

static int same_grid(const gbees_snapshot *a, const gbees_snapshot *b)
{
    if (a->dimension != b->dimension)
        return 0;
    for (int j = 0; j < a->dimension; j++) {
        if (fabs(a->origin[j] - b->origin[j]) > 1e-9 * a->width[j] ||
            fabs(a->width[j] - b->width[j]) > 1e-12 * a->width[j])
            return 0;
    }
    for (int k = 0; k < a->dimension * a->dimension; k++) {
        if (fabs(a->rotation[k] - b->rotation[k]) > 1e-12)
            return 0;
    }
    return 1;
}

int gbees_compare_l1(const gbees_snapshot *a, const gbees_snapshot *b, double *distance, double *coefficient,
                     gbees_error *error)
{
    double sum = 0, product = 0, scale_a, scale_b;
    size_t i = 0, k = 0;
    int status = check_sorted(a, error);

    if (!status)
        status = check_sorted(b, error);
    if (status)
        return status;
    if (!same_grid(a, b))
        return gbees_error_set(error, GBEES_EUSAGE,
                               "leg %d record %d: the two grids differ; compare runs with the same mean and widths",
                               a->leg, a->number);
    scale_a = 1 / total(a);
    scale_b = 1 / total(b);
    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : cell_order(a, i, b, k);
        double p = order <= 0 ? a->p[i++] * scale_a : 0;
        double q = order >= 0 ? b->p[k++] * scale_b : 0;

        sum += fabs(p - q);
        product += sqrt(p * q);
    }
    *distance = sum;
    *coefficient = product;
    return GBEES_OK;
}
