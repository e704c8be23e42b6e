/* setup.c - an engine for a problem: arrays, tables of face points, the initial density. */
#include "engine.h"
#include "numerics/likelihood.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
}

/* Whether a float resolves positions to 1/4096 of a cell; if not, drifts are evaluated in double. */
static int needs_wide(const gbees_problem *problem)
{
    for (int j = 0; j < problem->dimension; j++) {
        double reach = fabs(problem->mean[j]) + problem->extent[j] * problem->width[j];

        if (reach * 6e-8 > problem->width[j] / 4096)
            return 1;
    }
    return 0;
}

/* Face points along `axis`, in cell widths: plane f at coordinate f - 1/2 of the axis, for f = -1 .. edge + 1; the
 * other coordinates as the split along the axis orders a plane's cells. */
static void make_points(gbees_engine *e, int axis, size_t real_size, char *to)
{
    const gbees_shape *shape = &e->g.shape;
    int edge = shape->edge[axis], lanes = shape->cells / edge, points = (edge + 3) * lanes;
    double cells[64], planes[64];

    for (int k = 0; k < shape->n; k++) {
        for (int c = 0; c < shape->cells; c++)
            cells[c] = gbees_shape_local(shape, c, k);
        if (e->real_size == sizeof(float)) {
            float narrow[64], split[64];

            for (int c = 0; c < shape->cells; c++)
                narrow[c] = (float)cells[c];
            e->kernel->split_index(&e->g, axis, narrow, split);
            for (int c = 0; c < shape->cells; c++)
                planes[c] = (double)split[c];
        } else {
            e->kernel->split_index(&e->g, axis, cells, planes);
        }
        for (int i = 0; i < points; i++) {
            double x = e->problem->width[k] * (k == axis ? i / lanes - 1.5 : planes[i % lanes]);

            if (real_size == sizeof(float))
                ((float *)(void *)to)[k * points + i] = (float)x;
            else
                ((double *)(void *)to)[k * points + i] = x;
        }
        e->context.axis[axis].offset[k] = to + (size_t)(k * points) * real_size;
        e->context.axis[axis].inner[k] = to + (size_t)(k * points + lanes) * real_size;
        e->context.axis[axis].upper[k] = to + (size_t)(k * points + 2 * lanes) * real_size;
    }
}

static int set_up_context(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    kernel_context *c = &e->context;

    c->g = &e->g;
    c->n = problem->dimension;
    c->wide = e->real_size == sizeof(float) && needs_wide(problem);
    c->parameters_d = problem->parameters;
    c->parameters_f = e->parameters_f;
    c->moving = (problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    c->preserving = problem->numerics.scheme == GBEES_SCHEME_SPLIT5_MP;
    c->divergence = problem->numerics.scheme == GBEES_SCHEME_CTU_DIVERGENCE ||
                    problem->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE;
    c->rate_is_sum = !e->split;
    /* Bricks that hold little may be a quarter faster (engine_rate). */
    c->reach = e->reach > 1 ? (int)(1.25 * problem->numerics.courant) + 1 : 1;
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++)
        e->parameters_f[k] = (float)problem->parameters[k];
    for (int d = 0; d < 2 * c->n; d++)
        e->near[d] = gbees_shape_near(&e->g.shape, d, e->reach);
    for (int j = 0; j < c->n; j++) {
        const gbees_shape *shape = &e->g.shape;
        size_t size = c->wide ? sizeof(double) : e->real_size;
        size_t points = (size_t)((shape->edge[j] + 3) * (shape->cells / shape->edge[j]));

        c->origin[j] = problem->mean[j];
        c->width[j] = problem->width[j];
        c->axis[j] = (kernel_axis){.edge = shape->edge[j],
                                   .width = problem->width[j],
                                   .component_f = problem->functions->component_f[j],
                                   .component_d = problem->functions->component_d[j]};
        e->offsets[j] = aligned_alloc(64, (points * (size_t)c->n * size + 63) / 64 * 64);
        if (!e->offsets[j])
            return no_memory(error);
        make_points(e, j, size, e->offsets[j]);
        for (int cell = 0; cell < shape->cells; cell++)
            e->local[j][cell] = problem->width[j] * gbees_shape_local(shape, cell, j);
    }
    return 0;
}

static int invert(int n, const double *matrix, double *inverse, gbees_error *error)
{
    memcpy(inverse, matrix, (size_t)(n * n) * sizeof *inverse);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, inverse, n) || LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', n, inverse, n))
        return gbees_error_set(error, GBEES_EINPUT, "covariance: not positive definite");
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++)
            inverse[j * n + k] = inverse[k * n + j];
    return 0;
}

int engine_set_up(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    int n = problem->dimension;
    size_t cells = (size_t)e->cells;
    int status = grid_create(&e->g, n, e->cells, error);

    if (!status && e->reach > gbees_shape_reach(&e->g.shape))
        status = gbees_error_set(error, GBEES_EUSAGE, "the CPU backend takes Courant numbers up to %d here, not %g",
                                 gbees_shape_reach(&e->g.shape), problem->numerics.courant);
    e->g.threads = e->threads;
    struct {
        void **data;
        size_t size;
        int transient, wanted;
    } fields[] = {
        {&e->p, cells * e->real_size, 0, 1},
        {&e->s, cells * e->real_size, 1, !e->split},
        {&e->next, cells * e->real_size, 1, 1}, /* the split scheme's prunes put the density in order there */
        {&e->share, cells * e->real_size, 1, problem->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE},
        {(void **)&e->active, sizeof *e->active, 0, 1},
        {(void **)&e->flow, (size_t)(2 * n) * sizeof *e->flow, 0, 1},
        {(void **)&e->rate, sizeof *e->rate, 0, 1},
        {(void **)&e->diverging, sizeof *e->diverging, 0, 1},
        {(void **)&e->needed, sizeof *e->needed, 1, 1},
        {(void **)&e->velocity, (size_t)n * sizeof *e->velocity, 0, e->paper},
    };

    for (size_t f = 0; f < sizeof fields / sizeof fields[0] && !status; f++)
        if (fields[f].wanted)
            status = grid_register(&e->g, fields[f].data, fields[f].size, fields[f].transient, error);
    if (!status)
        status = invert(n, problem->covariance, e->precision_matrix, error);
    return status ? status : set_up_context(e, error);
}

