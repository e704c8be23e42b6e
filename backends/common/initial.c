/* initial.c - computes the initial P of a brick's cells. A diagonal Gaussian's average over a cell is a product of
 * differences of error functions, one an axis; that of any other Gaussian is taken by quadrature. The cells of a
 * record are looked up in its sorted list. */
#include "initial.h"
#include "base/cholesky.h"
#include "bound.h"
#include "gaussian.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest coordinate of the initial box, in absolute value, of which a float has to resolve differences along an
 * axis of the grid: on a rotated grid a sum over the model's coordinates. */
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

double initial_mass(const gbees_problem *problem)
{
    return problem->cells ? problem->cells->mass : 1;
}

/* Tabulates a diagonal Gaussian's averages over cells, which are products of a factor an axis, a difference of error
 * functions: a table an axis. */
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

            /* erfc() in place of erf(): far out no digits cancel */
            density->average[j][i] = erfc((centre - half) / scale) - erfc((centre + half) / scale);
        }
    }
    return 0;
}

/* Prepares the Gaussians of a mixture. */
static int make_parts(initial_density *density, gbees_error *error)
{
    const gbees_problem *problem = density->problem;
    int n = problem->dimension;

    density->parts = calloc((size_t)problem->gaussian_count, sizeof *density->parts);
    if (!density->parts)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the initial density");
    for (int g = 0; g < problem->gaussian_count; g++) {
        const gbees_gaussian *gaussian = &problem->gaussians[g];
        initial_part *part = &density->parts[g];
        double log_norm, volume = 1;

        if (gaussian_invert(n, gaussian->covariance, part->precision_matrix, &log_norm))
            return gbees_error_set(error, GBEES_EINPUT, "initial %d: covariance: not positive definite", g + 1);
        for (int j = 0; j < n; j++)
            volume *= problem->width[j];
        part->scale = gaussian->weight * exp(log_norm) * volume;
        part->diagonal = gbees_is_diagonal(n, gaussian->covariance, 0);
    }
    return 0;
}

int initial_density_create(initial_density *density, const gbees_problem *problem, gbees_error *error)
{
    int status = 0;

    *density = (initial_density){.problem = problem,
                                 .averages = problem->numerics.cell_values == GBEES_CELL_AVERAGES,
                                 .diagonal = gbees_is_diagonal(problem->dimension, problem->covariance, 0)};
    if (problem->cells)
        return 0;
    if (problem->gaussian_count > 0)
        status = make_parts(density, error);
    else if (gaussian_invert(problem->dimension, problem->covariance, density->precision_matrix, NULL))
        status = gbees_error_set(error, GBEES_EINPUT, "covariance: not positive definite");
    else if (density->averages && density->diagonal)
        status = make_tables(density, error);
    if (status)
        initial_density_destroy(density);
    return status;
}

void initial_density_destroy(initial_density *density)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(density->average[j]);
    memset(density->average, 0, sizeof density->average);
    free(density->parts);
    density->parts = NULL;
}

/* The sum of exp(-x' precision_matrix x / 2) over the 2^n points of Gauss-Legendre quadrature of a cell, two an axis,
 * whose centre is at `centre`. The average that follows has an error of h^4 / 4320 times the fourth derivative. */
static double quadrature(const gbees_problem *problem, const double *precision_matrix, const double *centre)
{
    int n = problem->dimension;
    double p = 0;

    for (int point = 0; point < 1 << n; point++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = centre[j] + (point >> j & 1 ? 0.5 : -0.5) / sqrt(3.0) * problem->width[j];
        p += exp(gbees_gaussian_exponent(n, x, precision_matrix));
    }
    return p;
}

/* The density of the cell `index`, up to a common factor; 0 outside the initial box. */
static double density_of_cell(const initial_density *density, const int32_t *index)
{
    const gbees_problem *problem = density->problem;
    int n = problem->dimension;
    double centre[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++) {
        if (index[j] < -problem->extent[j] || index[j] > problem->extent[j])
            return 0;
        centre[j] = problem->width[j] * index[j];
    }
    return density->averages ? quadrature(problem, density->precision_matrix, centre)
                             : exp(gbees_gaussian_exponent(n, centre, density->precision_matrix));
}

