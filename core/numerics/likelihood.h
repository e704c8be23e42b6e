/* likelihood.h - exponents of Gaussians, for the initial density and for measurements (paper, Eq. 4), and what
 * measurements may have in their place. */
#ifndef GBEES_NUMERICS_LIKELIHOOD_H
#define GBEES_NUMERICS_LIKELIHOOD_H

#include "qualifier.h"
#include <math.h>

/* Beyond this a likelihood is 0 in double precision: nothing in a density speaks for the measurement. */
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

/* A residual of a component that comes back to itself after a period, to within half of it; period 0: as it is. */
GBEES_NUM double gbees_wrapped(double residual, double period)
{
    return period > 0 ? residual - period * rint(residual / period) : residual;
}

/* The logarithm of Student's t over its value at the middle, from the Gaussian's exponent with the same matrix;
 * `size`: components of the residual. */
GBEES_NUM double gbees_student_exponent(double gaussian, int size, double degrees)
{
    return -0.5 * (degrees + size) * log1p(-2 * gaussian / degrees);
}

/* How a density leans inside a cell: 1 + sum of slope * place, place from -1/2 to 1/2, times its average there.  From
 * the averages of the cells beside along an axis ... */
GBEES_NUM double gbees_cell_slope(double below, double here, double above)
{
    return 0.5 * (above - below) / here;
}

/* ... times this, where all slopes' sizes have that sum: so it is nowhere below 0. */
GBEES_NUM double gbees_slope_share(double sum)
{
    return sum > 2 ? 2 / sum : 1;
}

/* A model's own log-likelihood: minus infinity says "impossible", plus infinity is no better than no number. */
GBEES_NUM double gbees_own_log_likelihood(double value)
{
    return value == HUGE_VAL ? NAN : value;
}

#endif
