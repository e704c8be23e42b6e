/* start.c - samples of the initial density: a Gaussian, a mixture of them, cut as the grid cuts them, or the cells of
 * a record. */
#include "base/cholesky.h"
#include "base/workers.h"
#include "samples.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 10000, SQUARE = GBEES_MAX_DIM * GBEES_MAX_DIM };

/* What samples are drawn from, in the grid's axes. */
typedef struct source {
    const gbees_problem *problem;
    const gbees_functions *functions; /* the model's own */
    uint64_t seed;
    int cut;
    int count;                /* Gaussians */
    double (*factor)[SQUARE]; /* of their covariances */
    double *below;            /* cumulated weights of the Gaussians, or cells, before each one; the last: of all */
} source;

/* ---- what the grid holds ---------------------------------------------------------------------------------- */

/* Whether the cell at an index keeps the model's bound: J at its centre is in the range. */
static int keeps_bound(const source *from, const int *index)
{
    static const double nowhere[1];
    const gbees_problem *problem = from->problem;
    const double *offset[GBEES_MAX_DIM];
    double centre[GBEES_MAX_DIM], x[GBEES_MAX_DIM], value;

    if (!problem->bounded)
        return 1;
    for (int j = 0; j < problem->dimension; j++) {
        centre[j] = problem->mean[j] + problem->width[j] * index[j];
        offset[j] = nowhere;
    }
    gbees_problem_point(problem, centre, x);
    from->functions->bound_d(1, problem->start, x, offset, problem->parameters, &value);
    return value >= problem->bound_low && value <= problem->bound_high;
}

/* A box of cells, faces included; its sides and `offset` are counted from cell 0. */
static int is_in_box(const gbees_problem *problem, const double *offset, const int *lo, const int *hi)
{
    for (int j = 0; j < problem->dimension; j++) {
        const double low = lo ? lo[j] : -problem->extent[j], high = hi ? hi[j] : problem->extent[j];

        if (offset[j] < (low - 0.5) * problem->width[j] || offset[j] > (high + 0.5) * problem->width[j])
            return 0;
    }
    return 1;
}

/* Whether the grid's initial cells include the one at this place: in a Gaussian's box and within the bound. */
static int is_held(const source *from, const double *offset)
{
    const gbees_problem *problem = from->problem;
    int held = problem->gaussian_count == 0 && is_in_box(problem, offset, NULL, NULL), index[GBEES_MAX_DIM];

    for (int g = 0; g < problem->gaussian_count && !held; g++)
        held = is_in_box(problem, offset, problem->gaussians[g].lo, problem->gaussians[g].hi);
    for (int j = 0; j < problem->dimension && held; j++) /* the upper face of the box is the last cell's */
        index[j] = (int)fmin(floor(offset[j] / problem->width[j] + 0.5), problem->extent[j]);
    return held && keeps_bound(from, index);
}

/* ---- one sample ------------------------------------------------------------------------------------------- */

/* Which of `count` intervals of the cumulated weights the number u in [0, 1) falls on. */
static size_t choose(const double *below, size_t count, double u)
{
    const double target = u * below[count];
    size_t lo = 0, hi = count;

    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;

        if (below[middle] <= target)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Draws from the Gaussian, or one of a mixture, again until a cell of the grid holds the sample. */
static int draw_gaussian(const source *from, size_t sample, double *offset)
{
    const gbees_problem *problem = from->problem;
    const int n = problem->dimension, mixture = problem->gaussian_count > 0;
    double z[GBEES_MAX_DIM], u[4];

    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t part = 0;

        if (mixture) {
            gbees_samples_uniforms(from->seed, sample, attempt, 0, SAMPLES_FOR_PART, u);
            part = choose(from->below, (size_t)from->count, u[0]);
        }
        for (int call = 0; 4 * call < n; call++)
            gbees_samples_normals(from->seed, sample, attempt, (uint64_t)call, SAMPLES_FOR_START, &z[4 * call]);
        for (int j = 0; j < n; j++) {
            offset[j] = mixture ? problem->gaussians[part].mean[j] - problem->mean[j] : 0;
            for (int k = 0; k <= j; k++)
                offset[j] += from->factor[part][j * n + k] * z[k];
        }
        if (!from->cut || is_held(from, offset))
            return 1;
    }
    return 0;
}

/* Returns -1, 0 or 1 if the cell comes before this index, has it, or comes after it. */
static int order_of(const gbees_initial_cells *cells, int n, size_t cell, const int32_t *index)
{
    for (int j = 0; j < n; j++)
        if (cells->index[j][cell] != index[j])
            return cells->index[j][cell] < index[j] ? -1 : 1;
    return 0;
}

/* P of the record's cell at an index; 0 if it has none. */
static double value_at(const gbees_initial_cells *cells, int n, const int32_t *index)
{
    size_t lo = 0, hi = cells->count;

    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        const int order = order_of(cells, n, middle, index);

        if (order == 0)
            return cells->p[middle];
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return 0;
}

/* Sets the slopes of the density inside a cell, relative to its P, from its neighbours; the density stays >= 0. */
static void find_slopes(const gbees_problem *problem, size_t cell, double *slope)
{
    const gbees_initial_cells *cells = problem->cells;
    const int n = problem->dimension;
    double sum = 0;
    int32_t index[GBEES_MAX_DIM];

    for (int j = 0; j < n; j++)
        index[j] = cells->index[j][cell];
    for (int j = 0; j < n; j++) {
        index[j]++;
        slope[j] = value_at(cells, n, index);
        index[j] -= 2;
        slope[j] = 0.5 * (slope[j] - value_at(cells, n, index)) / cells->p[cell];
        index[j]++;
        sum += fabs(slope[j]);
    }
    for (int j = 0; j < n && sum > 2; j++)
        slope[j] *= 2 / sum;
}

