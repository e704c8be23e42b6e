/* valley.c - sums marginals along the eigenvectors of the cells' covariance, and looks in each for the deepest place
 * between two peaks. */
#include "valley.h"
#include "matrix.h"
#include <math.h>

/* Bins of the marginal along an eigenvector: their number, the mean in the middle of the range, and their width in
 * standard deviations. They are no narrower than a cell's diagonal, or the grid itself would look like valleys. */
enum { BINS = 61 };
static const double bin_part = 0.2, bin_least = 1.5;
/* Standard deviations, in cells, below which an axis can't have a valley that is resolved. */
static const double resolved = 2;
/* How much lower than both sides a valley is, and how much of the mass a peak's bin has. */
static const double depth_least = 20, peak_least = 1e-3;

typedef struct marginal {
    double width, middle, sum; /* of a bin; the mean along the direction; of all P */
    double p[BINS];
} marginal;

static void find_moments(const gbees_initial_cells *cells, int n, double *mass, double *mean, double *covariance)
{
    double sum = 0, y[GBEES_MAX_DIM] = {0}, yy[GBEES_MATRIX] = {0};

    for (size_t i = 0; i < cells->count; i++) {
        sum += cells->p[i];
        for (int j = 0; j < n; j++) {
            const double part = cells->p[i] * cells->index[j][i];

            y[j] += part;
            for (int k = 0; k <= j; k++)
                yy[j * n + k] += part * cells->index[k][i];
        }
    }
    *mass = sum;
    for (int j = 0; j < n; j++)
        mean[j] = y[j] / sum;
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++)
            covariance[j * n + k] = covariance[k * n + j] = yy[j * n + k] / sum - mean[j] * mean[k];
}

static double along(const double *direction, const gbees_initial_cells *cells, int n, size_t cell)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += direction[j] * cells->index[j][cell];
    return sum;
}

static void fill(const gbees_initial_cells *cells, int n, const double *direction, marginal *m)
{
    for (int b = 0; b < BINS; b++)
        m->p[b] = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const double bin = floor((along(direction, cells, n, i) - m->middle) / m->width + BINS / 2.0);

        if (bin >= 0 && bin < BINS)
            m->p[(int)bin] += cells->p[i];
    }
}

/* How many times lower than both sides the deepest valley of a marginal is; its bins are *first ... *last, all of
 * them as low. 0: there is none between peaks of any mass. */
static double find_depth(const marginal *m, int *first, int *last)
{
    double left[BINS], right[BINS], deepest = 0;

    left[0] = m->p[0];
    right[BINS - 1] = m->p[BINS - 1];
    for (int b = 1; b < BINS; b++) {
        left[b] = fmax(left[b - 1], m->p[b]);
        right[BINS - 1 - b] = fmax(right[BINS - b], m->p[BINS - 1 - b]);
    }
    for (int b = 1; b + 1 < BINS; b++) {
        const double side = fmin(left[b], right[b]), depth = side / (m->p[b] + 1e-6 * m->sum);

        if (!(side > peak_least * m->sum) || depth < deepest)
            continue;
        if (depth > deepest)
            *first = *last = b;
        else if (*last == b - 1)
            *last = b;
        deepest = depth;
    }
    return deepest;
}

int gbees_valley_find(const gbees_initial_cells *cells, int n, gbees_valley *valley)
{
    double mean[GBEES_MAX_DIM], vectors[GBEES_MATRIX], variance[GBEES_MAX_DIM], deepest = depth_least;
    marginal m;
    int found = 0;

    find_moments(cells, n, &m.sum, mean, vectors);
    if (!(m.sum > 0) || gbees_matrix_eigen(n, vectors, variance))
        return 0;
    for (int e = 0; e < n; e++) {
        double direction[GBEES_MAX_DIM];
        int first = 0, last = 0;

        if (!(variance[e] > resolved * resolved))
            continue;
        m.middle = 0;
        for (int j = 0; j < n; j++) {
            direction[j] = vectors[j * n + e];
            m.middle += direction[j] * mean[j];
        }
        m.width = fmax(bin_part * sqrt(variance[e]), bin_least);
        fill(cells, n, direction, &m);
        const double depth = find_depth(&m, &first, &last);
        if (!(depth > deepest))
            continue;
        deepest = depth;
        found = 1;
        for (int j = 0; j < n; j++)
            valley->direction[j] = direction[j];
        valley->at = m.middle + m.width * ((first + last + 1) / 2.0 - BINS / 2.0);
    }
    return found;
}

int gbees_valley_side(const gbees_valley *valley, const gbees_initial_cells *cells, int n, size_t cell)
{
    return along(valley->direction, cells, n, cell) > valley->at;
}
