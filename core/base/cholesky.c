/* cholesky.c - factors a covariance C = L L^T, and solves L y = x by forward substitution. */
#include "cholesky.h"
#include <gbees/problem.h>
#include <math.h>

int gbees_cholesky_factor(int n, const double *a, double *l)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = a[i * n + j];

            if (j > i) {
                l[i * n + j] = 0;
                continue;
            }
            for (int k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (j < i)
                l[i * n + j] = sum / l[j * n + j];
            else if (sum > 0)
                l[i * n + i] = sqrt(sum);
            else
                return -1;
        }
    }
    return 0;
}

void gbees_cholesky_solve(int n, const double *l, const double *b, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];

        for (int k = 0; k < i; k++)
            sum -= l[i * n + k] * y[k];
        y[i] = sum / l[i * n + i];
    }
}

void gbees_cholesky_inverse(int n, const double *l, double *inverse)
{
    double column[GBEES_MAX_DIM][GBEES_MAX_DIM] = {{0}}; /* of the inverse of L */

    for (int j = 0; j < n; j++) {
        column[j][j] = 1;
        gbees_cholesky_solve(n, l, column[j], column[j]);
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            inverse[j * n + k] = 0;
            for (int i = j > k ? j : k; i < n; i++)
                inverse[j * n + k] += column[j][i] * column[k][i];
        }
}
