/* likelihood.h - log-likelihoods of a measurement (paper, Eq. 4), and their average over a cell (doc/method.md,
 * "Bayes update"): Gaussian exponents, which the initial density has, too; Student's t; Gauss quadrature. */
#ifndef GBEES_NUMERICS_LIKELIHOOD_H
#define GBEES_NUMERICS_LIKELIHOOD_H

#include "qualifier.h"
#include <math.h>

/* Below this log-likelihood a likelihood is 0 in double precision. */
GBEES_NUM double gbees_lowest_log_likelihood(void)
{
    return -745.0;
}

/* -r' A r / 2 for a symmetric n x n matrix A, the inverse of the covariance. */
GBEES_NUM double gbees_gaussian_exponent(int n, const double *residual, const double *inverse)
{
    double sum = 0;

    for (int j = 0; j < n; j++) {
        double row = 0;

        for (int k = 0; k < n; k++)
            row += inverse[j * n + k] * residual[k];
        sum += residual[j] * row;
    }
    return -0.5 * sum;
}

/* The residual of a periodic component, to within half a period; period 0: unchanged. */
GBEES_NUM double gbees_wrapped(double residual, double period)
{
    return period > 0 ? residual - period * rint(residual / period) : residual;
}

/* The logarithm of Student's t over its value at the centre, from the Gaussian's exponent with the same matrix;
 * `size`: components of the residual. */
GBEES_NUM double gbees_student_exponent(double gaussian, int size, double degrees)
{
    return -0.5 * (degrees + size) * log1p(-2 * gaussian / degrees);
}

/* The average of a likelihood over a cell is weighted with a density that is linear inside the cell,
 *
 *     p(place) = average * (1 + sum over axes of slope * place),  place from -1/2 to 1/2 along each axis.
 *
 * The slope along an axis, from the averages of the cell (here > 0) and its two neighbours. */
GBEES_NUM double gbees_cell_slope(double below, double here, double above)
{
    return 0.5 * (above - below) / here;
}

/* The factor for all slopes of a cell that keeps the density from being negative. sum: of the slopes' sizes. */
GBEES_NUM double gbees_slope_limiter(double sum)
{
    return sum > 2 ? 2 / sum : 1;
}

/* How much a log-likelihood changes inside a cell along an axis, from its values at the cell's two faces and its
 * centre; 0 where the likelihood is 0 in double precision at both faces (below `lowest`). */
GBEES_NUM double gbees_likelihood_change(double low, double centre, double high, double lowest)
{
    return fmax(low, high) > lowest ? fmax(fabs(low - centre), fabs(high - centre)) : 0;
}

/* Whether such a change along an axis requires quadrature along it; else the value at the centre will do. */
GBEES_NUM int gbees_likelihood_varies(double change)
{
    return change > 0.01;
}

/* Gauss-Legendre quadrature on [-1/2, 1/2]: points an axis, for a product rule over so many axes. */
GBEES_NUM int gbees_gauss_points(int axes)
{
    return axes > 3 ? 3 : 5;
}

/* Node number i of 3 or 5, in ascending order. */
GBEES_NUM double gbees_gauss_node(int points, int i)
{
    double outer = points == 5 ? 0.4530899229693320 : 0.3872983346207417;

    if (i == points / 2)
        return 0;
    if (points == 5 && (i == 1 || i == 3))
        outer = 0.2692346550528416;
    return i < points / 2 ? -outer : outer;
}

/* Its weight; all weights add up to 1. */
GBEES_NUM double gbees_gauss_weight(int points, int i)
{
    if (points == 3)
        return i == 1 ? 0.4444444444444444 : 0.2777777777777778;
    return i == 2 ? 0.2844444444444444 : i == 1 || i == 3 ? 0.2393143352496832 : 0.1184634425280945;
}

/* The log-likelihood that a model's own function returns: minus infinity is a likelihood of 0; plus infinity is
 * invalid, and becomes NaN. */
GBEES_NUM double gbees_own_log_likelihood(double value)
{
    return value == HUGE_VAL ? NAN : value;
}

#endif
