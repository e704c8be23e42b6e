/* gaussian.c - inverts a covariance by its Cholesky factor, whose diagonal gives the determinant in the density's
 * constant factor. */
#include "gaussian.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

int gaussian_invert(int n, const double *covariance, double *inverse, double *log_norm)
{
    double factor = -0.5 * n * log(6.283185307179586);

    memcpy(inverse, covariance, (size_t)(n * n) * sizeof *inverse);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, inverse, n))
        return 1;
    for (int j = 0; j < n; j++)
        factor -= log(inverse[j * n + j]);
    if (log_norm)
        *log_norm = factor;
    if (LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', n, inverse, n))
        return 1;
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++)
            inverse[j * n + k] = inverse[k * n + j];
    return 0;
}