/* Calls for every brick of the initial box, in lexicographic order. */
static void next_key(const int32_t *lo, const int32_t *hi, int n, int32_t *key)
{
    for (int j = n - 1; j >= 0; j--) {
        if (++key[j] <= hi[j])
            return;
        key[j] = lo[j];
    }
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

/* Averages over cells of a Gaussian along its own axes, for cell indices 0, 1 ... extent: [j]. */
typedef struct averages {
    double *along[GBEES_MAX_DIM];
} averages;

static void free_averages(averages *a)
{
    for (int j = 0; j < GBEES_MAX_DIM; j++)
        free(a->along[j]);
}

static int make_averages(const gbees_problem *problem, averages *a, gbees_error *error)
{
    for (int j = 0; j < problem->dimension; j++) {
        double scale = sqrt(2 * problem->covariance[j * problem->dimension + j]), half = problem->width[j] / 2;

        a->along[j] = malloc(((size_t)problem->extent[j] + 1) * sizeof *a->along[j]);
        if (!a->along[j])
            return no_memory(error);
        for (int32_t i = 0; i <= problem->extent[j]; i++) {
            double centre = problem->width[j] * i, far = (centre + half) / scale, near = (centre - half) / scale;

            a->along[j][i] = erfc(near) - erfc(far); /* of the upper tail: no digits are lost far out */
        }
    }
    return 0;
}

/* The Gaussian's average over a cell, up to a factor that is the same for all: a product along its own axes, else
 * Gauss's rule with two points an axis (its error is h^4 / 4320 of the fourth derivative). */
static double cell_average(const gbees_engine *e, const averages *a, const int32_t *index, const double *centre)
{
    const gbees_problem *problem = e->problem;
    int n = problem->dimension, diagonal = a->along[0] != NULL;
    double p = diagonal ? 1 : 0;

    for (int j = 0; diagonal && j < n; j++)
        p *= a->along[j][abs(index[j])];
    for (int point = 0; !diagonal && point < 1 << n; point++) {
        double x[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++)
            x[j] = centre[j] + (point >> j & 1 ? 0.5 : -0.5) / sqrt(3.0) * problem->width[j];
        p += exp(gbees_gaussian_exponent(n, x, e->precision_matrix));
    }
    return p;
}

static double fill_brick(gbees_engine *e, uint32_t slot, const averages *a)
{
    const gbees_problem *problem = e->problem;
    const gbees_shape *shape = &e->g.shape;
    const int32_t *key = grid_key(&e->g, slot);
    double sum = 0;

    for (int cell = 0; cell < shape->cells; cell++) {
        double residual[GBEES_MAX_DIM], p = 0;
        int32_t index[GBEES_MAX_DIM];
        int inside = 1;

        for (int j = 0; j < shape->n; j++) {
            index[j] = key[j] * shape->edge[j] + gbees_shape_local(shape, cell, j);

            inside = inside && index[j] >= -problem->extent[j] && index[j] <= problem->extent[j];
            residual[j] = problem->width[j] * index[j];
        }
        if (inside)
            p = e->averages ? cell_average(e, a, index, residual)
                            : exp(gbees_gaussian_exponent(shape->n, residual, e->precision_matrix));
        engine_set_p(e, (size_t)slot * (size_t)shape->cells + (size_t)cell, p);
        sum += p;
    }
    return sum;
}

int engine_fill_initial(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    const gbees_shape *shape = &e->g.shape;
    int n = shape->n;
    int32_t lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM], key[GBEES_MAX_DIM];
    double bricks = 1, sum = 0;
    averages a = {0};

    for (int j = 0; j < n; j++) {
        key[j] = lo[j] = gbees_shape_key(shape, j, -problem->extent[j]);
        hi[j] = gbees_shape_key(shape, j, problem->extent[j]);
        bricks *= hi[j] - lo[j] + 1.0;
    }
    int status = bricks > 4e9 ? gbees_error_set(error, GBEES_ENOMEM, "the initial box needs %.3g bricks", bricks)
                              : grid_reserve(&e->g, (uint64_t)bricks, error);
    if (!status && e->averages && is_diagonal(problem))
        status = make_averages(problem, &a, error);
    if (status) {
        free_averages(&a);
        return status;
    }
    for (uint64_t k = 0; k < (uint64_t)bricks; k++) {
        grid_insert(&e->g, key);
        next_key(lo, hi, n, key);
    }
    e->g.sorted = e->g.count;
#pragma omp parallel for num_threads(e->threads) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        double mass = fill_brick(e, e->g.used[k], &a);

        e->rate[e->g.used[k]] = mass; /* for the sum below, in order; rates come later */
    }
    free_averages(&a);
    for (uint32_t k = 0; k < e->g.count; k++)
        sum += e->rate[e->g.used[k]];
    engine_scale(e, 1 / sum);
    status = engine_sum(e, &e->mass, error);
    if (status)
        return status;
    budget_start(e);
    status = engine_inspect(e, 0, problem->start, error);
    if (status)
        return status;
    e->needed_count = engine_mark_needed(e, NULL);
    return e->split ? engine_couple(e, problem->start, error) : 0;
}
