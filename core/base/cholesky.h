/* cholesky.h - the Cholesky factor of a small covariance, with which samples are drawn and whitened, and its inverse;
 * whether it has correlations. */
#ifndef GBEES_BASE_CHOLESKY_H
#define GBEES_BASE_CHOLESKY_H

#include <math.h>

/* L with L L' = a, both n x n row-major, the upper triangle of L zero.  0, or -1 if `a` is not positive definite. */
int gbees_cholesky_factor(int n, const double *a, double *l);
/* Solves L y = b; y may be b. */
void gbees_cholesky_solve(int n, const double *l, const double *b, double *y);
/* The inverse of L L'. */
void gbees_cholesky_inverse(int n, const double *l, double *inverse);

/* Whether no correlation of a covariance, n x n, is above `tolerance`. */
static inline int gbees_is_diagonal(int n, const double *c, double tolerance)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            if (j != k && fabs(c[j * n + k]) > tolerance * sqrt(c[j * n + j]) * sqrt(c[k * n + k]))
                return 0;
    return 1;
}

#endif
