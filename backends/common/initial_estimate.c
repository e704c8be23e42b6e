/* initial_estimate.c - estimates how many bricks a grid starts with, from the Gaussians of the initial density alone.
 *
 * A cell is active if its distance from the mean, in standard deviations, is less than R, with P = p* there. The
 * bricks with such a cell are counted axis after axis: a table has the number of ways to choose the keys of the axes
 * so far, by the square of the distance of the closest cell. This is what takes no longer in eight dimensions than in
 * two.
 */
#include "gaussian.h"
#include "initial_grid.h"
#include <math.h>
#include <string.h>

enum { LEVELS = 512 }; /* of the squared distance, from 0 to R^2 */

/* One Gaussian, with its cells in the box lo .. hi. */
typedef struct part {
    double radius_2;                                      /* R^2 */
    double mean[GBEES_MAX_DIM], deviation[GBEES_MAX_DIM]; /* in cells */
    int lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM];
} part;

/* The p* that a run begins with, or a lower bound. */
static double least_threshold(const gbees_problem *problem)
{
    double cells = 1;

    if (!(problem->mass_budget > 0))
        return problem->threshold;
    for (int j = 0; j < problem->dimension; j++)
        cells *= 2.0 * problem->extent[j] + 1;
    return mass_budget_least(problem, cells);
}

/* Sets a part from a Gaussian. Returns whether its covariance is positive definite. Distances are
 * measured by the marginal deviations: a correlated Gaussian has fewer bricks. */
static int set_part(const gbees_problem *problem, const double *mean, const double *covariance, double weight,
                    part *to)
{
    const int n = problem->dimension;
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM], log_peak;

    if (gaussian_invert(n, covariance, inverse, &log_peak))
        return 0;
    for (int j = 0; j < n; j++) {
        log_peak += log(problem->width[j]);
        to->mean[j] = mean ? (mean[j] - problem->mean[j]) / problem->width[j] : 0;
        to->deviation[j] = sqrt(covariance[j * n + j]) / problem->width[j];
    }
    to->radius_2 = 2 * (log_peak + log(weight / least_threshold(problem)));
    return 1;
}

/* The square of the distance, in deviations, of the closest cell of the bricks with this component along an axis. */
static double distance_2(const part *p, const gbees_shape *shape, int axis, int key)
{
    double closest = INFINITY;

    for (int i = key * shape->edge[axis]; i < (key + 1) * shape->edge[axis]; i++)
        if (i >= p->lo[axis] && i <= p->hi[axis])
            closest = fmin(closest, fabs(i - p->mean[axis]));
    closest /= p->deviation[axis];
    return closest * closest;
}

/* The number of bricks with an active cell. */
static double count_bricks(const part *p, const gbees_shape *shape)
{
    double ways[LEVELS] = {1}, sum = 0;

    if (!(p->radius_2 > 0))
        return 1;
    for (int j = 0; j < shape->n; j++) {
        double next[LEVELS] = {0};

        for (int key = gbees_shape_key(shape, j, p->lo[j]); key <= gbees_shape_key(shape, j, p->hi[j]); key++) {
            const double level = distance_2(p, shape, j, key) / p->radius_2 * LEVELS;

            for (int k = 0; k + level < LEVELS; k++) /* rounded to nearest: errors of the axes cancel */
                next[(int)fmin(k + level + 0.5, LEVELS - 1)] += ways[k];
        }
        memcpy(ways, next, sizeof ways);
    }
    for (int k = 0; k < LEVELS; k++)
        sum += ways[k];
    return sum;
}

double initial_grid_estimate(const gbees_problem *problem, const gbees_shape *shape)
{
    const double most = initial_bricks_most(problem, shape);
    double bricks = 0;
    part p = {0};

    if (!initial_grid_selects(problem))
        return most;
    for (int g = 0; g < problem->gaussian_count; g++) {
        const gbees_gaussian *gaussian = &problem->gaussians[g];

        if (!set_part(problem, gaussian->mean, gaussian->covariance, gaussian->weight, &p))
            return most;
        memcpy(p.lo, gaussian->lo, sizeof p.lo);
        memcpy(p.hi, gaussian->hi, sizeof p.hi);
        bricks += count_bricks(&p, shape);
    }
    if (problem->gaussian_count == 0) {
        if (!set_part(problem, NULL, problem->covariance, 1, &p))
            return most;
        for (int j = 0; j < problem->dimension; j++) {
            p.lo[j] = -problem->extent[j];
            p.hi[j] = problem->extent[j];
        }
        bricks = count_bricks(&p, shape);
    }
    return fmin(bricks, most);
}
