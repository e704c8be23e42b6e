/* initial.c - see initial.h. */
#include "initial.h"
#include "bound.h"
#include "gaussian.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double initial_box_keys(const gbees_problem *problem, const gbees_shape *shape, int32_t *lo, int32_t *hi)
{
    double bricks = 1;

    for (int j = 0; j < shape->n; j++) {
        lo[j] = gbees_shape_key(shape, j, -problem->extent[j]);
        hi[j] = gbees_shape_key(shape, j, problem->extent[j]);
        bricks *= hi[j] - lo[j] + 1.0;
    }
    return bricks;
}

void initial_box_next(const int32_t *lo, const int32_t *hi, int n, int32_t *key)
{
    for (int j = n - 1; j >= 0; j--) {
        if (++key[j] <= hi[j])
            return;
        key[j] = lo[j];
    }
}

/* How far from the origin, in the model's axes, a float's digits must reach to tell positions along an axis of the
 * grid. */
static double reach_of(const gbees_problem *problem, int axis)
{
    const int n = problem->dimension;
    double sum = 0;

    if (!problem->rotated)
        return fabs(problem->mean[axis]) + problem->extent[axis] * problem->width[axis];
    for (int j = 0; j < n; j++) {
        double reach = fabs(problem->centre[j]);

        for (int k = 0; k < n; k++)
            reach += fabs(problem->rotation[j * n + k]) * problem->extent[k] * problem->width[k];
        sum += fabs(problem->rotation[j * n + axis]) * reach;
    }
    return sum;
}

int initial_box_is_fine(const gbees_problem *problem)
{
    for (int j = 0; j < problem->dimension; j++)
        if (reach_of(problem, j) * 6e-8 > problem->width[j] / 4096)
            return 1;
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
        double scale = sqrt(2 * problem->covariance[j * n + j]), half = problem->width[j] / 2;

        density->average[j] = malloc(((size_t)problem->extent[j] + 1) * sizeof(double));
        if (!density->average[j])
            return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the initial density");
        for (int i = 0; i <= problem->extent[j]; i++) {
            double centre = problem->width[j] * i;

            /* Of the upper tail: no digits are lost far out. */
            density->average[j][i] = erfc((centre - half) / scale) - erfc((centre + half) / scale);
        }
    }
    return 0;
}

int initial_density_create(initial_density *density, const gbees_problem *problem, gbees_error *error)
{
    *density = (initial_density){.problem = problem,
                                 .averages = problem->numerics.cell_values == GBEES_CELL_AVERAGES,
                                 .diagonal = is_diagonal(problem)};
    if (gaussian_invert(problem->dimension, problem->covariance, density->precision_matrix, NULL))
        return gbees_error_set(error, GBEES_EINPUT, "covariance: not positive definite");
    int status = density->averages && density->diagonal ? make_tables(density, error) : 0;
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

static double density_of_cell(const initial_density *density, const int32_t *index)
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
        p *= density->average[j][abs(index[j])];
    return p;
}

double initial_density_brick(const initial_density *density, const gbees_shape *shape, const int32_t *key, double *p)
{
    uint64_t inside = bound_cells(density->problem, shape, key);
    double sum = 0;

    for (int cell = 0; cell < shape->cells; cell++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < shape->n; j++)
            index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
        p[cell] = inside >> cell & 1 ? density_of_cell(density, index) : 0;
        sum += p[cell];
    }
    return sum;
}
