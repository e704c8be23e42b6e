/* engine_fixture.h - for the tests of the CPU backend: a problem of the model advect, filled by hand, the backend
 * behind its card, and a dense window on its grid. */
#ifndef GBEES_TESTS_ENGINE_FIXTURE_H
#define GBEES_TESTS_ENGINE_FIXTURE_H

#include "dense.h"
#include "numerics/brick.h"
#include <check.h>
#include <gbees/gbees.h>
#include <stdio.h>

/* Parameters of advect: tests/plugins/advect.c. */
enum { VELOCITY = 0, RATE = 8, ROTATION = 16, BEAT, HOLE, HOLE_HALF, BEND, SHEAR, JUMP };

typedef struct rig {
    gbees_registry *registry;
    const gbees_backend *cpu;
    gbees_model model; /* a copy: time-dependent only if it is */
    gbees_problem problem;
    gbees_engine *engine;
    gbees_clock clock;
    gbees_error error;
} rig;

/* A problem in which velocities change sign inside the box, and no face velocity is 0 by chance.  Nearly nothing is
 * cut off: p* is far below what matters and far above the rounding of a flux, which would make cells by chance. */
static inline void rig_problem(rig *r, int n, int extent)
{
    gbees_problem *p = &r->problem;

    *p = (gbees_problem){.dimension = n, .model = &r->model, .end = 1e9, .records = 1, .threshold = 1e-15};
    for (int k = 0; k < r->model.function_count; k++)
        if (r->model.functions[k].n == n)
            p->functions = &r->model.functions[k];
    ck_assert_ptr_nonnull(p->functions);
    for (int j = 0; j < n; j++) {
        p->extent[j] = extent;
        p->width[j] = 0.2 + 0.013 * j;
        p->mean[j] = 0.137 + 0.0613 * j;
        for (int k = 0; k < n; k++)
            p->covariance[j * n + k] = (j == k ? 1 : 0.2) * 0.04 * (extent * extent + 1) / 5;
        p->parameters[VELOCITY + j] = (j % 2 ? -0.31 : 0.27) + 0.02 * j;
        p->parameters[RATE + j] = j % 3 == 0 && n > 1 ? -0.83 : 0.41;
    }
    p->parameters[ROTATION] = 0.77;
    p->parameters[BEND] = 0.53;
    p->parameters[HOLE_HALF] = -1;
    p->numerics = (gbees_numerics){.scheme = GBEES_SCHEME_CTU,
                                   .precision = GBEES_DOUBLE,
                                   .cells_per_brick = 64,
                                   .courant = 1,
                                   .prune_interval = 1 << 30}; /* mode, faces, growth: the defaults */
}

static inline void rig_open(rig *r, int n, int extent)
{
    const char *top = getenv("GBEES_TOP_BUILD");
    const gbees_model *model = NULL;
    char path[4096];

    *r = (rig){0};
    snprintf(path, sizeof path, "%s/tests/.libs/advect.so", top ? top : ".");
    int status = gbees_registry_create(NULL, &r->registry, &r->error);
    if (!status)
        status = gbees_registry_model(r->registry, path, &model, &r->error);
    if (!status)
        status = gbees_registry_backend(r->registry, "cpu", &r->cpu, &r->error);
    ck_assert_msg(!status, "%s", r->error.text);
    r->model = *model;
    rig_problem(r, n, extent);
}

/* With the default scheme. */
static inline void rig_open_split(rig *r, int n, int extent)
{
    rig_open(r, n, extent);
    r->problem.numerics.scheme = GBEES_SCHEME_SPLIT5;
    r->problem.numerics.cell_values = GBEES_CELL_AVERAGES;
}

/* Linear motion without anything that bends it. */
static inline void rig_straighten(rig *r)
{
    for (int k = 0; k < GBEES_MAX_PARAMETERS; k++)
        r->problem.parameters[k] = k == HOLE_HALF ? -1 : 0;
}

static inline void rig_stop(rig *r)
{
    if (r->engine)
        r->cpu->destroy(r->engine);
    r->engine = NULL;
}

