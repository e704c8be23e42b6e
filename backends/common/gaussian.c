/* gaussian.c - see gaussian.h. */
#include "gaussian.h"
#include "numerics/likelihood.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
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

static int is_diagonal(const gbees_problem *problem)
{
    int n = problem->dimension;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            if (j != k && problem->covariance[j * n + k] != 0)
                return 0;
    return 1;
}

/* A product of error functions along the Gaussian's own axes: one table an axis. */
static int make_tables(initial_density *density, gbees_error *error)
{
    const gbees_problem *problem = density->problem;
    int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        int extent = problem->extent[j];
        double scale = sqrt(2 * problem->covariance[j * n + j]), half = problem->width[j] / 2;

        density->average[j] = malloc((2 * (size_t)extent + 1) * sizeof(double));
        if (!density->average[j])
            return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the initial density");
        for (int i = -extent; i <= extent; i++) {
            double centre = fabs(problem->width[j] * i);

            /* Of the upper tail: no digits are lost far out. */
            density->average[j][extent + i] = erfc((centre - half) / scale) - erfc((centre + half) / scale);
        }
    }
    return 0;
}

int initial_density_create(initial_density *density, const gbees_problem *problem, int averages, gbees_error *error)
{
    *density = (initial_density){.problem = problem, .averages = averages, .diagonal = is_diagonal(problem)};
    if (gaussian_invert(problem->dimension, problem->covariance, density->precision_matrix, NULL))
        return gbees_error_set(error, GBEES_EINPUT, "covariance: not positive definite");
    int status = averages && density->diagonal ? make_tables(density, error) : 0;
    if (status)
        initial_density_destroy(density);
    return status;
}

void initial_density_destroy(initial_density *density)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(density->average[j]);
    memset(density->average, 0, sizeof density->average);
}

/* Gauss's rule with two points an axis: its error is h^4 / 4320 of the fourth derivative. */
static double quadrature(const initial_density *density, const double *centre)
{
    const gbees_problem *problem = density->problem;
    int n = problem->dimension;
    double p = 0;

    for (int point = 0; point < 1 << n; point++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = centre[j] + (point >> j & 1 ? 0.5 : -0.5) / sqrt(3.0) * problem->width[j];
        p += exp(gbees_gaussian_exponent(n, x, density->precision_matrix));
    }
    return p;
}

double initial_density_cell(const initial_density *density, const int32_t *index)
{
    const gbees_problem *problem = density->problem;
    int n = problem->dimension;
    double centre[GBEES_MAX_DIM], p = 1;

    for (int j = 0; j < n; j++) {
        if (index[j] < -problem->extent[j] || index[j] > problem->extent[j])
            return 0;
        centre[j] = problem->width[j] * index[j];
    }
    if (!density->averages)
        return exp(gbees_gaussian_exponent(n, centre, density->precision_matrix));
    if (!density->diagonal)
        return quadrature(density, centre);
    for (int j = 0; j < n; j++)
        p *= density->average[j][problem->extent[j] + index[j]];
    return p;
}
