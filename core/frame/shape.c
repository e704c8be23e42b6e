/* shape.c - edges are the inverse square root of a metric: the covariance's inverse, scaled along each eigenvector
 * of the whitened Fisher information by the square of the number of cells that a standard deviation needs there. */
#include "shape.h"
#include <math.h>
#include <string.h>

/* The least variance along an eigenvector, in present cells: a density in one cell has none but rounding. */
static const double least_variance = 1e-3;
/* Cells are replaced when they are too long by this factor, or when this part of their number would be enough. */
static const double too_long = 1.25, too_many = 0.5;
/* Entries of a covariance beside its diagonal, in cells squared, that cells are not turned for. */
static const double rest_most = 1e-4;

/* to = V diag(values^power) V^T. */
static void compose_power(int n, const double *vectors, const double *values, double power, double *to)
{
    double raised[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        raised[j] = pow(values[j], power);
    gbees_matrix_compose(n, vectors, raised, to);
}

/* to = left m left, made symmetric to the last bit; all of them symmetric. */
static void sandwich(int n, const double *left, const double *m, double *to)
{
    double product[GBEES_MATRIX];

    gbees_matrix_multiply(n, left, m, product);
    gbees_matrix_multiply(n, product, left, product);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            to[j * n + k] = (product[j * n + k] + product[k * n + j]) / 2;
}

/* Sets root to C^1/2 and inverse to C^-1/2. */
static int whiten(int n, const double *covariance, double *root, double *inverse)
{
    double vectors[GBEES_MATRIX], values[GBEES_MAX_DIM];

    memcpy(vectors, covariance, (size_t)(n * n) * sizeof *vectors);
    if (gbees_matrix_eigen(n, vectors, values))
        return 1;
    for (int j = 0; j < n; j++)
        values[j] = fmax(values[j], least_variance);
    compose_power(n, vectors, values, 0.5, root);
    compose_power(n, vectors, values, -0.5, inverse);
    return 0;
}

/* Sets lambda, cells and bend from the eigenvalues, and squares to cells^2. */
static void count_cells(int n, const gbees_shape_rule *rule, gbees_frame_shape *shape, double *squares)
{
    shape->bend = 1;
    for (int j = 0; j < n; j++) {
        shape->lambda[j] = fmax(shape->lambda[j], 1);
        const double wanted = rule->cells * sqrt(shape->lambda[j]);

        shape->bend *= sqrt(shape->lambda[j]);
        shape->limited += wanted > rule->most;
        shape->cells[j] = fmin(wanted, rule->most);
        squares[j] = shape->cells[j] * shape->cells[j];
    }
}

/* Sets edges, longest and growth from the metric G, in which a new cell has edges of length 1. */
static int set_edges(int n, double *metric, gbees_frame_shape *shape)
{
    double values[GBEES_MAX_DIM];

    if (gbees_matrix_eigen(n, metric, values) || !(values[0] > 0))
        return 1;
    compose_power(n, metric, values, -0.5, shape->edges);
    shape->longest = sqrt(values[n - 1]);
    shape->growth = 1;
    for (int j = 0; j < n; j++)
        shape->growth *= sqrt(values[j]);
    return 0;
}

int gbees_shape_find(int n, const double *covariance, const double *information, const gbees_shape_rule *rule,
                     gbees_frame_shape *shape, gbees_error *error)
{
    double root[GBEES_MATRIX], inverse[GBEES_MATRIX], vectors[GBEES_MATRIX], metric[GBEES_MATRIX];
    double squares[GBEES_MAX_DIM];
    gbees_frame_shape found = {.limited = 0};

    if (!(rule->cells > 0) || !(rule->most >= rule->cells) || !isfinite(rule->most))
        return gbees_error_set(
            error, GBEES_EINPUT,
            "a moving frame with %g cells a deviation and at most %g: give a number above 0 and one "
            "that is not below it",
            rule->cells, rule->most);
    int failed = whiten(n, covariance, root, inverse);
    if (!failed) {
        sandwich(n, root, information, vectors);
        failed = gbees_matrix_eigen(n, vectors, found.lambda);
    }
    if (!failed) {
        count_cells(n, rule, &found, squares);
        gbees_matrix_multiply(n, root, vectors, found.axes);
        for (int k = 0; k < n * n; k++)
            found.axes[k] /= found.cells[k % n];
        gbees_matrix_compose(n, vectors, squares, metric);
        sandwich(n, inverse, metric, metric);
        failed = set_edges(n, metric, &found);
    }
    if (failed)
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "no cells were found that fit the density: its covariance or its "
                               "Fisher information is not finite, or too large for the arithmetic");
    *shape = found;
    return GBEES_OK;
}

/* ---- a density that is to be spread ---- */

void gbees_shape_widen(int n, const double *covariance, double *information)
{
    double factor[GBEES_MATRIX], wider[GBEES_MATRIX];

    gbees_matrix_multiply(n, information, covariance, factor);
    for (int k = 0; k < n * n; k++)
        factor[k] += k % (n + 1) == 0;
    memcpy(wider, information, (size_t)(n * n) * sizeof *wider);
    if (gbees_matrix_solve(n, factor, n, wider))
        return;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            information[j * n + k] = (wider[j * n + k] + wider[k * n + j]) / 2;
}

void gbees_shape_keep(int n, gbees_frame_shape *shape)
{
    for (int k = 0; k < n * n; k++)
        shape->edges[k] = k % (n + 1) == 0;
    shape->growth = 1;
}

int gbees_shape_is_kept(int n, const gbees_frame_shape *shape)
{
    int kept = 1;

    for (int k = 0; k < n * n; k++)
        kept = kept && shape->edges[k] == (k % (n + 1) == 0);
    return kept;
}

int gbees_shape_turn(int n, const double *covariance, gbees_frame_shape *shape, double *variance)
{
    double inverse[GBEES_MATRIX], turn[GBEES_MATRIX], beside = 0;

    for (int k = 0; k < n * n; k++)
        inverse[k] = k % (n + 1) == 0;
    if (gbees_matrix_solve(n, shape->edges, n, inverse))
        return 1;
    sandwich(n, inverse, covariance, turn); /* T is symmetric, and its inverse */
    for (int j = 0; j < n; j++) {
        variance[j] = turn[j * n + j];
        for (int k = 0; k < j; k++)
            beside = fmax(beside, fabs(turn[j * n + k]));
    }
    if (beside > rest_most) {
        if (gbees_matrix_eigen(n, turn, variance))
            return 1;
        gbees_matrix_multiply(n, shape->edges, turn, shape->edges);
    }
    for (int j = 0; j < n; j++)
        variance[j] = fmax(variance[j], 0);
    return !isfinite(beside);
}

int gbees_shape_is_outgrown(const gbees_frame_shape *shape)
{
    return shape->longest > too_long || shape->growth < too_many;
}
