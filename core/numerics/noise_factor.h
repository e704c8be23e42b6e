/* noise_factor.h - the Cholesky factor of a model's diffusion matrix Q, which gives samples their noise. */
#ifndef GBEES_NUMERICS_NOISE_FACTOR_H
#define GBEES_NUMERICS_NOISE_FACTOR_H

#include "qualifier.h"
#include <math.h>

/* Sets the lower triangle of factor[n][n] to L with L L^T = Q; Q may be singular, columns of zero pivots are 0.
 * q[k * stride] is entry k of Q: of its n x n entries, row-major, if `full`, else of its diagonal. */
GBEES_NUM void gbees_noise_factor(int n, int full, const double *q, int stride, double *factor)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k <= j; k++) {
            double rest = full ? q[(k * n + j) * stride] : k == j ? q[j * stride] : 0;

            for (int l = 0; l < k && full; l++)
                rest -= factor[j * n + l] * factor[k * n + l];
            factor[j * n + k] = k == j                  ? rest > 0 ? sqrt(rest) : 0
                                : factor[k * n + k] > 0 ? rest / factor[k * n + k]
                                                        : 0;
        }
}

#endif
