/* marginal.c - see marginal.h. */
#include "marginal.h"
#include <math.h>
#include <stdlib.h>

enum {
    PARTS = 4,           /* of a cell, for the integral */
    BEYOND_MOST = 100000 /* cells beyond the grid's, on each side; samples further out count as being there */
};

/* The range of cells that holds the grid's and the samples'. */
static void find_range(const gbees_marginal_pair *pair, double *lo, double *hi)
{
    const double first = pair->first, last = first + (double)pair->length - 1;

    *lo = first;
    *hi = last;
    for (size_t i = 0; i < pair->count; i++) {
        if (!(pair->weight[i] > 0))
            continue;
        *lo = fmin(*lo, floor(pair->place[i] + 0.5));
        *hi = fmax(*hi, floor(pair->place[i] + 0.5));
    }
    *lo = fmax(*lo, first - BEYOND_MOST);
    *hi = fmin(*hi, last + BEYOND_MOST);
}

/* The integral of |d| over a unit length in which d goes linearly from a to b. */
static double area(double a, double b)
{
    const double sum = fabs(a) + fabs(b);

    return a * b >= 0 || sum == 0 ? sum / 2 : (a * a + b * b) / (2 * sum);
}

int gbees_marginal_distance(const gbees_marginal_pair *pair, double *wasserstein, double *kolmogorov)
{
    double lo, hi, all_cells = 0, all_samples = 0, before = 0, *part;

    find_range(pair, &lo, &hi);
    const size_t cells = (size_t)(hi - lo) + 1, skipped = (size_t)(pair->first - lo);
    if (!(part = calloc(cells * PARTS, sizeof *part)))
        return GBEES_ENOMEM;
    for (size_t i = 0; i < pair->count; i++) {
        const double at = floor((pair->place[i] + 0.5 - lo) * PARTS);

        part[at < 0 ? 0 : at >= (double)(cells * PARTS) ? cells * PARTS - 1 : (size_t)at] -= pair->weight[i];
        all_samples += pair->weight[i];
    }
    for (size_t i = 0; i < pair->length; i++)
        all_cells += pair->p[i];
    *wasserstein = *kolmogorov = 0;
    for (size_t k = 0; k < cells * PARTS; k++) {
        const size_t cell = k / PARTS;
        const int inside = cell >= skipped && cell - skipped < pair->length;
        const double here =
            before + (inside ? pair->p[cell - skipped] / all_cells / PARTS : 0) + part[k] / all_samples;

        *wasserstein += area(before, here) / PARTS;
        if ((k + 1) % PARTS == 0)
            *kolmogorov = fmax(*kolmogorov, fabs(here));
        before = here;
    }
    free(part);
    return GBEES_OK;
}
