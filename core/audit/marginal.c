/* marginal.c - counts samples in quarters of a cell, and compares their distribution function with the grid's: its
 * largest difference, and the area between both. */
#include "marginal.h"
#include "samples.h"
#include <math.h>
#include <stdlib.h>

enum {
    QUARTERS = 4,        /* of a cell, for the integral */
    BEYOND_MOST = 100000 /* cells beyond the grid's, on each side; samples further out count as being there */
};

int gbees_marginal_open(gbees_marginal *marginal, double least, double most)
{
    const double first = marginal->first, last = first + (double)marginal->length - 1;
    const double lo = fmax(fmin(first, floor(least + 0.5)), first - BEYOND_MOST),
                 hi = fmin(fmax(last, floor(most + 0.5)), last + BEYOND_MOST);

    marginal->lo = lo;
    marginal->cells = (size_t)(hi - lo) + 1;
    marginal->count = calloc(marginal->cells * QUARTERS * GBEES_WORKERS_PARTS, sizeof *marginal->count);
    return marginal->count ? GBEES_OK : GBEES_ENOMEM;
}

void gbees_marginal_close(gbees_marginal *marginal)
{
    free(marginal->count);
    marginal->count = NULL;
}

/* The quarter of a cell that each place is in, at most `last`, counted from the lower face of cell `lo`. */
GBEES_PROCESSOR_CLONES static void find_quarters(size_t count, const double *restrict place, double lo, int32_t last,
                                                 int32_t *restrict quarter)
{
    for (size_t i = 0; i < count; i++) {
        const double at = (place[i] + 0.5 - lo) * QUARTERS, above = at > 0 ? at : 0;

        quarter[i] = (int32_t)(above < last ? above : last);
    }
}

void gbees_marginal_add(gbees_marginal *marginal, size_t part, size_t count, const double *place,
                        const double *weight)
{
    const size_t quarters = marginal->cells * QUARTERS;
    double *sum = marginal->count + part * quarters;
    int32_t quarter[SAMPLES_BLOCK];

    for (size_t first = 0; first < count; first += SAMPLES_BLOCK) {
        const size_t some = count - first < SAMPLES_BLOCK ? count - first : SAMPLES_BLOCK;

        find_quarters(some, place + first, marginal->lo, (int32_t)(quarters - 1), quarter);
        for (size_t i = 0; i < some; i++)
            sum[quarter[i]] += weight[first + i];
    }
}

double gbees_marginal_kurtosis(const gbees_marginal *marginal)
{
    double sum = 0, mean = 0, second = 0, fourth = 0;

    for (size_t i = 0; i < marginal->length; i++) {
        sum += marginal->p[i];
        mean += marginal->p[i] * (double)i;
    }
    mean /= sum;
    for (size_t i = 0; i < marginal->length; i++) {
        const double square = ((double)i - mean) * ((double)i - mean);

        second += marginal->p[i] * square;
        fourth += marginal->p[i] * square * square;
    }
    return fourth * sum / (second * second);
}

/* The integral of |d| over a unit length in which d goes linearly from a to b. */
static double area(double a, double b)
{
    const double sum = fabs(a) + fabs(b);

    return a * b >= 0 || sum == 0 ? sum / 2 : (a * a + b * b) / (2 * sum);
}

/* Sums the samples of the parts of an even or an odd number in a cell, quarters together. */
static double count_half(const gbees_marginal *marginal, size_t odd, size_t cell)
{
    double sum = 0;

    for (size_t part = odd; part < GBEES_WORKERS_PARTS; part += 2)
        for (size_t k = 0; k < QUARTERS; k++)
            sum += marginal->count[(part * marginal->cells + cell) * QUARTERS + k];
    return sum;
}

double gbees_marginal_variation(const gbees_marginal *marginal)
{
    const size_t skipped = (size_t)(marginal->first - marginal->lo);
    double all = 0, half[2] = {0, 0}, found = 0;

    for (size_t i = 0; i < marginal->length; i++)
        all += marginal->p[i];
    for (size_t cell = 0; cell < marginal->cells; cell++)
        for (size_t odd = 0; odd < 2; odd++)
            half[odd] += count_half(marginal, odd, cell);
    if (!(all > 0 && half[0] > 0 && half[1] > 0))
        return 0;
    for (size_t cell = 0; cell < marginal->cells; cell++) {
        const double p = cell >= skipped && cell - skipped < marginal->length ? marginal->p[cell - skipped] / all : 0,
                     q[2] = {count_half(marginal, 0, cell) / half[0], count_half(marginal, 1, cell) / half[1]};

        for (int odd = 0; odd < 2; odd++)
            found += p > q[odd] ? (p - q[!odd]) / 2 : 0;
    }
    return found;
}

void gbees_marginal_distance(gbees_marginal *marginal, double *wasserstein, double *kolmogorov)
{
    const size_t quarters = marginal->cells * QUARTERS, skipped = (size_t)(marginal->first - marginal->lo);
    double all_cells = 0, all_samples = 0, before = 0, *restrict sum = marginal->count;

    for (size_t part = 1; part < GBEES_WORKERS_PARTS; part++) {
        const double *restrict other = sum + part * quarters;

        for (size_t k = 0; k < quarters; k++)
            sum[k] += other[k];
    }
    for (size_t k = 0; k < quarters; k++)
        all_samples += sum[k];
    for (size_t i = 0; i < marginal->length; i++)
        all_cells += marginal->p[i];
    *wasserstein = *kolmogorov = 0;
    for (size_t k = 0; k < quarters; k++) {
        const size_t cell = k / QUARTERS;
        const int inside = cell >= skipped && cell - skipped < marginal->length;
        const double here =
            before + (inside ? marginal->p[cell - skipped] / all_cells / QUARTERS : 0) - sum[k] / all_samples;

        *wasserstein += area(before, here) / QUARTERS;
        if ((k + 1) % QUARTERS == 0)
            *kolmogorov = fmax(*kolmogorov, fabs(here));
        before = here;
    }
}
