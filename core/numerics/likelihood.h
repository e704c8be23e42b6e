/* likelihood.h - log-likelihoods of a measurement (paper, Eq. (4)), Gaussian and Student's t, and the quadrature of a
 * likelihood over a cell (doc/method.md, "Bayes update"). The initial density uses the Gaussian, too.
 *
 * Log-likelihoods are relative to the likelihood's peak, where they are 0. */
#ifndef GBEES_NUMERICS_LIKELIHOOD_H
#define GBEES_NUMERICS_LIKELIHOOD_H

#include "periods.h"
#include "qualifier.h"
#include <math.h>

/* The log-likelihood below which exp() is 0 in double precision. */
GBEES_NUM double gbees_lowest_log_likelihood(void)
{
    return -745.0;
}

/* -r^T A r / 2 for the residual r[n] and the inverse A[n][n] of its covariance. */
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

/* The log-likelihood of Student's t, from the Gaussian's exponent with the scale matrix as its covariance. size:
 * number of components of the residual; degrees: degrees of freedom. */
GBEES_NUM double gbees_student_exponent(double gaussian, int size, double degrees)
{
    return -0.5 * (degrees + size) * log1p(-2 * gaussian / degrees);
}

/* The inverse of gbees_student_exponent(): the Gaussian's exponent from the log-likelihood. */
GBEES_NUM double gbees_student_gaussian(double student, int size, double degrees)
{
    return -0.5 * degrees * expm1(-2 * student / (degrees + size));
}

/* The average of a likelihood over a cell is weighted with the prior density, which is assumed to be linear inside
 * the cell: P * (1 + sum over axes j of slope_j * y_j), y_j from -1/2 to 1/2.
 *
 * This is the slope along an axis, from P of the cell, `here` > 0, and of its two neighbours. */
GBEES_NUM double gbees_cell_slope(double below, double here, double above)
{
    return 0.5 * (above - below) / here;
}

/* The factor for all slopes of a cell that keeps the density positive in it. sum: of the slopes' absolute values. */
GBEES_NUM double gbees_slope_limiter(double sum)
{
    return sum > 2 ? 2 / sum : 1;
}

/* ---- how much a likelihood varies in a cell along an axis, from the log-likelihoods `low` and `high` at the centres
 * of the two faces and `centre` at the cell's centre ---- */

/* The maximum of the parabola through the three values, minus the value at the centre. */
GBEES_NUM double gbees_likelihood_rise(double low, double centre, double high)
{
    const double bend = 2 * centre - low - high, slope = high - low;

    return bend > 0 && fabs(slope) < 2 * bend ? slope * slope / (8 * bend) : fmax(fmax(low, high) - centre, 0);
}

/* The larger of the two changes from the centre to a face; 0 if the likelihood vanishes in the whole cell: if both
 * faces and `highest` are below `lowest`. highest: `centre` plus the gbees_likelihood_rise() of all axes; lowest:
 * gbees_lowest_log_likelihood(). */
GBEES_NUM double gbees_likelihood_change(double low, double centre, double high, double highest, double lowest)
{
    return low > lowest || high > lowest || highest > lowest ? fmax(fabs(low - centre), fabs(high - centre)) : 0;
}

/* Whether such a change requires quadrature along the axis; otherwise the value at the centre is accurate enough. */
GBEES_NUM int gbees_likelihood_varies(double change)
{
    return change > 0.01;
}

/* Minus the second difference of a Gaussian's exponent. It is a quarter of the square of the cell's width in standard
 * deviations. 0 if it is not finite. */
GBEES_NUM double gbees_likelihood_bend(double low, double centre, double high)
{
    const double bend = 2 * centre - low - high;

    return bend > 0 && bend < HUGE_VAL ? bend : 0;
}

/* The number of equal parts into which quadrature divides a cell along an axis, 1 to 255. Each is at most 4 standard
 * deviations wide; 5 Gauss points are then accurate to a thousandth. */
GBEES_NUM int gbees_likelihood_parts(double bend)
{
    return (int)fmin(fmax(ceil(sqrt(bend) / 2), 1), 255);
}

/* ---- the parts along all axes as one word: byte j is their number along axis j, 0 if the likelihood does not vary
 * ----
 */

/* The number of parts along an axis. */
GBEES_NUM int gbees_parts_along(uint64_t parts, int axis)
{
    return (int)(parts >> 8 * axis & 255);
}

/* The number of axes along which there is quadrature. */
GBEES_NUM int gbees_parts_axes(uint64_t parts)
{
    int axes = 0;

    for (; parts; parts >>= 8)
        axes += (parts & 255) != 0;
    return axes;
}

/* Gauss-Legendre quadrature on [-1/2, 1/2]: the number of points per axis, for a product rule over so many axes. */
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

/* The weight of node number i; all weights add up to 1. */
GBEES_NUM double gbees_gauss_weight(int points, int i)
{
    if (points == 3)
        return i == 1 ? 0.4444444444444444 : 0.2777777777777778;
    return i == 2 ? 0.2844444444444444 : i == 1 || i == 3 ? 0.2393143352496832 : 0.1184634425280945;
}

/* The number of points of the product rule in a cell. */
GBEES_NUM double gbees_parts_points(uint64_t parts)
{
    const int points = gbees_gauss_points(gbees_parts_axes(parts));
    double all = 1;

    for (; parts; parts >>= 8)
        all *= parts & 255 ? points * (double)(parts & 255) : 1;
    return all;
}

/* Halves the parts along the axes that have most of them, until the cell has no more than 2^15 points. */
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

/* Node number i, 0 ... parts * points - 1, in ascending order, of a cell divided into `parts` along an axis; in cells
 * from the cell's centre. */
GBEES_NUM double gbees_cell_node(int points, int parts, int i)
{
    return (i / points - 0.5 * (parts - 1) + gbees_gauss_node(points, i % points)) / parts;
}

/* The weight of that node. */
GBEES_NUM double gbees_cell_weight(int points, int parts, int i)
{
    return gbees_gauss_weight(points, i % points) / parts;
}

/* Checks a value of a model's own log_likelihood(): minus infinity is a likelihood of 0; plus infinity is invalid and
 * becomes NaN, which the engines report. */
GBEES_NUM double gbees_own_log_likelihood(double value)
{
    return value == HUGE_VAL ? NAN : value;
}

#endif
