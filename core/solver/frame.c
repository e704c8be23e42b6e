/* frame.c - a grid along the eigenvectors of the initial covariance (doc/method.md, "A turned grid").
 *
 * x = c + R y.  The problem is stated in y, where the covariance is diagonal and the mean 0, and its functions are
 * the model's framed ones: a backend knows no rotation.
 */
#include "solver/frame.h"
#include "io/scenario.h"
#include "solver/builder.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

static int is_diagonal(const double *a, int n)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            if (j != k && a[j * n + k] != 0)
                return 0;
    return 1;
}

/* Largest component positive; of equal ones, the first. */
static double sign_of(const double *vectors, int n, int which)
{
    double largest = 0;

    for (int j = 0; j < n; j++)
        if (fabs(vectors[j * n + which]) > fabs(largest) * (1 + 1e-12))
            largest = vectors[j * n + which];
    return largest < 0 ? -1 : 1;
}

/* Each eigenvector becomes the axis that it is closest to: the largest component of all that are left decides. */
static void put_in_order(const double *vectors, const double *values, int n, double *rotation, double *variance)
{
    unsigned axes = 0, taken = 0;

    for (int round = 0; round < n; round++) {
        double largest = -1;
        int axis = 0, which = 0;

        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                if (!(axes >> j & 1) && !(taken >> k & 1) && fabs(vectors[j * n + k]) > largest + 1e-12) {
                    largest = fabs(vectors[j * n + k]);
                    axis = j;
                    which = k;
                }
        axes |= 1u << axis;
        taken |= 1u << which;
        double sign = sign_of(vectors, n, which);
        for (int j = 0; j < n; j++)
            rotation[j * n + axis] = sign * vectors[j * n + which];
        variance[axis] = values[which];
    }
}

int builder_take_frame(builder *b, const gbees_node *node)
{
    gbees_problem *problem = b->problem;
    const int n = problem->dimension;

    if (!problem->functions->framed)
        return gbees_node_error(node, b->error, "the plugin of %s has no functions for a turned grid",
                                b->model->name);
    problem->rotated = 1;
    problem->functions = problem->functions->framed;
    memcpy(problem->centre, problem->mean, sizeof problem->centre);
    memset(problem->mean, 0, sizeof problem->mean);
    for (int j = 0; j < n; j++)
        problem->parameters[GBEES_MAX_PARAMETERS + j] = problem->centre[j];
    memcpy(problem->parameters + GBEES_FRAME_ROTATION, problem->rotation,
           (size_t)(n * n) * sizeof *problem->rotation);
    return GBEES_OK;
}

int builder_set_frame(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *node = builder_find(b, "rotate");
    const int n = problem->dimension;
    double vectors[GBEES_MAX_DIM * GBEES_MAX_DIM], values[GBEES_MAX_DIM], variance[GBEES_MAX_DIM];

    if (builder_is_set(b, "rotate", "yes") && builder_find(b, "initial"))
        return gbees_node_error(node, b->error,
                                "rotate: a grid is turned to the eigenvectors of 'covariance': leave it out where "
                                "'initial' says how the density begins");
    /* Without correlations the axes are the model's, and all is as it would be. */
    if (!builder_is_set(b, "rotate", "yes") || is_diagonal(problem->covariance, n))
        return GBEES_OK;
    memcpy(vectors, problem->covariance, sizeof vectors);
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, vectors, n, values))
        return gbees_node_error(node, b->error, "rotate: the eigenvectors of the covariance were not found");
    put_in_order(vectors, values, n, problem->rotation, variance);
    for (int j = 0; j < n; j++)
        if (!(variance[j] > 0))
            return gbees_node_error(
                node, b->error,
                "rotate: the covariance is not positive definite to the last digits: its smallest "
                "eigenvalue is %g",
                values[0]);
    memset(problem->covariance, 0, sizeof problem->covariance);
    for (int j = 0; j < n; j++)
        problem->covariance[j * n + j] = variance[j];
    return builder_take_frame(b, node);
}

/* R C R^T. */
static void turn_matrix(int n, const double *rotation, double *c)
{
    double half[GBEES_MAX_DIM * GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            half[j * n + k] = 0;
            for (int m = 0; m < n; m++)
                half[j * n + k] += rotation[j * n + m] * c[m * n + k];
        }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double sum = 0;

            for (int m = 0; m < n; m++)
                sum += half[j * n + m] * rotation[k * n + m];
            c[j * n + k] = c[k * n + j] = sum;
        }
}

void gbees_frame_statistics(const gbees_problem *problem, gbees_statistics *statistics)
{
    double mean[GBEES_MAX_DIM];

    if (!problem->rotated)
        return;
    memcpy(mean, statistics->mean, sizeof mean);
    gbees_problem_point(problem, mean, statistics->mean);
    turn_matrix(problem->dimension, problem->rotation, statistics->covariance);
}