/* Draws from a cell of a record, with the density 1 + slope * place in it, -1/2 <= place <= 1/2: a uniform point is
 * kept with probability (1 + slope * place) / 2, else replaced by its mirror image.  So the samples have the variance
 * that the grid reports: with the whole slope where P are averages, with half of it where they are values at centres.
 */
static void draw_in_cell(const source *from, size_t sample, double *offset)
{
    const gbees_problem *problem = from->problem;
    const int n = problem->dimension;
    const double steep = problem->numerics.cell_values == GBEES_CELL_AVERAGES ? 1 : 0.5;
    double u[GBEES_MAX_DIM + 4], slope[GBEES_MAX_DIM], density = 1;

    for (int call = 0; 4 * call < n + 2; call++)
        gbees_samples_uniforms(from->seed, sample, 0, (uint64_t)call, SAMPLES_FOR_CELL, &u[4 * call]);
    const size_t cell = choose(from->below, problem->cells->count, u[0]);
    find_slopes(problem, cell, slope);
    for (int j = 0; j < n; j++)
        density += steep * slope[j] * (u[2 + j] - 0.5);
    for (int j = 0; j < n; j++) {
        const double place = 2 * u[1] < density ? u[2 + j] - 0.5 : 0.5 - u[2 + j];

        offset[j] = problem->width[j] * (problem->cells->index[j][cell] + place);
    }
}

static int draw_sample(gbees_montecarlo *montecarlo, const source *from, size_t sample)
{
    const gbees_problem *problem = from->problem;
    const int n = problem->dimension;
    double offset[GBEES_MAX_DIM], y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];
    int drawn = 1;

    if (problem->cells)
        draw_in_cell(from, sample, offset);
    else
        drawn = draw_gaussian(from, sample, offset);
    for (int j = 0; j < n; j++)
        y[j] = problem->mean[j] + offset[j];
    gbees_problem_point(problem, y, x);
    for (int j = 0; j < n; j++)
        montecarlo->x[j][sample] = x[j];
    montecarlo->weight[sample] = 1;
    return drawn;
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static int set_gaussians(source *from, gbees_error *error)
{
    const gbees_problem *problem = from->problem;
    const int mixture = problem->gaussian_count > 0;

    from->count = mixture ? problem->gaussian_count : 1;
    from->factor = calloc((size_t)from->count, sizeof *from->factor);
    from->below = calloc((size_t)from->count + 1, sizeof *from->below);
    if (!from->factor || !from->below)
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory");
    for (int g = 0; g < from->count; g++) {
        if (gbees_cholesky_factor(problem->dimension,
                                  mixture ? problem->gaussians[g].covariance : problem->covariance, from->factor[g]))
            return gbees_error_set(error, GBEES_EINPUT,
                                   "Monte Carlo: the initial covariance is not positive definite");
        from->below[g + 1] = from->below[g] + (mixture ? problem->gaussians[g].weight : 1);
    }
    return GBEES_OK;
}

static int set_cells(source *from, gbees_error *error)
{
    const gbees_initial_cells *cells = from->problem->cells;

    from->below = calloc(cells->count + 1, sizeof *from->below);
    if (!from->below)
        return gbees_error_set(error, GBEES_ENOMEM, "Monte Carlo: no memory for the %zu cells of the initial record",
                               cells->count);
    for (size_t i = 0; i < cells->count; i++) {
        int index[GBEES_MAX_DIM];

        for (int j = 0; j < from->problem->dimension; j++)
            index[j] = cells->index[j][i];
        from->below[i + 1] = from->below[i] + (keeps_bound(from, index) ? cells->p[i] : 0);
    }
    return GBEES_OK;
}

/* What all blocks of samples share. */
typedef struct draw {
    gbees_montecarlo *montecarlo;
    const source *from;
    atomic_int refused; /* whether a sample was not held by the grid in all attempts */
} draw;

static void draw_block(void *context, size_t block)
{
    draw *all = context;
    const size_t first = block * SAMPLES_BLOCK, count = samples_in_block(all->montecarlo, block);

    for (size_t i = first; i < first + count; i++)
        if (!draw_sample(all->montecarlo, all->from, i))
            atomic_store(&all->refused, 1);
}

int gbees_samples_draw(gbees_montecarlo *montecarlo, gbees_error *error)
{
    const gbees_problem *problem = montecarlo->problem;
    source from = {.problem = problem,
                   .functions = gbees_problem_own_functions(problem),
                   .seed = montecarlo->options.seed,
                   .cut = montecarlo->options.cut};
    draw all = {.montecarlo = montecarlo, .from = &from};
    int status = problem->cells ? set_cells(&from, error) : set_gaussians(&from, error);

    if (!status) {
        gbees_workers_run(montecarlo->options.threads, samples_blocks(montecarlo), draw_block, &all);
        if (atomic_load(&all.refused))
            status = gbees_error_set(error, GBEES_EUSAGE,
                                     "Monte Carlo: the grid's initial box holds hardly any of the Gaussian; don't "
                                     "cut it");
    }
    free(from.factor);
    free(from.below);
    return status;
}
