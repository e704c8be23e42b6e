/* frame.c - a grid along the eigenvectors of the initial covariance (doc/method.md, "A rotated grid"). x = c + R
 * y. The problem is transformed to y, where the covariance is diagonal and the mean 0, and uses the model's
 * framed functions: backends have no notion of a rotation. */
#include "frame.h"
#include "base/cholesky.h"
#include "builder.h"
#include "frame/relative.h"
#include "scenario/scenario.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Correlations below this are rounding, in the covariance of a mixture and in a rotated one. */
static const double rounding = 1e-13;
/* Cells a standard deviation along an axis with `factor` 1. */
static const double factor_cells = 2;
/* The default of `frame_cells`: the most cells a standard deviation. */
static const double frame_cells = 12;

/* The sign that makes the largest component of an eigenvector positive; of equal components, the first. */
static double sign_of(const double *vectors, int n, int which)
{
    double largest = 0;

    for (int j = 0; j < n; j++)
        if (fabs(vectors[j * n + which]) > fabs(largest) * (1 + 1e-12))
            largest = vectors[j * n + which];
    return largest < 0 ? -1 : 1;
}

/* Assigns each eigenvector to the axis that it is closest to: repeatedly the largest component of those that are
 * left. */
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

/* Whether R^T R is 1, but for rounding; else the axes are those of a grid that moves. */
static int is_rotation(const double *r, int n)
{
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double sum = j == k ? -1 : 0;

            for (int l = 0; l < n; l++)
                sum += r[l * n + j] * r[l * n + k];
            if (!(fabs(sum) <= 1e-12))
                return 0;
        }
    return 1;
}

void gbees_frame_enter(gbees_problem *problem)
{
    const int n = problem->dimension;
    double *inverse = problem->parameters + GBEES_FRAME_INVERSE;
    gbees_grid_frame at;
    gbees_moving_frame frame = {.n = n};

    memcpy(problem->parameters + GBEES_FRAME_CENTRE, problem->centre, sizeof problem->centre);
    memcpy(problem->parameters + GBEES_FRAME_AXES, problem->rotation, (size_t)(n * n) * sizeof *problem->rotation);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            inverse[j * n + k] = problem->rotation[k * n + j];
    if (is_rotation(problem->rotation, n))
        return;
    memcpy(frame.m, problem->centre, sizeof frame.m);
    memcpy(frame.a, problem->rotation, sizeof frame.a);
    if (!gbees_relative_set(&frame, &(gbees_affine){.rank = 0}, &at, &(gbees_error){0}))
        memcpy(inverse, at.inverse, (size_t)(n * n) * sizeof *inverse);
}

void gbees_frame_of_grid(const gbees_problem *problem, gbees_moving_frame *frame)
{
    const int n = problem->dimension;

    *frame = (gbees_moving_frame){.n = n};
    memcpy(frame->m, problem->rotated ? problem->centre : problem->mean, sizeof frame->m);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            frame->a[j * n + k] = problem->width[k] * (problem->rotated ? problem->rotation[j * n + k] : j == k);
}

/* The same of a grid at rest: the lengths of the frame's edges are the widths. */
static void place_at_rest(const gbees_moving_frame *frame, gbees_problem *problem)
{
    const int n = problem->dimension;

    for (int k = 0; k < n; k++) {
        double square = 0;

        for (int j = 0; j < n; j++)
            square += frame->a[j * n + k] * frame->a[j * n + k];
        problem->width[k] = problem->rotated ? sqrt(square) : frame->a[k * n + k];
    }
    memcpy(problem->rotated ? problem->centre : problem->mean, frame->m, sizeof frame->m);
    if (problem->rotated)
        gbees_frame_enter(problem);
}

void gbees_frame_place(const gbees_moving_frame *frame, gbees_problem *problem)
{
    if (!problem->moving) {
        place_at_rest(frame, problem);
        return;
    }
    memcpy(problem->centre, frame->m, sizeof problem->centre);
    memcpy(problem->rotation, frame->a, sizeof problem->rotation);
    gbees_frame_enter(problem);
}

