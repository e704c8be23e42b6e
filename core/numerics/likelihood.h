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

/* The Gaussian's exponent that Student's t has been made of. */
GBEES_NUM double gbees_student_gaussian(double student, int size, double degrees)
{
    return -0.5 * degrees * expm1(-2 * student / (degrees + size));
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

/* ---- where a likelihood varies inside a cell: from its logarithm at the cell's two faces along an axis and at its
 * centre ---- */

/* How much higher than at the centre it gets along the axis, by the parabola through the three values. */
GBEES_NUM double gbees_likelihood_rise(double low, double centre, double high)
{
    const double bend = 2 * centre - low - high, slope = high - low;

    return bend > 0 && fabs(slope) < 2 * bend ? slope * slope / (8 * bend) : fmax(fmax(low, high) - centre, 0);
}

/* How much it changes along the axis; 0 where the likelihood is 0 in double precision (below `lowest`) at both faces,
 * and at its highest inside the cell: at the centre plus the rises along all axes. */
GBEES_NUM double gbees_likelihood_change(double low, double centre, double high, double highest, double lowest)
{
    return low > lowest || high > lowest || highest > lowest ? fmax(fabs(low - centre), fabs(high - centre)) : 0;
}

/* Whether such a change along an axis requires quadrature along it; else the value at the centre will do. */
GBEES_NUM int gbees_likelihood_varies(double change)
{
    return change > 0.01;
}

/* The second difference of a Gaussian's exponent along the axis, downwards: a quarter of the square of the cell's
 * width in standard deviations; 0 if the values are no numbers. */
GBEES_NUM double gbees_likelihood_bend(double low, double centre, double high)
{
    const double bend = 2 * centre - low - high;

    return bend > 0 && bend < HUGE_VAL ? bend : 0;
}

/* Into how many equal parts a cell is cut for quadrature along an axis: each is at most 4 standard deviations wide,
 * where 5 points are right to a thousandth. */
GBEES_NUM int gbees_likelihood_parts(double bend)
{
    return (int)fmin(fmax(ceil(sqrt(bend) / 2), 1), 255);
}

/* ---- the parts along all axes, as one number: byte j is those along axis j, 0 if the likelihood does not vary ----
 */

GBEES_NUM int gbees_parts_along(uint64_t parts, int axis)
{
    return (int)(parts >> 8 * axis & 255);
}

GBEES_NUM int gbees_parts_axes(uint64_t parts)
{
    int axes = 0;

    for (; parts; parts >>= 8)
        axes += (parts & 255) != 0;
    return axes;
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

/* The points of a product rule over all parts of a cell. */
GBEES_NUM double gbees_parts_points(uint64_t parts)
{
    const int points = gbees_gauss_points(gbees_parts_axes(parts));
    double all = 1;

    for (; parts; parts >>= 8)
        all *= parts & 255 ? points * (double)(parts & 255) : 1;
    return all;
}

/* Fewer parts, those along the axes of the most halved, until a cell takes no more than 2^15 points. */
GBEES_NUM uint64_t gbees_parts_limited(uint64_t parts)
{
    for (int most = 256; most > 1; most /= 2)
        for (int shift = 0; shift < 64; shift += 8) {
            const uint64_t along = parts >> shift & 255;

            if (2 * along > (uint64_t)most && gbees_parts_points(parts) > 32768)
                parts -= along / 2 << shift;
        }
    return parts;
}

/* Along an axis whose cells are cut into `parts`: node number i of parts * points, in ascending order. */
GBEES_NUM double gbees_cell_node(int points, int parts, int i)
{
    return (i / points - 0.5 * (parts - 1) + gbees_gauss_node(points, i % points)) / parts;
}

GBEES_NUM double gbees_cell_weight(int points, int parts, int i)
{
    return gbees_gauss_weight(points, i % points) / parts;
}

/* The log-likelihood that a model's own function returns: minus infinity is a likelihood of 0; plus infinity is
 * invalid, and becomes NaN. */
GBEES_NUM double gbees_own_log_likelihood(double value)
{
    return value == HUGE_VAL ? NAN : value;
}

#endif
