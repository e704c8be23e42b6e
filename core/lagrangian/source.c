/* source.c - the initial density at points: Gaussians in closed form, a record by its cells; see source.h. */
#include "source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes a mean and a covariance of the grid's axes to the model's: x = c + R y. */
static void leave_grid(const gbees_problem *problem, const double *mean, const double *covariance, gbees_source *to,
                       double *c)
{
    const int n = problem->dimension;
    double transposed[GBEES_MATRIX];

    gbees_problem_point(problem, mean, to->mean);
    memcpy(c, covariance, (size_t)(n * n) * sizeof *c);
    if (!problem->rotated)
        return;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            transposed[j * n + k] = problem->rotation[k * n + j];
    gbees_matrix_multiply(n, problem->rotation, c, c);
    gbees_matrix_multiply(n, c, transposed, c);
}

/* Sets the roots of a covariance, scaled by its deviations first, as states may have units far apart. */
static int set_roots(int n, const double *c, gbees_source *source, gbees_error *error)
{
    double vectors[GBEES_MATRIX], values[GBEES_MAX_DIM], scale[GBEES_MAX_DIM], raised[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        scale[j] = sqrt(c[j * n + j]);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            vectors[j * n + k] = (c[j * n + k] + c[k * n + j]) / 2 / (scale[j] * scale[k]);
    if (gbees_matrix_eigen(n, vectors, values) || !(values[0] > 0))
        return gbees_error_set(error, GBEES_EINPUT,
                               "the initial covariance is not positive definite to the last digits: its smallest "
                               "eigenvalue, as a correlation, is %g",
                               values[0]);
    source->log_norm -= 0.5 * n * log(2 * acos(-1));
    for (int j = 0; j < n; j++) {
        raised[j] = sqrt(values[j]);
        source->log_norm -= log(raised[j]) + log(scale[j]);
    }
    gbees_matrix_compose(n, vectors, raised, source->root);
    for (int j = 0; j < n; j++)
        raised[j] = 1 / raised[j];
    gbees_matrix_compose(n, vectors, raised, source->inverse);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            source->root[j * n + k] *= scale[j];
            source->inverse[j * n + k] /= scale[k];
        }
    return GBEES_OK;
}

/* ---- a record's cells ---- */