static inline void rig_close(rig *r)
{
    rig_stop(r);
    gbees_registry_destroy(r->registry);
}

static inline int rig_try(rig *r, int threads)
{
    const gbees_engine_options options = {.threads = threads};

    rig_stop(r);
    r->model.flags = r->problem.parameters[BEAT] != 0 ? GBEES_TIME_DEPENDENT : 0;
    r->clock = (gbees_clock){.time = r->problem.start, .length = r->problem.end - r->problem.start};
    return r->cpu->create(&r->problem, &options, &r->engine, &r->error);
}

static inline void rig_start(rig *r, int threads)
{
    ck_assert_msg(rig_try(r, threads) == 0, "%s", r->error.text);
}

static inline void rig_steps(rig *r, uint64_t steps)
{
    ck_assert_msg(r->cpu->advance(r->engine, &r->clock, steps, &r->error) == 0, "%s", r->error.text);
}

/* To exactly this time from the start. */
static inline void rig_until(rig *r, double length)
{
    r->clock.length = length;
    rig_steps(r, UINT64_MAX);
    ck_assert_double_eq(r->clock.elapsed, length);
}

static inline gbees_statistics rig_statistics(rig *r)
{
    gbees_statistics s;

    ck_assert_msg(r->cpu->statistics(r->engine, &r->clock, &s, &r->error) == 0, "%s", r->error.text);
    return s;
}

static inline gbees_totals rig_totals(const rig *r)
{
    gbees_totals t;

    r->cpu->totals(r->engine, &t);
    return t;
}

/* ---- cells ---- */

/* All visited cells, as they come. */
typedef struct cell_list {
    int n;
    size_t count, room;
    int32_t (*index)[GBEES_MAX_DIM];
    double *p;
} cell_list;

static inline int list_visit(void *context, size_t count, const int32_t *const *index, const double *p)
{
    cell_list *list = context;

    if (list->count + count > list->room) {
        list->room = 2 * (list->count + count);
        list->index = realloc(list->index, list->room * sizeof *list->index);
        list->p = realloc(list->p, list->room * sizeof *list->p);
        if (!list->index || !list->p)
            abort();
    }
    for (size_t i = 0; i < count; i++) {
        int32_t *to = list->index[list->count];

        memset(to, 0, sizeof list->index[0]);
        for (int j = 0; j < list->n; j++)
            to[j] = index[j][i];
        list->p[list->count++] = p[i];
    }
    return 0;
}

static inline cell_list rig_cells(rig *r)
{
    cell_list list = {.n = r->problem.dimension};

    ck_assert_int_eq(r->cpu->cells(r->engine, list_visit, &list, &r->error), 0);
    ck_assert_uint_gt(list.count, 0);
    return list;
}

static inline void list_free(cell_list *list)
{
    free(list->index);
    free(list->p);
    *list = (cell_list){0};
}

/* ---- a dense window on the grid ---- */

/* The initial box and `margin` cells around it; its bricks are present, and empty. */
static inline void rig_window(const rig *r, dense *d, int margin)
{
    const gbees_problem *p = &r->problem;
    gbees_shape shape;
    int lo[DENSE_DIM], size[DENSE_DIM];

    for (int j = 0; j < p->dimension; j++) {
        lo[j] = -p->extent[j] - margin;
        size[j] = 1 - 2 * lo[j];
    }
    dense_create(d, p->dimension, lo, size, 0);
    gbees_shape_set(&shape, p->dimension, p->numerics.cells_per_brick);
    d->divergence =
        p->numerics.scheme == GBEES_SCHEME_CTU_DIVERGENCE || p->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE;
    d->shared = p->numerics.scheme == GBEES_SCHEME_CTU_POSITIVE;
    d->walls = d->forward_only = p->numerics.faces == GBEES_FACES_REFERENCE;
    for (int j = 0; j < p->dimension; j++) {
        d->edge[j] = shape.edge[j];
        d->width[j] = p->width[j];
    }
    for (long i = 0; i < d->cells; i++) {
        int inside = 1;

        for (int j = 0; j < p->dimension; j++)
            inside = inside && abs(d->lo[j] + dense_coordinate(d, i, j)) <= p->extent[j];
        if (inside)
            dense_insert(d, i);
    }
}