int builder_take_frame(builder *b, const gbees_node *node)
{
    gbees_problem *problem = b->problem;

    if (!problem->functions->framed)
        return gbees_node_error(node, b->error, "the plugin of %s has no functions for a rotated grid",
                                b->model->name);
    problem->rotated = 1;
    problem->functions = problem->functions->framed;
    memcpy(problem->centre, problem->mean, sizeof problem->centre);
    memset(problem->mean, 0, sizeof problem->mean);
    gbees_frame_enter(problem);
    return GBEES_OK;
}

/* to = R^T a R, or R a R^T (back); n x n each. `a` may be `to`. */
static void rotate_matrix(int n, const double *rotation, int back, const double *a, double *to)
{
    const int row = back ? n : 1, column = back ? 1 : n;
    double half[GBEES_MAX_DIM * GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            half[j * n + k] = 0;
            for (int m = 0; m < n; m++)
                half[j * n + k] += rotation[j * row + m * column] * a[m * n + k];
        }
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++) {
            double sum = 0;

            for (int m = 0; m < n; m++)
                sum += half[j * n + m] * rotation[k * row + m * column];
            to[j * n + k] = to[k * n + j] = sum;
        }
}

/* Transforms a Gaussian of a mixture to the grid's axes. Correlations that are rounding become 0. */
static void rotate_gaussian(const gbees_problem *problem, const double *centre, gbees_gaussian *gaussian)
{
    const int n = problem->dimension;
    double *const c = gaussian->covariance, mean[GBEES_MAX_DIM] = {0};

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            mean[j] += problem->rotation[k * n + j] * (gaussian->mean[k] - centre[k]);
    memcpy(gaussian->mean, mean, sizeof mean);
    rotate_matrix(n, problem->rotation, 0, c, c);
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++)
            if (fabs(c[j * n + k]) <= rounding * sqrt(c[j * n + j]) * sqrt(c[k * n + k]))
                c[j * n + k] = c[k * n + j] = 0;
}

static int rotate_to_eigenvectors(builder *b, const gbees_node *node)
{
    gbees_problem *problem = b->problem;
    const int n = problem->dimension;
    double vectors[GBEES_MAX_DIM * GBEES_MAX_DIM], values[GBEES_MAX_DIM], variance[GBEES_MAX_DIM];

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
    for (int g = 0; g < problem->gaussian_count; g++)
        rotate_gaussian(problem, problem->mean, (gbees_gaussian *)&problem->gaussians[g]);
    return builder_take_frame(b, node);
}

/* Whether a key is given, and not as an empty list, "default" or "off". */
static int is_asked_for(const gbees_node *node)
{
    if (!node || (node->kind == GBEES_NODE_LIST && node->count == 0))
        return 0;
    return node->kind != GBEES_NODE_SCALAR || (strcmp(node->text, "default") != 0 && strcmp(node->text, "off") != 0);
}

/* Refuses keys that a moving grid does not support. */
static int check_moving(const builder *b)
{
    static const char *const others[] = {"regrid", "time_step", "mode", "bound"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_asked_for(builder_find(b, others[i])))
            return gbees_node_error(builder_find(b, others[i]), b->error,
                                    "%s: a grid that moves has no '%s': remove it, or give 'frame: fixed'", others[i],
                                    others[i]);
    if (b->problem->gaussian_count > 0)
        return gbees_node_error(builder_find(b, "initial"), b->error,
                                "initial: a grid that moves follows one Gaussian: give its 'mean' and 'covariance'; "
                                "for a mixture 'frame: lagrangian', or with process noise 'frame: fixed'");
    return GBEES_OK;
}

/* Checks that `rotate` agrees with the grid of the initial record, whose cells can't be rotated. */
static int agree_with_record(const builder *b, const gbees_node *node)
{
    const int rotate = builder_is_set(b, "rotate", "yes");

    if (!node || rotate == b->problem->rotated)
        return GBEES_OK;
    return gbees_node_error(node, b->error,
                            "rotate: the grid is that of the initial record, which is %s: leave it out",
                            rotate ? "not rotated" : "rotated");
}