/* Mean and covariance of a record's cells, in the grid's axes. */
static void find_moments(const gbees_problem *problem, double *mean, double *covariance)
{
    const gbees_initial_cells *cells = problem->cells;
    const int n = problem->dimension;
    double sum = 0;

    memset(mean, 0, (size_t)n * sizeof *mean);
    memset(covariance, 0, (size_t)(n * n) * sizeof *covariance);
    for (size_t i = 0; i < cells->count; i++) {
        sum += cells->p[i];
        for (int j = 0; j < n; j++)
            mean[j] += cells->p[i] * cells->index[j][i];
    }
    for (int j = 0; j < n; j++)
        mean[j] /= sum;
    for (size_t i = 0; i < cells->count; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                covariance[j * n + k] += cells->p[i] / sum * problem->width[j] * problem->width[k] *
                                         (cells->index[j][i] - mean[j]) * (cells->index[k][i] - mean[k]);
    for (int j = 0; j < n; j++) {
        mean[j] = problem->mean[j] + problem->width[j] * mean[j];
        covariance[j * n + j] += problem->width[j] * problem->width[j] * 1e-3; /* of cells in one row */
    }
}

/* Returns the number of the cell at an index, or cells->count. */
static size_t find_cell(const gbees_initial_cells *cells, int n, const int32_t *index)
{
    size_t lo = 0, hi = cells->count;

    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        int order = 0;

        for (int j = 0; j < n && order == 0; j++)
            order = (cells->index[j][middle] > index[j]) - (cells->index[j][middle] < index[j]);
        if (order == 0)
            return middle;
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return cells->count;
}

/* The logarithm of P at an index; that of `other` where there is no cell. */
static double log_p(const gbees_problem *problem, const int32_t *index, double other)
{
    const size_t cell = find_cell(problem->cells, problem->dimension, index);

    return cell < problem->cells->count ? log(problem->cells->p[cell]) : other;
}

/* The second-order expansion of log P about the centre of the cell at `index`, at `off` cells from it. What averages
 * have lost to the width of their cells is given back: the average of a density is p + h^2 p'' / 24. */
static double expand(const gbees_problem *problem, int32_t *index, const double *off)
{
    const int n = problem->dimension;
    const double centre = log_p(problem, index, -INFINITY);
    const double averaged = problem->numerics.cell_values == GBEES_CELL_AVERAGES;
    double value = centre, side[2][GBEES_MAX_DIM], bent = 0;

    for (int j = 0; j < n && centre > -INFINITY; j++) {
        for (int s = 0; s < 2; s++) {
            index[j] += 2 * s - 1;
            side[s][j] = log_p(problem, index, centre);
            index[j] -= 2 * s - 1;
        }
        value +=
            off[j] * (side[1][j] - side[0][j]) / 2 + off[j] * off[j] * (side[1][j] + side[0][j] - 2 * centre) / 2;
        bent += exp(side[1][j] - centre) + exp(side[0][j] - centre) - 2;
    }
    for (int j = 0; j < n && centre > -INFINITY; j++)
        for (int k = 0; k < j; k++) {
            double mixed = 0;

            for (int s = 0; s < 4; s++) {
                const int one = 2 * (s & 1) - 1, other = s & 2 ? 1 : -1;

                index[j] += one;
                index[k] += other;
                mixed += one * other * log_p(problem, index, side[s & 1][j] + side[s >> 1][k] - centre);
                index[j] -= one;
                index[k] -= other;
            }
            value += off[j] * off[k] * mixed / 4;
        }
    return value + log(fmax(1 - averaged * bent / 24, 0.1));
}

static double cells_log_density(const gbees_problem *problem, const double *x)
{
    const double volume =
        gbees_matrix_cell_volume(problem->dimension, problem->width, problem->rotated ? problem->rotation : NULL);
    double off[GBEES_MAX_DIM];
    int32_t index[GBEES_MAX_DIM] = {0};

    gbees_problem_place(problem, x, off);
    for (int j = 0; j < problem->dimension; j++) {
        off[j] = (off[j] - problem->mean[j]) / problem->width[j];
        if (!(fabs(off[j]) < 1e9))
            return -INFINITY;
        index[j] = (int32_t)lround(off[j]);
        off[j] -= index[j];
    }
    return expand(problem, index, off) - log(volume);
}

/* ---- */

static double gaussian_log_density(const gbees_source *source, int n, const double *x)
{
    double square = 0;

    for (int j = 0; j < n; j++) {
        double z = 0;

        for (int k = 0; k < n; k++)
            z += source->inverse[j * n + k] * (x[k] - source->mean[k]);
        square += z * z;
    }
    return source->log_norm - square / 2;
}

void gbees_source_log_density(const gbees_source *source, size_t count, double *const *x0, double *out)
{
    const int n = source->problem->dimension;

    for (size_t i = 0; i < count; i++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = x0[j][i];
        out[i] = source->problem->cells ? cells_log_density(source->problem, x) : gaussian_log_density(source, n, x);
    }
}

static double log_share(const gbees_source *source, int n, const double *x)
{
    const double own = gaussian_log_density(source, n, x);
    double sum = 0; /* of all parts, over its own */

    for (int k = 0; k < source->parts; k++)
        sum += exp(gaussian_log_density(&source->all[k], n, x) - own);
    return -log(sum);
}

void gbees_source_log_share(const gbees_source *source, size_t count, double *const *x0, double *out)
{
    const int n = source->problem->dimension;

    for (size_t i = 0; i < count; i++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = x0[j][i];
        out[i] = source->parts > 1 ? log_share(source, n, x) : 0;
    }
}

int gbees_source_list(const gbees_problem *problem, gbees_source **list, int *count, gbees_error *error)
{
    const int parts = problem->cells || problem->gaussian_count == 0 ? 1 : problem->gaussian_count;
    const int n = problem->dimension;
    gbees_source *made = calloc((size_t)parts, sizeof *made);
    int status = GBEES_OK;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the initial density");
    for (int g = 0; g < parts && !status; g++) {
        const gbees_gaussian *gaussian = problem->gaussian_count > 0 ? &problem->gaussians[g] : NULL;
        double mean[GBEES_MAX_DIM], covariance[GBEES_MATRIX], c[GBEES_MATRIX];

        made[g].problem = problem;
        made[g].all = made;
        made[g].parts = parts;
        memcpy(mean, gaussian ? gaussian->mean : problem->mean, sizeof mean);
        memcpy(covariance, gaussian ? gaussian->covariance : problem->covariance, sizeof covariance);
        if (problem->cells)
            find_moments(problem, mean, covariance);
        made[g].log_norm = gaussian ? log(gaussian->weight) : 0;
        leave_grid(problem, mean, covariance, &made[g], c);
        status = set_roots(n, c, &made[g], error);
    }
    if (status) {
        free(made);
        return status;
    }
    *list = made;
    *count = parts;
    return GBEES_OK;
}
