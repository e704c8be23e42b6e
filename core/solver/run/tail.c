/* tail.c - tells from entropy, narrowing and distance of the mean whether a measurement's support lay where cells
 * are few, by a rule from a Gaussian's tail. */
#include "tail.h"
#include "frame/matrix.h"
#include "numerics/likelihood.h"
#include <math.h>
#include <stdlib.h>

enum { N = GBEES_MAX_DIM };

static const double near_threshold = 10; /* times p*: cells near the edge of the grid, which lets mass out */
static const double farthest = 3.6;      /* standard deviations, of what a scheme resolves of a Gaussian */
static const double around = 1.5;        /* standard deviations around the updated peak that must be resolved, too */
static const double some_of_it = 0.01;   /* of the density after the update, that a part may have */

/* How far the nearest side of the initial box is from a mean along the worst axis, in standard deviations. */
static double nearest_side(const gbees_problem *problem)
{
    const int n = problem->dimension;
    double least = INFINITY;

    for (int j = 0; j < n; j++) {
        if (problem->gaussian_count == 0)
            least =
                fmin(least, (problem->extent[j] + 0.5) * problem->width[j] / sqrt(problem->covariance[j * n + j]));
        for (int g = 0; g < problem->gaussian_count; g++) {
            const gbees_gaussian *gaussian = &problem->gaussians[g];
            const double middle = (gaussian->mean[j] - problem->mean[j]) / problem->width[j];
            const double cells = fmin(middle - gaussian->lo[j], gaussian->hi[j] - middle) + 0.5;

            least = fmin(least, cells * problem->width[j] / sqrt(gaussian->covariance[j * n + j]));
        }
    }
    return least;
}

/* The smallest ratio, over the axes, of the standard deviation after the update to that before it: at most 1. */
static double narrowing(const gbees_selection *s)
{
    const int n = s->problem->dimension;
    double least = 1;

    for (int j = 0; j < n; j++)
        if (s->before->covariance[j * n + j] > 0)
            least = fmin(least, s->after->covariance[j * n + j] / s->before->covariance[j * n + j]);
    return sqrt(least);
}

/* The logarithm of the least probability of a cell that is resolved before the update: the larger of near_threshold
 * p* and that of a Gaussian of the same entropy at `farthest` standard deviations from its mean along one axis, or,
 * at the first measurements, at the nearest side of the initial box if that is nearer. */
static double log_level(const gbees_selection *s)
{
    const gbees_problem *start = s->problem->first ? s->problem->first : s->problem;
    const double side = s->is_first && !start->cells ? fmin(nearest_side(start), farthest) : farthest;
    const double inside = fmax(0, side - around * narrowing(s));
    const double volume = gbees_matrix_cell_volume(s->problem->dimension, s->problem->width,
                                                   s->problem->moving ? s->problem->rotation : NULL);

    return fmax(log(near_threshold * s->threshold), log(volume) - s->before->entropy + 0.5 - 0.5 * inside * inside);
}

/* The logarithm of the average of exp(value) over the nodes of a product of Gauss's rules. */
static double log_average(const double *value, int count, int nodes)
{
    double top = -INFINITY, sum = 0;

    for (int i = 0; i < count; i++)
        top = fmax(top, value[i]);
    for (int i = 0; i < count && top > -INFINITY; i++) {
        double weight = exp(value[i] - top);

        for (int digits = i, left = count; left > 1; left /= nodes, digits /= nodes)
            weight *= gbees_gauss_weight(nodes, digits % nodes);
        sum += weight;
    }
    return top + log(sum);
}

/* The nodes of a cell as points x[j][i] of the model's axes: its centre alone, or of a product of Gauss's rules. */
static void place_nodes(const gbees_problem *problem, const int32_t *index, int count, int nodes, double *const *x)
{
    for (int i = 0; i < count; i++) {
        double y[N], point[N];
        int digits = i;

        for (int j = 0; j < problem->dimension; j++) {
            y[j] = problem->mean[j] + problem->width[j] * index[j];
            if (count > 1)
                y[j] += problem->width[j] * gbees_gauss_node(nodes, digits % nodes);
            digits /= nodes;
        }
        gbees_problem_point(problem, y, point);
        for (int j = 0; j < problem->dimension; j++)
            x[j][i] = point[j];
    }
}

int gbees_tail_find(const gbees_selection *s, int *found, gbees_error *error)
{
    const gbees_problem *problem = s->problem;
    const int n = problem->dimension, nodes = gbees_gauss_points(n);
    double *x[N] = {NULL}, *values, likelihood = 0;
    int points = 1, status = GBEES_OK;

    for (int j = 0; j < n && problem->numerics.cell_values == GBEES_CELL_AVERAGES; j++)
        points *= nodes;
    values = malloc((size_t)(n + 1) * (size_t)points * sizeof *values);
    if (!values)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the likelihood in a cell");
    for (int j = 0; j < n; j++)
        x[j] = values + (size_t)(j + 1) * (size_t)points;
    place_nodes(problem, s->after->peak_index, points, nodes, x);
    for (int k = 0; k < s->count && !status; k++) {
        status = gbees_measurement_log_likelihood(problem, &s->measurements[k], s->measurements[k].time,
                                                  (size_t)points, (const double *const *)x, values, error);
        likelihood += status ? 0 : log_average(values, points, nodes);
    }
    free(values);
    if (!status)
        *found = log(s->after->peak) + s->evidence - likelihood < log_level(s);
    return status;
}

int gbees_tail_lost_part(const gbees_selection *s)
{
    const gbees_problem *start = s->problem->first ? s->problem->first : s->problem;
    const int n = start->dimension;
    const double two_pi = 6.283185307179586;
    const double volume = gbees_matrix_cell_volume(n, s->problem->width, NULL); /* its axes are the Gaussians' */
    double most = 0;
    gbees_error ignored;

    for (int k = 0; k < s->count; k++) {
        double log_peak;

        if (gbees_measurement_log_peak(s->problem, &s->measurements[k], &log_peak, &ignored) || isnan(log_peak))
            return 0;
        most += log_peak;
    }
    for (int g = 0; s->is_first && !start->cells && g < start->gaussian_count; g++) {
        const gbees_gaussian *part = &start->gaussians[g];
        const double spread = sqrt(fabs(gbees_matrix_determinant(n, part->covariance)) * pow(two_pi, n));

        if (part->weight * volume / spread < near_threshold * s->threshold &&
            log(part->weight) + most > log(some_of_it) + s->evidence)
            return 1;
    }
    return 0;
}
