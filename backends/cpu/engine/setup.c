/* setup.c - sets up an engine for a problem: arrays, tables of face points, the initial density. */
#include "base/parameters.h"
#include "common/bound.h"
#include "common/ends.h"
#include "common/initial_grid.h"
#include "engine.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "out of memory while the CPU backend was set up");
}

/* Sets the face points of a brick along an axis, relative to the centre of its lowest cell, and the pointers to them
 * in the context: n columns of (edge + 3) planes of cells / edge points, at f - 1/2 cell widths along the axis for f
 * = -1 .. edge + 1, in the order of to_planes().  Behind them are the planes' coordinates along the axis. */
static void make_points(gbees_engine *e, int axis, size_t real_size, char *to)
{
    const gbees_shape *shape = &e->g.shape;
    int edge = shape->edge[axis], lanes = shape->cells / edge, points = (edge + 3) * lanes;
    double cells[64], planes[64];

    for (int k = 0; k < shape->n; k++) {
        for (int c = 0; c < shape->cells; c++)
            cells[c] = gbees_shape_local(shape, c, k);
        if (e->method.real_size == sizeof(float)) {
            float cells_f32[64], planes_f32[64];

            for (int c = 0; c < shape->cells; c++)
                cells_f32[c] = (float)cells[c];
            e->kernel->to_planes(&e->g, axis, cells_f32, planes_f32);
            for (int c = 0; c < shape->cells; c++)
                planes[c] = (double)planes_f32[c];
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

/* Sets what kernels take of the problem, and the tables. */
static int set_up_context(gbees_engine *e, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    kernel_context *c = &e->context;

    c->g = &e->g;
    c->n = problem->dimension;
    c->drift.f64 = e->method.real_size == sizeof(float) && initial_box_is_fine(problem);
    c->drift.parameters_d = e->tables.parameters_d;
    c->drift.parameters_f = e->tables.parameters_f;
    c->drift.time_dependent = (problem->model->flags & GBEES_TIME_DEPENDENT) != 0;
    c->scheme.preserving = gbees_scheme_get(problem->numerics.scheme)->preserving;
    c->scheme.order = gbees_scheme_get(problem->numerics.scheme)->order;
    c->scheme.rate_is_sum = !e->method.split;
    memcpy(e->tables.parameters_d, problem->parameters, sizeof e->tables.parameters_d);
    c->noise.evaluate = gbees_problem_engine_noise(problem) ? problem->functions->diffusion_d : NULL;
    c->noise.full = gbees_problem_noise(problem) == GBEES_FULL;
    c->scheme.spreads = gbees_problem_noise_in_sweeps(problem);
    c->scheme.inside = problem->numerics.cell_values == GBEES_CELL_POINTS ? 1.0 / 24 : 0;
    for (int d = 0; d < 2 * c->n; d++)
        for (int cell = 0; cell < e->g.shape.cells; cell++)
            c->noise.beside[d][cell] = (unsigned char)gbees_shape_beside(&e->g.shape, cell, d);
    for (int j = 0; j < c->n; j++) {
        const gbees_shape *shape = &e->g.shape;
        size_t size = c->drift.f64 ? sizeof(double) : e->method.real_size;
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
        e->tables.face_points[j] = aligned_alloc(64, ((lanes * (size_t)c->n + 1) * planes * size + 63) / 64 * 64);
        if (!e->tables.face_points[j])
            return no_memory(error);
        make_points(e, j, size, e->tables.face_points[j]);
        for (int cell = 0; cell < shape->cells; cell++)
            e->tables.cell_offset[j][cell] = problem->width[j] * gbees_shape_local(shape, cell, j);
    }
    const int status = problem->moving ? engine_frame_points_create(e, error) : 0;
    if (!status)
        engine_round_parameters(e);
    return status;
}

void engine_round_parameters(gbees_engine *e)
{
    gbees_parameters_round(e->tables.parameters_d, e->tables.parameters_f);
    if (e->tables.frame_points)
        engine_frame_points_set(e);
}

int engine_set_up(gbees_engine *e, const gbees_parallel *parallel, gbees_error *error)
{
    const gbees_problem *problem = e->problem;
    const int noisy = gbees_problem_engine_noise(problem) != 0;

    engine_set_up_targets(e);
    int n = problem->dimension;
    size_t cells = (size_t)e->cells;
    int status = grid_create(&e->g, n, e->cells, error);

    ends_close(problem, &e->g.shape);
    if (n == 1 && gbees_problem_noise_in_sweeps(problem))
        gbees_shape_reach_far(&e->g.shape);
    if (!status && parallel)
        status = engine_join_ranks(e, parallel, error);

    e->g.threads = e->threads;
    struct {
        void **data;
        size_t size;
        int transient, wanted;
    } fields[] = {
        {&e->rows.p, cells * e->method.real_size, 0, 1},
        {&e->rows.s, cells * e->method.real_size, 1, !e->method.split},
        {&e->rows.next, cells * e->method.real_size, 1, !e->method.split || noisy},
        {(void **)&e->rows.active, sizeof *e->rows.active, 0, 1},
        {(void **)&e->rows.flow, (size_t)(2 * n) * sizeof *e->rows.flow, 0, noisy || problem->moving},
        {(void **)&e->rows.rate, sizeof *e->rows.rate, 0, 1},
        {(void **)&e->rows.diverging, sizeof *e->rows.diverging, 0, 1},
        {(void **)&e->rows.one_signed, sizeof *e->rows.one_signed, 0, 1},
        {(void **)&e->rows.needed, sizeof *e->rows.needed, 1, 1},
        {(void **)&e->rows.expanded, sizeof *e->rows.expanded, 0, 1},
        {(void **)&e->rows.noise, (size_t)n * sizeof *e->rows.noise, 0, noisy},
        {(void **)&e->rows.ghost, sizeof *e->rows.ghost, 0, e->ranks != NULL},
        {(void **)&e->rows.ended, sizeof *e->rows.ended, 1, e->ranks != NULL},
        {(void **)&e->rows.outside, sizeof *e->rows.outside, 0, e->context.targets.count > 0},
        {(void **)&e->rows.inside, sizeof *e->rows.inside, 0, problem->bounded},
        {(void **)&e->rows.blocked, (size_t)(2 * n) * sizeof *e->rows.blocked, 0, problem->bounded},
    };

    for (size_t f = 0; f < sizeof fields / sizeof fields[0] && !status; f++)
        if (fields[f].wanted)
            status = grid_register(&e->g, fields[f].data, fields[f].size, fields[f].transient, error);
    for (int k = 0; k < e->context.targets.count && !status; k++)
        status = grid_register(&e->g, (void **)&e->rows.g[k], cells * sizeof *e->rows.g[k], 0, error);
    return status ? status : set_up_context(e, error);
}

/* All ranks: inserts the own bricks of the initial density, those that have cells within the bound, and links them.
 */
static int insert_bricks(gbees_engine *e, initial_bricks *bricks, gbees_error *error)
{
    int32_t key[GBEES_MAX_DIM];
    uint64_t own = 0;
    int status = balance_start(e, bricks, error);

    if (status)
        return status;
    initial_bricks_rewind(bricks);
    for (uint64_t k = 0; k < bricks->count; k++) {
        initial_bricks_take(bricks, key);
        own += (uint64_t)ranks_own(e->ranks, key);
    }
    status = grid_reserve(&e->g, own, error);
    initial_bricks_rewind(bricks);
    for (uint64_t k = 0; k < bricks->count && !status; k++) {
        initial_bricks_take(bricks, key);
        const uint64_t inside = ranks_own(e->ranks, key) ? bound_cells(e->problem, &e->g.shape, key) : 0;

        if (inside)
            status = engine_insert_brick(e, key, grid_hash(&e->g, key), inside, error);
    }
    e->g.sorted = e->g.count;
    status = ranks_agree(e->ranks, status, error);
    return status ? status : ghosts_renew(e, 0, error);
}

/* Sets P of a brick to the initial density, up to a common factor. */
static void fill_brick(gbees_engine *e, uint32_t slot, const initial_grid *initial, initial_cursor *cursor)
{
    double p[64];

    initial_grid_brick(initial, cursor, &e->g.shape, grid_key(&e->g, slot), p);
    for (int cell = 0; cell < e->cells; cell++)
        engine_set_p(e, (size_t)slot * (size_t)e->cells + (size_t)cell, p[cell]);
    e->rows.expanded[slot] = 0;
}

/* Fills all bricks with the initial density, and begins the ledger and p*. */
static int fill_bricks(gbees_engine *e, const initial_grid *initial, gbees_error *error)
{
#pragma omp parallel num_threads(e->threads)
    {
        initial_cursor cursor = {{0}};

#pragma omp for schedule(static)
        for (uint32_t k = 0; k < e->g.count; k++)
            fill_brick(e, e->g.used[k], initial, &cursor);
    }
    engine_scale(e, initial->factor);
    int status = engine_sum(e, NULL, &e->run.ledger.mass, error);
    e->run.ledger.mass += initial->left_out;
    e->budget = initial->budget;
    return status;
}

/* Makes the grid of the initial density, in which all bricks are linked. */
static int start_grid(gbees_engine *e, double *left_out, gbees_error *error)
{
    initial_grid initial;
    int status = initial_grid_create(&initial, e->problem, &e->g.shape, e->threads, error);
    const int made = !status;

    status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = insert_bricks(e, &initial.bricks, error);
    if (!status)
        status = fill_bricks(e, &initial, error);
    *left_out = initial.left_out;
    if (made)
        initial_grid_destroy(&initial);
    return status;
}

int engine_fill_initial(gbees_engine *e, gbees_error *error)
{
    const double start = gbees_problem_initial_time(e->problem);
    double left_out;
    int status = start_grid(e, &left_out, error);

    if (status)
        return status;
    status = engine_inspect(e, 0, start, error);
    status = ranks_agree(e->ranks, status, error);
    if (!status)
        status = engine_prune(e, start, left_out, error);
    if (status)
        return status;
    gbees_work_count(&e->run.work, engine_mark_needed(e, &e->initial_above));
    e->is_initial = 1;
    return 0;
}
