/* filtered.c - densities of the filters beside a run as lines to draw: see filtered.h. */
#include "filtered.h"
#include <math.h>
#include <stdlib.h>

enum { POINTS = 321 /* of a Gaussian */, MOST_KERNEL = 64 };

static const double reach = 4.5; /* standard deviations of a Gaussian, widths of a kernel */

/* A density of one state, of zeros; NULL: no memory. */
static gbees_density *make_density(int state, double first, double width, size_t length)
{
    gbees_density *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->dimension = 1;
    made->axis[0] = state;
    made->first[0] = first;
    made->width[0] = width;
    made->length[0] = length;
    made->value = calloc(length, sizeof *made->value);
    if (!made->value) {
        free(made);
        return NULL;
    }
    return made;
}

static void find_peak(gbees_density *density)
{
    for (size_t i = 0; i < density->length[0]; i++)
        density->peak = fmax(density->peak, density->value[i]);
}

static gbees_density *make_gaussian(int state, double mean, double std)
{
    const double width = 2 * reach * std / (POINTS - 1);
    gbees_density *made = make_density(state, mean - reach * std, width, POINTS);

    for (int i = 0; made && i < POINTS; i++) {
        const double z = (i - (POINTS - 1) / 2) * width / std;

        made->value[i] = exp(-0.5 * z * z) / (std * sqrt(2 * 3.14159265358979324));
    }
    return made;
}

/* The width of a kernel in bins, at least one: slightly less than Silverman's for the Gaussian with the same integral
 * of the density's square, so that the parts of a density with several are not widened much. */
static double choose_kernel(const float *p, double effective)
{
    const double narrower = 0.6;
    double squares = 0;

    for (size_t b = 0; b < GBEES_COMPARED_BINS; b++)
        squares += (double)p[b] * (double)p[b];
    squares = fmax(squares - 1 / fmax(2, effective), 1.0 / GBEES_COMPARED_BINS); /* less its bias by few samples */
    const double spread = 1 / (2 * sqrt(3.14159265358979324) * squares);
    return fmin(MOST_KERNEL, fmax(1, narrower * 1.06 * spread * pow(fmax(2, effective), -0.2)));
}

/* Adds a bin's probability, spread by a Gaussian kernel of `kernel` bins. */
static void spread_bin(gbees_density *to, size_t at, double p, double kernel)
{
    const long side = (long)ceil(reach * kernel);
    double weight = 0;

    for (long d = -side; d <= side; d++)
        weight += exp(-0.5 * (double)(d * d) / (kernel * kernel));
    for (long d = -side; d <= side; d++)
        to->value[(long)at + d] += p * exp(-0.5 * (double)(d * d) / (kernel * kernel)) / (weight * to->width[0]);
}

/* Spreads bins: by kernels of one width, and then by narrower ones where the density so found is high and wider ones
 * where it is low, in inverse proportion to its root (Abramson, 1982). */
static gbees_density *make_smooth(int state, const float *p, double first, double width, double kernel)
{
    const size_t side = (size_t)ceil(reach * 2 * kernel) + 1;
    const size_t length = GBEES_COMPARED_BINS + 2 * side;
    gbees_density *pilot = make_density(state, first - width * (double)side, width, length);
    gbees_density *made = make_density(state, first - width * (double)side, width, length);
    double mean_logarithm = 0;

    if (!pilot || !made) {
        gbees_density_destroy(pilot);
        gbees_density_destroy(made);
        return NULL;
    }
    for (size_t b = 0; b < GBEES_COMPARED_BINS; b++)
        if (p[b] > 0)
            spread_bin(pilot, b + side, (double)p[b], kernel);
    for (size_t b = 0; b < GBEES_COMPARED_BINS; b++)
        if (p[b] > 0)
            mean_logarithm += (double)p[b] * log(pilot->value[b + side]);
    for (size_t b = 0; b < GBEES_COMPARED_BINS; b++)
        if (p[b] > 0) {
            const double ratio = sqrt(exp(mean_logarithm) / pilot->value[b + side]);

            spread_bin(made, b + side, (double)p[b], fmax(0.5, kernel * fmin(2, ratio)));
        }
    gbees_density_destroy(pilot);
    return made;
}

int gbees_filtered_create(const gbees_compared *compared, int filter, size_t record, int state,
                          gbees_density **density, gbees_error *error)
{
    const gbees_compared_filter *f = &compared->filter[filter];
    const size_t n = (size_t)compared->dimension, j = (size_t)state;
    const double mean = f->mean[record * n + j], std = sqrt(f->covariance[(record * n + j) * n + j]);
    gbees_density *made;
    size_t row;

    *density = NULL;
    if (!isfinite(mean) || !isfinite(std) || !(std > 0))
        return GBEES_OK;
    if (f->p) {
        if (!gbees_compared_row(compared, record, &row))
            return GBEES_OK;
        const double first = f->first[row * n + j], width = f->width[row * n + j];
        const float *p = f->p + (row * n + j) * GBEES_COMPARED_BINS;

        if (!isfinite(first) || !isfinite(width) || !(width > 0))
            return GBEES_OK;
        made = make_smooth(state, p, first, width, choose_kernel(p, f->effective[record]));
    } else
        made = make_gaussian(state, mean, std);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to draw what a filter has found");
    find_peak(made);
    *density = made;
    return GBEES_OK;
}
