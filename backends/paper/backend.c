/* backend.c - the descriptor that the module exports; creates, saves and loads engines. */
#include "common/failure.h"
#include "engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int probe(char *text, size_t size)
{
    (void)snprintf(text, size, "one thread");
    return 0;
}

static void destroy(gbees_engine *e)
{
    if (e)
        grid_destroy(&e->g);
    free(e);
}

/* An engine without cells. */
static int make(const gbees_problem *problem, gbees_engine **engine, gbees_error *error)
{
    gbees_engine *e = calloc(1, sizeof *e);

    if (!e)
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for an engine of the backend 'paper'");
    e->problem = problem;
    gbees_shape_set(&e->shape, problem->dimension, 1);
    mass_budget_start(&e->budget, problem, &(budget_spectrum){{0}});
    e->run.steps = gbees_problem_steps_before(problem);
    *engine = e;
    return grid_create(&e->g, problem->dimension, error);
}

/* Inserts the cells of the initial density, the box of 3 standard deviations or what the scenario has in its place.
 */
static int fill(gbees_engine *e, initial_grid *initial, gbees_error *error)
{
    initial_cursor cursor = {{0}};
    int status = GBEES_OK;

    for (uint64_t k = 0; k < initial->bricks.count && !status; k++) {
        int32_t i[GBEES_MAX_DIM] = {0};
        const uint32_t before = e->g.count;

        initial_bricks_take(&initial->bricks, i);
        status = paper_insert(e, i, gbees_problem_initial_time(e->problem), error);
        if (!status && e->g.count > before)
            initial_grid_brick(initial, &cursor, &e->shape, i, &e->g.cells[e->g.count].P);
    }
    if (status)
        return status;
    grid_link(&e->g);
    grid_scale(&e->g, initial->factor);
    e->run.ledger.mass = grid_sum(&e->g);
    paper_mark_active(e);
    gbees_work_count(&e->run.work, paper_count(e, NULL));
    return GBEES_OK;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    gbees_engine *e = NULL;
    initial_grid initial;
    int status = make(problem, &e, error);

    (void)options;
    if (!status) {
        status = initial_grid_create(&initial, problem, &e->shape, 1, error);
        if (!status) {
            status = fill(e, &initial, error);
            initial_grid_destroy(&initial);
        }
    }
    if (status)
        destroy(e);
    else
        *engine = e;
    return status;
}

static int advance(gbees_engine *e, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    int status = GBEES_OK;

    e->run.clock = step_clock_load(clock, (uint32_t)e->problem->numerics.prune_interval);
    for (uint64_t k = 0; k < max_steps && e->run.clock.elapsed < e->run.clock.length && !status; k++)
        status = paper_step(e, error);
    step_clock_store(&e->run.clock, clock);
    return status;
}

static void totals(const gbees_engine *e, gbees_totals *out)
{
    *out = totals_of(&e->run, &e->budget);
    out->peak_bytes = e->g.peak_bytes;
    out->threads = 1;
}

/* A heap may be twice as large as the number of its cells, its hashtable four times. */
static double estimate(const gbees_problem *problem, double bricks)
{
    const double a_cell = 2 * sizeof(cell) + 8 * sizeof(uint32_t);
    gbees_shape shape;

    gbees_shape_set(&shape, problem->dimension, 1);
    return bricks > 0 ? bricks * a_cell
                      : 2 * initial_grid_estimate(problem, &shape) * a_cell + initial_grid_bytes(problem, &shape);
}

static int save(gbees_engine *e, gbees_state_sink *sink, void *context, gbees_error *error)
{
    const uint64_t bytes = (uint64_t)e->g.count * sizeof *e->g.cells;

    if (sink(context, "paper", 1, sizeof e->run, &e->run) || sink(context, "cells", 1, bytes, e->g.cells + 1))
        return gbees_error_set(error, GBEES_ENOMEM, "out of memory for the state of the backend 'paper'");
    return GBEES_OK;
}

/* Inserts the cells of a state of `bytes`. */
static int insert_saved(gbees_engine *e, const cell *saved, uint64_t bytes, gbees_error *error)
{
    int status = GBEES_OK;

    for (uint64_t k = 0; k < bytes / sizeof *saved && !status; k++) {
        if (grid_find(&e->g, saved[k].i))
            return gbees_error_set(error, GBEES_EINPUT, "the state of the backend 'paper' has a cell twice");
        status = grid_insert(&e->g, saved[k].i, error);
        if (!status)
            e->g.cells[e->g.count] = saved[k];
    }
    grid_link(&e->g);
    return status;
}

static int load(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error)
{
    uint64_t run_bytes = 0, bytes = 0;
    const void *run = source(context, "paper", 1, &run_bytes), *cells = source(context, "cells", 1, &bytes);
    gbees_engine *e = NULL;

    (void)options;
    if (!run || !cells || run_bytes != sizeof e->run || bytes % sizeof(cell) != 0 || bytes == 0)
        return gbees_error_set(error, GBEES_EINPUT, "the source has no state of the backend 'paper'");
    int status = make(problem, &e, error);
    if (!status) {
        memcpy(&e->run, run, sizeof e->run);
        status = insert_saved(e, cells, bytes, error);
    }
    if (status)
        destroy(e);
    else
        *engine = e;
    return status;
}

GBEES_BACKEND_EXPORT extern const gbees_backend gbees_backend_card;

const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "paper",
    .title = "mode paper and mode legacy: the published code, cell by cell",
    .probe = probe,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .update = paper_update,
    .statistics = paper_statistics,
    .cells = paper_cells,
    .save = save,
    .load = load,
    .totals = totals,
};
