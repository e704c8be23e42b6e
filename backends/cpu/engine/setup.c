/* setup.c - an engine for a problem: arrays, tables of face points, the initial density. */
#include "common/bound.h"
#include "common/initial.h"
#include "common/initial_bricks.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
}

/* Face points along `axis`, in cell widths: plane f at coordinate f - 1/2 of the axis, for f = -1 .. edge + 1; the
 * other coordinates as the kernels order a plane's cells.  Then the planes' coordinates alone. */
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
            e->kernel->to_planes(&e->g, axis, narrow, split);
            for (int c = 0; c < shape->cells; c++)
                planes[c] = (double)split[c];
        } else {
            e->kernel->to_planes(&e->g, axis, cells, planes);
        }
        for (int i = 0; i < points; i++) {
            double x = e->problem->width[k] * (k == axis ? i / lanes - 1.5 : planes[i % lanes]);

            if (real_size == sizeof(float))
                ((float *)(void *)to)[k * points + i] = (float)x;
            else
                ((double *)(void *)to)[k * points + i] = x;
        }
        e->context.drift.axis[axis].offset[k] = to + (size_t)(k * points) * real_size;
        e->context.drift.axis[axis].inner[k] = to + (size_t)(k * points + lanes) * real_size;
        e->context.drift.axis[axis].upper[k] = to + (size_t)(k * points + 2 * lanes) * real_size;
    }
    to += (size_t)(shape->n * points) * real_size;
    e->context.drift.axis[axis].along = to;
    for (int f = 0; f < edge + 3; f++) {
        double x = e->problem->width[axis] * (f - 1.5);

        if (real_size == sizeof(float))
            ((float *)(void *)to)[f] = (float)x;
        else
            ((double *)(void *)to)[f] = x;
    }
}

static int set_up_context(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    kernel_context *c = &e->context;

    c->g = &e->g;
    c->n = problem->dimension;
    c->drift.f64 = e->real_size == sizeof(float) && initial_box_is_fine(problem);
    c->drift.parameters_d = problem->parameters;
    c->drift.parameters_f = e->parameters_f;
    c->drift.time_dependent = (problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    c->scheme.preserving = gbees_scheme_is_preserving(problem->numerics.scheme);
    c->scheme.order = gbees_scheme_order(problem->numerics.scheme);
    c->scheme.divergence = problem->numerics.scheme == GBEES_SCHEME_CTU_DIVERGENCE ||
                           problem->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE;
    c->scheme.rate_is_sum = !e->split;
    /* Bricks that hold little may be a quarter faster (gbees_cfl_rate). */
    c->scheme.reach = e->reach > 1 ? (int)(1.25 * problem->numerics.courant) + 1 : 1;
    for (int k = 0; k < GBEES_PARAMETER_VALUES; k++)
        e->parameters_f[k] = (float)problem->parameters[k];
    c->noise.evaluate = problem->functions->diffusion_d;
    c->noise.full = gbees_problem_noise(problem) == GBEES_FULL;
    for (int d = 0; d < 2 * c->n; d++) {
        e->near[d] = gbees_shape_near(&e->g.shape, d, e->reach);
        for (int cell = 0; cell < e->g.shape.cells; cell++)
            c->noise.beside[d][cell] = (unsigned char)gbees_shape_beside(&e->g.shape, cell, d);
    }
    for (int j = 0; j < c->n; j++) {
        const gbees_shape *shape = &e->g.shape;
        size_t size = c->drift.f64 ? sizeof(double) : e->real_size;
        size_t lanes = (size_t)(shape->cells / shape->edge[j]), planes = (size_t)shape->edge[j] + 3;
        int by_planes = lanes % GBEES_LANES == 0;

        c->geometry.origin[j] = problem->mean[j];
        c->geometry.width[j] = problem->width[j];
        c->geometry.brick_width[j] = problem->width[j] * shape->edge[j];
        c->noise.over_width[j] = 1 / problem->width[j];
        c->drift.axis[j] = (kernel_axis){.edge = shape->edge[j],
                                         .width = problem->width[j],
                                         .component_f = problem->functions->component_f[j],
                                         .component_d = problem->functions->component_d[j],
                                         .planes_f = by_planes ? problem->functions->planes_f[j] : NULL,
                                         .planes_d = by_planes ? problem->functions->planes_d[j] : NULL};
        e->offsets[j] = aligned_alloc(64, ((lanes * (size_t)c->n + 1) * planes * size + 63) / 64 * 64);
        if (!e->offsets[j])
            return no_memory(error);
        make_points(e, j, size, e->offsets[j]);
        for (int cell = 0; cell < shape->cells; cell++)
            e->local[j][cell] = problem->width[j] * gbees_shape_local(shape, cell, j);
    }
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
        {&e->next, cells * e->real_size, 1, !e->split || problem->functions->diffusion_d},
        {&e->share, cells * e->real_size, 1, problem->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE},
        {(void **)&e->active, sizeof *e->active, 0, 1},
        {(void **)&e->flow, (size_t)(2 * n) * sizeof *e->flow, 0,
         e->paper || problem->functions->diffusion_d != NULL},
        {(void **)&e->rate, sizeof *e->rate, 0, 1},
        {(void **)&e->diverging, sizeof *e->diverging, 0, 1},
        {(void **)&e->steady, sizeof *e->steady, 0, 1},
        {(void **)&e->needed, sizeof *e->needed, 1, 1},
        {(void **)&e->served, sizeof *e->served, 0, 1},
        {(void **)&e->noise, sizeof *e->noise, 0, problem->functions->diffusion_d != NULL},
        {(void **)&e->velocity, (size_t)n * sizeof *e->velocity, 0, e->paper},
        {(void **)&e->inside, sizeof *e->inside, 0, problem->bounded},
        {(void **)&e->barred, (size_t)(2 * n) * sizeof *e->barred, 0, problem->bounded},
    };

    for (size_t f = 0; f < sizeof fields / sizeof fields[0] && !status; f++)
        if (fields[f].wanted)
            status = grid_register(&e->g, fields[f].data, fields[f].size, fields[f].transient, error);
    return status ? status : set_up_context(e, error);
}

