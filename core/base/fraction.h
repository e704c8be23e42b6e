/* fraction.h - which part of a cell is on one side of a plane.
 *
 * A cell is a box, or a parallelepiped, over which g changes linearly: by change[k] from one face across its edge k
 * to the other. The part where g < 0 is the distribution function of a sum of independent uniform numbers, each from
 * -change[k]/2 to change[k]/2, at -g of the centre. It is exact for the three largest changes; the others make the
 * third one longer so that the variance of the sum is right. So sums over the cells along a plane, whose distances
 * from it are spread evenly, are right to second order, and to more for n <= 3. */
#ifndef GBEES_BASE_FRACTION_H
#define GBEES_BASE_FRACTION_H

#include <math.h>

/* The distribution function of the sum of two, a >= b >= 0 long, at d. */
static inline double gbees_fraction_of_two(double d, double a, double b)
{
    const double far = (a + b) / 2, near = (a - b) / 2, from = fabs(d);
    double beyond; /* the part above |d| */

    if (from >= far)
        beyond = 0;
    else if (from <= near)
        beyond = 0.5 - from / a;
    else
        beyond = (far - from) * (far - from) / (2 * a * b);
    return d > 0 ? 1 - beyond : beyond;
}

/* The integral of gbees_fraction_of_two() up to d. */
static inline double gbees_fraction_sum_of_two(double d, double a, double b)
{
    const double far = (a + b) / 2, near = (a - b) / 2, from = fabs(d);
    double below; /* up to -|d| */

    if (from >= far)
        below = 0;
    else if (from > near)
        below = (far - from) * (far - from) * (far - from) / (6 * a * b);
    else /* up to 0, less what is between */
        below = (3 * a * a + b * b) / (24 * a) - from / 2 + from * from / (2 * a);
    return d > 0 ? below + d : below;
}

/* How the logarithm of a density that is linear over a cell, by slope[k] from one face across edge k to the other,
 * changes along g over *length, the root of the sum of the squares of its changes; 0 where g does not change. */
static inline double gbees_fraction_slope(int n, const double *change, const double *slope, double *length)
{
    double along = 0, square = 0;

    for (int k = 0; k < n; k++) {
        along += change[k] * slope[k];
        square += change[k] * change[k];
    }
    *length = sqrt(square);
    return square > 0 ? along / *length : 0;
}

/* The part of a cell's mass where g < 0 is `part` of its volume, if the logarithm of the density is linear over it,
 * by slope[k] from one face across edge k to the other. Exact where g changes along one edge alone; else what counts
 * is how the density changes with g. */
static inline double gbees_fraction_of_mass(int n, double part, const double *change, const double *slope)
{
    double length;
    const double along = gbees_fraction_slope(n, change, slope, &length);

    return fabs(along) > 1e-6 ? expm1(along * part) / expm1(along) : part;
}

/* The part of a cell where g < 0; g: at its centre. Where nothing changes it is 0 or 1. */
static inline double gbees_fraction_inside(int n, double g, const double *change)
{
    double a = 0, b = 0, c = 0;

    for (int k = 0; k < n; k++) { /* the two largest, and the squares of the others */
        const double size = fabs(change[k]), least = size < b ? size : b;

        c += least * least;
        b = size > a ? a : size > b ? size : b;
        a = size > a ? size : a;
    }
    c = sqrt(c);
    if (fabs(g) >= (a + b + c) / 2)
        return g < 0 ? 1 : 0;
    if (c < 1e-4 * a)
        return gbees_fraction_of_two(-g, a, b);
    return (gbees_fraction_sum_of_two(-g + c / 2, a, b) - gbees_fraction_sum_of_two(-g - c / 2, a, b)) / c;
}

#endif