/* Face velocities, from the model itself, point by point. */
static inline void rig_velocities(const rig *r, dense *d, double time)
{
    const gbees_problem *p = &r->problem;
    const double zero = 0;
    const double *offset[DENSE_DIM];

    for (int j = 0; j < d->n; j++)
        offset[j] = &zero;
    for (long i = 0; i < d->cells; i++) {
        double x[DENSE_DIM];

        for (int j = 0; j < d->n; j++)
            x[j] = p->mean[j] + p->width[j] * (d->lo[j] + dense_coordinate(d, i, j));
        for (int j = 0; j < d->n; j++) {
            x[j] += p->width[j] / 2;
            p->functions->component_d[j](1, time, x, offset, p->parameters, &d->v[j][i]);
            x[j] -= p->width[j] / 2;
        }
    }
}

/* The engine's cells as a dense array (normalised). The rounding of a step's fluxes reaches a cell further than the
 * scheme does: outside of the window nothing but that may be. */
static inline void rig_collect(rig *r, const dense *window, double *p)
{
    const double rounding = r->problem.numerics.precision == GBEES_DOUBLE ? 1e-18 : 1e-9;
    cell_list list = rig_cells(r);

    memset(p, 0, (size_t)window->cells * sizeof *p);
    for (size_t k = 0; k < list.count; k++) {
        long cell = dense_cell(window, list.index[k]);

        ck_assert_msg(cell >= 0 || list.p[k] < rounding, "a cell outside of the window holds %g", list.p[k]);
        if (cell >= 0)
            p[cell] = list.p[k];
    }
    list_free(&list);
}

/* Starts the engine, and takes from it what the prune of the initial density has left, with its mass.  Returns what
 * counts as active in the first step. */
static inline double rig_begin(rig *r, dense *d, int margin)
{
    double level = r->problem.threshold;

    rig_start(r, 1);
    r->problem.threshold = 1e-300; /* shows all cells */
    rig_window(r, d, margin);
    rig_collect(r, d, d->p);
    memset(d->present, 0, (size_t)d->cells);
    for (long i = 0; i < d->cells; i++)
        if (d->p[i] > 0)
            dense_insert(d, i);
    dense_scale(d, rig_statistics(r).mass);
    r->problem.threshold = level;
    return level * rig_statistics(r).mass;
}

/* All cells with `least` and more, as the engine shows them, normalised, and its sums. */
static inline void rig_compare(rig *r, const dense *d, double least, double tolerance)
{
    gbees_statistics s = rig_statistics(r);
    double *p = malloc((size_t)d->cells * sizeof *p), sum = dense_sum(d), most = dense_most(d) / sum;
    uint64_t shown = 0;

    ck_assert_ptr_nonnull(p);
    rig_collect(r, d, p);
    for (long i = 0; i < d->cells; i++) {
        double wanted = d->p[i] / sum;

        if (wanted < least)
            continue;
        shown += p[i] > 0;
        ck_assert_msg(fabs(p[i] - wanted) <= tolerance * most, "n = %d, cell %ld: %.17g, not %.17g (largest %g)",
                      d->n, i, p[i], wanted, most);
    }
    ck_assert_uint_gt(shown, 0);
    ck_assert_double_eq_tol(s.mass / sum, 1, tolerance);
    ck_assert_double_eq_tol(s.peak / most, 1, tolerance);
    free(p);
}

/* x -> -x: the drift's constants and squares change their sign. */
static inline void rig_mirror(rig *r)
{
    gbees_problem *p = &r->problem;

    for (int j = 0; j < p->dimension; j++) {
        p->mean[j] = -p->mean[j];
        p->parameters[VELOCITY + j] = -p->parameters[VELOCITY + j];
    }
    p->parameters[BEND] = -p->parameters[BEND];
}

#endif