/* Takes the axes of the grid's record: those of the model, or of a frame. */
static int take_record_axes(builder *b, const gbees_node *node)
{
    gbees_problem *problem = b->problem;
    const int n = problem->dimension;

    if (problem->rotated)
        return GBEES_OK;
    for (int k = 0; k < n * n; k++)
        problem->rotation[k] = k % (n + 1) == 0;
    return builder_take_frame(b, node);
}

int builder_set_frame(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *node = builder_find(b, "rotate");

    if (builder_is_set(b, "frame", "moving")) {
        problem->moving = 1;
        if (check_moving(b))
            return (int)b->error->status;
        return problem->cells ? take_record_axes(b, builder_find(b, "frame")) : rotate_to_eigenvectors(b, node);
    }
    if (problem->cells)
        return agree_with_record(b, node);
    /* Without correlations the eigenvectors are the model's axes. */
    if (!builder_is_set(b, "rotate", "yes") ||
        gbees_is_diagonal(problem->dimension, problem->covariance, problem->gaussian_count > 0 ? rounding : 0))
        return GBEES_OK;
    return rotate_to_eigenvectors(b, node);
}

/* Sets the cells a deviation that the frame is to have: those that the grid begins with; where its cells are a
 * record's, which may be as narrow as K allows, those of `factor`. */
static int set_frame_least(builder *b)
{
    gbees_problem *problem = b->problem;
    const gbees_node *node = builder_find(b, "factor");
    const int n = problem->dimension;
    double cells = 0, factor[GBEES_MAX_DIM];
    const int status = node && problem->cells ? gbees_node_numbers(node, "factor", n, b->size, factor, b->error) : 0;

    if (status)
        return status;
    for (int j = 0; j < n; j++)
        cells += (problem->cells ? log(factor_cells * (node ? factor[j] : 1))
                                 : log(sqrt(problem->covariance[j * (n + 1)]) / problem->width[j])) /
                 n;
    problem->frame_least = exp(cells);
    return GBEES_OK;
}

/* Makes the columns of the frame's matrix the edges of the cells, which then have width 1 in the frame's coordinates:
 * so the frame can stretch. */
int builder_set_moving(builder *b)
{
    gbees_problem *problem = b->problem;
    const int n = problem->dimension;
    double width[GBEES_MAX_DIM];

    if (gbees_problem_is_exact(problem))
        return GBEES_OK;
    problem->frame_cells = builder_number(b, "frame_cells", frame_cells);
    if (!problem->moving)
        return GBEES_OK;
    const int status = set_frame_least(b);
    if (status)
        return status;
    memcpy(width, problem->width, sizeof width);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
            problem->rotation[k * n + j] *= width[j];
            problem->covariance[j * n + k] /= width[j] * width[k];
        }
        problem->width[j] = 1;
    }
    gbees_frame_enter(problem);
    const gbees_node *given = builder_find(b, "frame_cells"), *factor = builder_find(b, "factor");
    return problem->frame_cells >= problem->frame_least
               ? GBEES_OK
               : gbees_node_error(
                     given    ? given
                     : factor ? factor
                              : builder_find(b, "frame"),
                     b->error,
                     "frame_cells: expected at least the %g cells a standard deviation that the grid begins "
                     "with, found %g",
                     problem->frame_least, problem->frame_cells);
}

void gbees_frame_statistics(const gbees_problem *problem, gbees_statistics *statistics)
{
    double mean[GBEES_MAX_DIM];

    if (!problem->rotated)
        return;
    memcpy(mean, statistics->mean, sizeof mean);
    gbees_problem_point(problem, mean, statistics->mean);
    statistics->entropy += log(fabs(gbees_matrix_determinant(problem->dimension, problem->rotation)));
    rotate_matrix(problem->dimension, problem->rotation, 1, statistics->covariance, statistics->covariance);
}
