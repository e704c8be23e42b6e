/* likelihood.h - exponents of Gaussians, for the initial density and for measurements (paper, Eq. 4). */
#ifndef GBEES_NUMERICS_LIKELIHOOD_H
#define GBEES_NUMERICS_LIKELIHOOD_H

#include "qualifier.h"

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

#endif