/* Sets p[cells] of a brick from the tables: the products over the first axes are used again for all cells along the
 * next. */
static void fill_products(const initial_density *density, const gbees_shape *shape, const int32_t *key, double *p)
{
    int count = 1;

    p[0] = 1;
    for (int j = 0; j < shape->n; j++) {
        const int extent = density->problem->extent[j];

        for (int i = shape->edge[j] - 1; i >= 0; i--) {
            int index = abs(key[j] * shape->edge[j] + i);
            double average = index <= extent ? density->average[j][index] : 0;

            for (int cell = 0; cell < count; cell++)
                p[i * count + cell] = p[cell] * average;
        }
        count *= shape->edge[j];
    }
}

/* ---- a mixture ---- */

/* The probability of a normal distribution between a and b, in units of sqrt(2) standard deviations, computed so that
 * no digits cancel far out. */
static double between(double a, double b)
{
    if (a > 0)
        return 0.5 * (erfc(a) - erfc(b));
    return b < 0 ? 0.5 * (erfc(-b) - erfc(-a)) : 0.5 * (erf(b) - erf(a));
}

/* Adds the averages of a diagonal Gaussian over the cells of a brick: products of factors of the axes. */
static void add_averages(const gbees_problem *problem, const gbees_gaussian *gaussian, const gbees_shape *shape,
                         const int32_t *key, double *p)
{
    double row[GBEES_MAX_DIM][64];

    for (int j = 0; j < shape->n; j++) {
        double scale = 1 / sqrt(2 * gaussian->covariance[j * shape->n + j]), width = problem->width[j];

        for (int i = 0; i < shape->edge[j]; i++) {
            double x = width * (key[j] * shape->edge[j] + i) - (gaussian->mean[j] - problem->mean[j]);

            row[j][i] = between((x - width / 2) * scale, (x + width / 2) * scale);
        }
    }
    for (int cell = 0; cell < shape->cells; cell++) {
        double product = gaussian->weight;

        for (int j = 0; j < shape->n; j++)
            product *= row[j][gbees_shape_local(shape, cell, j)];
        p[cell] += product;
    }
}

/* Adds any Gaussian to the cells of a brick: its averages by quadrature, or its values at the centres. */
static void add_values(const initial_density *density, int number, const gbees_shape *shape, const int32_t *key,
                       double *p)
{
    const gbees_problem *problem = density->problem;
    const initial_part *part = &density->parts[number];
    int n = shape->n;

    for (int cell = 0; cell < shape->cells; cell++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = problem->width[j] * (key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j)) -
                   (problem->gaussians[number].mean[j] - problem->mean[j]);
        p[cell] += part->scale * (density->averages ? quadrature(problem, part->precision_matrix, x) / (1 << n)
                                                    : exp(gbees_gaussian_exponent(n, x, part->precision_matrix)));
    }
}

/* Whether a cell is in the initial box of one of the mixture's Gaussians. */
static int is_in_a_box(const gbees_problem *problem, const int32_t *index)
{
    for (int g = 0; g < problem->gaussian_count; g++) {
        int inside = 1;

        for (int j = 0; j < problem->dimension; j++)
            inside = inside && problem->gaussians[g].lo[j] <= index[j] && index[j] <= problem->gaussians[g].hi[j];
        if (inside)
            return 1;
    }
    return 0;
}

/* Sets p[cells] of a brick to the mixture, 0 outside all boxes. */
static void fill_mixture(const initial_density *density, const gbees_shape *shape, const int32_t *key, double *p)
{
    memset(p, 0, (size_t)shape->cells * sizeof *p);
    for (int g = 0; g < density->problem->gaussian_count; g++)
        if (density->averages && density->parts[g].diagonal)
            add_averages(density->problem, &density->problem->gaussians[g], shape, key, p);
        else
            add_values(density, g, shape, key, p);
    for (int cell = 0; cell < shape->cells; cell++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < shape->n; j++)
            index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
        if (!is_in_a_box(density->problem, index))
            p[cell] = 0;
    }
}