static double fill_brick(gbees_engine *e, uint32_t slot, const initial_density *density)
{
    double p[64], sum = initial_density_brick(density, &e->g.shape, grid_key(&e->g, slot), p);

    for (int cell = 0; cell < e->cells; cell++)
        engine_set_p(e, (size_t)slot * (size_t)e->cells + (size_t)cell, p[cell]);
    return sum;
}

int engine_fill_initial(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    initial_bricks bricks;
    initial_density density;
    double sum = 0;
    int status = initial_bricks_create(&bricks, problem, &e->g.shape, 4e9, error);

    if (status)
        return status;
    status = grid_reserve(&e->g, bricks.count, error);
    if (!status)
        status = initial_density_create(&density, problem, error);
    for (uint64_t k = 0; k < bricks.count && !status; k++) {
        int32_t key[GBEES_MAX_DIM];

        initial_bricks_take(&bricks, key);
        uint64_t inside = bound_cells(problem, &e->g.shape, key);
        if (inside)
            engine_set_inside(e, grid_add(&e->g, key, grid_hash(&e->g, key)), inside);
    }
    if (!status)
        grid_link(&e->g, 0);
    initial_bricks_destroy(&bricks);
    if (status)
        return status;
    e->g.sorted = e->g.count;
#pragma omp parallel for num_threads(e->threads) schedule(static)
    for (uint32_t k = 0; k < e->g.count; k++) {
        double mass = fill_brick(e, e->g.used[k], &density);

        e->rate[e->g.used[k]] = mass; /* for the sum below, in order; rates come later */
        e->served[e->g.used[k]] = 0;
    }
    initial_density_destroy(&density);
    for (uint32_t k = 0; k < e->g.count; k++)
        sum += e->rate[e->g.used[k]];
    engine_scale(e, 1 / sum);
    status = engine_sum(e, NULL, &e->run.ledger.mass, error);
    if (status)
        return status;
    budget_start(e);
    status = engine_inspect(e, 0, problem->start, error);
    if (status)
        return status;
    /* Half of a box in many dimensions are corners that nothing needs; the reference carries them to its first prune.
     */
    if (problem->numerics.mode == GBEES_MODE_DEFAULT)
        status = engine_prune(e, problem->start, error);
    else if (e->split)
        status = engine_couple(e, problem->start, error);
    if (status)
        return status;
    gbees_work_count(&e->run.work, engine_mark_needed(e, &e->above_count));
    e->is_initial = 1;
    return 0;
}
