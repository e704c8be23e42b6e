/* matrix.c - multiplies by loops; systems of equations, determinants and eigenvalues are LAPACK's. What is not
 * finite is refused before LAPACK gets it. */
#include "matrix.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

void gbees_matrix_multiply(int n, const double *a, const double *b, double *to)
{
    double product[GBEES_MATRIX_MORE];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            product[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                product[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    memcpy(to, product, (size_t)(n * n) * sizeof *to);
}

static int is_finite(const double *a, int count)
{
    for (int k = 0; k < count; k++)
        if (!isfinite(a[k]))
            return 0;
    return 1;
}

int gbees_matrix_solve(int n, const double *a, int columns, double *b)
{
    double factor[GBEES_MATRIX_MORE];
    lapack_int pivot[GBEES_MAX_DIM + 1];

    if (!is_finite(a, n * n) || !is_finite(b, n * columns))
        return 1;
    memcpy(factor, a, (size_t)(n * n) * sizeof *a);
    return LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, columns, factor, n, pivot, b, columns) != 0 ||
           !is_finite(b, n * columns);
}

double gbees_matrix_determinant(int n, const double *a)
{
    double factor[GBEES_MATRIX_MORE], determinant = 1;
    lapack_int pivot[GBEES_MAX_DIM + 1];

    if (!is_finite(a, n * n))
        return NAN;
    memcpy(factor, a, (size_t)(n * n) * sizeof *a);
    if (LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, factor, n, pivot) > 0)
        return 0;
    for (int j = 0; j < n; j++)
        determinant *= pivot[j] == j + 1 ? factor[j * n + j] : -factor[j * n + j];
    return determinant;
}

double gbees_matrix_cell_volume(int n, const double *width, const double *rotation)
{
    double volume = rotation ? fabs(gbees_matrix_determinant(n, rotation)) : 1;

    for (int j = 0; j < n; j++)
        volume *= width[j];
    return volume;
}

int gbees_matrix_eigen(int n, double *vectors, double *values)
{
    return !is_finite(vectors, n * n) || LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, vectors, n, values) != 0;
}

void gbees_matrix_compose(int n, const double *vectors, const double *values, double *to)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;

            for (int k = 0; k < n; k++)
                sum += vectors[i * n + k] * vectors[j * n + k] * values[k];
            to[i * n + j] = to[j * n + i] = sum;
        }
}
