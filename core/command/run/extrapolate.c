/* extrapolate.c - extrapolates memory as a power of the cells' width. */
#include "extrapolate.h"
#include <math.h>

/* Exponents from trials on wide cells are too large: by about this part for each factor of two between the last
 * trial's width, less a factor 2^(1/2), and width 1 (doc/notes/forecast.md). */
static const double fall = 0.15;

/* Extrapolates a number that grows as a power of 1 / width to width 1, from its values at the last trial and at one
 * before it, whose widths are `octaves` factors of two apart; `left` factors of two remain to width 1. */
static double power_law(double last, double before, double left, double octaves)
{
    const double exponent = log2(last / before) / octaves;

    return last * exp2(left * exponent / (1 + fall * fmax(left - 0.5, 0)));
}

/* Extrapolates the cost of a cell to width 1. It falls towards a bound: half of the trend between the trials is
 * taken. */
static double cost_a_cell(double last, double before, double left, double octaves)
{
    return last * fmin(exp2(left * log2(last / before) / octaves / 2), 1);
}

double gbees_extrapolate_bytes(const gbees_trial *trial, int count)
{
    const gbees_trial *last = trial + count - 1, *before = trial + (count > 2 ? count - 3 : 0);

    if (!(before->cells > 0))
        return NAN;
    const double octaves = log2(before->width / last->width), left = log2(last->width);
    return power_law(last->cells, before->cells, left, octaves) *
           cost_a_cell(last->bytes / last->cells, before->bytes / before->cells, left, octaves);
}