/* ---- a record ---- */

/* Whether cell i comes before the cell `index`, in lexicographic order. */
static int is_before(const gbees_initial_cells *cells, int n, size_t i, const int32_t *index)
{
    for (int j = 0; j < n; j++)
        if (cells->index[j][i] != index[j])
            return cells->index[j][i] < index[j];
    return 0;
}

/* The number of the first cell of a record's sorted list that does not come before `index`. Tries `guess` first, then
 * searches by bisection. */
static size_t find_cell(const gbees_initial_cells *cells, int n, const int32_t *index, size_t guess)
{
    size_t low = 0, high = cells->count;

    if (guess == high || !is_before(cells, n, guess, index)) {
        if (guess == 0 || is_before(cells, n, guess - 1, index))
            return guess;
        high = guess - 1;
    } else {
        low = guess + 1;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (is_before(cells, n, middle, index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether cell i of the list, which does not come before `index`, is one of the `edge` cells from `index` on along
 * the last axis. */
static int is_in_row(const gbees_initial_cells *cells, int n, size_t i, const int32_t *index, int edge)
{
    for (int j = 0; j < n - 1; j++)
        if (cells->index[j][i] != index[j])
            return 0;
    return cells->index[n - 1][i] - index[n - 1] < edge;
}

/* Sets p[cells] of a brick to the record's cells: row by row along the last axis, which are consecutive in the list.
 */
static void fill_listed(const gbees_initial_cells *cells, initial_cursor *cursor, const gbees_shape *shape,
                        const int32_t *key, double *p)
{
    const int n = shape->n, last = n - 1, edge = shape->edge[last];

    memset(p, 0, (size_t)shape->cells * sizeof *p);
    for (int row = 0; row < shape->cells / edge; row++) {
        int32_t index[GBEES_MAX_DIM];
        int cell = 0, digits = row;

        index[last] = key[last] * edge;
        for (int j = last - 1; j >= 0; j--) { /* the last of these axes is the fastest */
            const int local = digits & (shape->edge[j] - 1);

            index[j] = key[j] * shape->edge[j] + local;
            cell |= local << shape->shift[j];
            digits >>= shape->log2_edge[j];
        }
        size_t at = find_cell(cells, n, index, cursor->row[row]);
        const size_t full = at + (size_t)edge; /* if the last of them is in the row, all of the row are listed */
        if (full <= cells->count && is_in_row(cells, n, full - 1, index, edge))
            for (int k = 0; k < edge; k++)
                p[cell | k << shape->shift[last]] = cells->p[at++];
        for (; at < cells->count && is_in_row(cells, n, at, index, edge); at++)
            p[cell | (cells->index[last][at] - index[last]) << shape->shift[last]] = cells->p[at];
        cursor->row[row] = at;
    }
}

/* ---- a brick of any density ---- */

/* Sets p[cells] of a brick cell by cell. */
static void fill_cells(const initial_density *density, const gbees_shape *shape, const int32_t *key, double *p)
{
    for (int cell = 0; cell < shape->cells; cell++) {
        int32_t index[GBEES_MAX_DIM];

        for (int j = 0; j < shape->n; j++)
            index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);
        p[cell] = density_of_cell(density, index);
    }
}

void initial_density_brick(const initial_density *density, initial_cursor *cursor, const gbees_shape *shape,
                           const int32_t *key, double *p)
{
    const uint64_t inside = bound_cells(density->problem, shape, key);

    if (density->problem->cells)
        fill_listed(density->problem->cells, cursor, shape, key, p);
    else if (density->parts)
        fill_mixture(density, shape, key, p);
    else if (density->average[0])
        fill_products(density, shape, key, p);
    else
        fill_cells(density, shape, key, p);
    for (int cell = 0; cell < shape->cells && ~inside; cell++)
        p[cell] = inside >> cell & 1 ? p[cell] : 0;
}
