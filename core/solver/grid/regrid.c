/* regrid.c - fetches the cells of an engine, transfers them to another grid (refine.c, or the remap of a moving
 * one), and opens an engine that begins with them. */
#include "regrid.h"
#include "base/initial_cells.h"
#include "base/seconds.h"
#include "base/workers.h"
#include "frame/remap.h"
#include "next_grid.h"
#include "record/cells.h"
#include "refine.h"
#include "solver/problem/frame.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONG_S 0.5

/* Cells below this part of p* are dropped. Those above it, but below p*, are kept: they hold mass that flows back. */
static const double least_fraction = 1e-3;
/* Cells that were remapped to another frame are dropped below this part of p*. */
static const double least_remapped = 0.1;

/* ---- engines ---- */

int gbees_grid_open(gbees_grid *grid, gbees_error *error)
{
    return grid->backend->create(grid->problem, &grid->options, &grid->engine, error);
}

void gbees_grid_close(gbees_grid *grid)
{
    if (grid->engine)
        grid->backend->destroy(grid->engine);
    gbees_grid_free_problem(grid->regridded);
    grid->engine = NULL;
    grid->regridded = NULL;
}

const gbees_problem *gbees_grid_problem(const gbees_grid *grid)
{
    return grid->regridded ? grid->regridded : grid->problem;
}

gbees_totals gbees_grid_totals(const gbees_grid *grid)
{
    const gbees_totals *before = &grid->before;
    gbees_totals now = *before;

    if (!grid->engine)
        return now;
    grid->backend->totals(grid->engine, &now);
    now.steps += before->steps;
    now.cell_updates += before->cell_updates;
    now.raw_cell_updates += before->raw_cell_updates;
    now.max_cells = now.max_cells > before->max_cells ? now.max_cells : before->max_cells;
    now.peak_bytes = now.peak_bytes > before->peak_bytes ? now.peak_bytes : before->peak_bytes;
    now.mass_clipped += before->mass_clipped;
    now.mass_outflow += before->mass_outflow;
    now.mass_pruned += before->mass_pruned;
    now.mass_normalised += before->mass_normalised;
    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        now.mass_entered[k] += before->mass_entered[k];
    now.time_step = now.time_step > 0 ? now.time_step : before->time_step;
    now.bytes_exchanged += before->bytes_exchanged;
    now.seconds_waited += before->seconds_waited;
    now.warnings |= before->warnings;
    return now;
}

int gbees_grid_statistics(const gbees_grid *grid, const gbees_clock *clock, gbees_statistics *statistics,
                          gbees_error *error)
{
    return grid->backend->statistics(grid->engine, clock, statistics, error);
}

/* ---- another grid ---- */

/* Enters the most memory that the engine has held, and that of a list of cells beside it, into the totals. */
static void note_peak(gbees_grid *grid, const gbees_initial_cells *cells)
{
    const size_t cell_bytes = (size_t)grid->problem->dimension * sizeof(int32_t) + sizeof(double);
    gbees_totals now = {0};

    grid->backend->totals(grid->engine, &now);
    now.peak_bytes += cells->count * cell_bytes;
    grid->before.peak_bytes = now.peak_bytes > grid->before.peak_bytes ? now.peak_bytes : grid->before.peak_bytes;
}

int gbees_grid_fetch(const gbees_grid *grid, gbees_initial_cells *to, gbees_error *error)
{
    gbees_cells *cells = NULL;
    int status = gbees_cells_collect(grid->backend, grid->engine, least_fraction, grid->problem->dimension, 0,
                                     "another grid", &cells, error);

    if (!status)
        status = gbees_cells_finish(cells, grid->options.threads, error);
    if (!status)
        status = gbees_cells_list_by(cells, grid->options.threads, to, error);
    gbees_cells_destroy(cells);
    return status;
}

/* Moves the origin along axis j of the grid: the middle of cell 0. A rotated grid has it at its centre. */
static void move_origin(gbees_problem *problem, int axis, double by)
{
    const int n = problem->dimension;

    if (!problem->rotated) {
        problem->mean[axis] += by;
        return;
    }
    for (int k = 0; k < n; k++)
        problem->centre[k] += problem->rotation[k * n + axis] * by;
    gbees_frame_enter(problem);
}

/* Sets the widths, the middle of cell 0 and p*, which goes with a cell's volume. */
static void set_grid(gbees_problem *problem, const int *change)
{
    for (int j = 0; j < problem->dimension; j++) {
        const double width = ldexp(problem->width[j], -change[j]);

        move_origin(problem, j, (width - problem->width[j]) / 2);
        problem->width[j] = width;
        problem->threshold = ldexp(problem->threshold, -change[j]);
    }
}

/* What a thread needs to set the box along one axis. */
typedef struct box {
    gbees_problem *problem;
    const gbees_initial_cells *cells;
} box;

static void set_extent(void *context, size_t axis)
{
    const box *b = context;
    const int32_t *index = b->cells->index[axis];
    int32_t low = 0, high = 0;

    for (size_t i = 0; i < b->cells->count; i++) {
        low = index[i] < low ? index[i] : low;
        high = index[i] > high ? index[i] : high;
    }
    b->problem->extent[axis] = high > -low ? high : -low;
}

/* Sets the box around the cells. */
static void set_box(gbees_problem *problem, const gbees_initial_cells *cells, int threads)
{
    const int n = problem->dimension;
    box b = {problem, cells};

    gbees_workers_run(gbees_workers_worth(threads, (double)n * (double)cells->count), (size_t)n, set_extent, &b);
}

/* What became of a density's mass, as parts of it, when it was transferred to other cells: `fetched` of it was in
 * cells that were fetched, the rest is pruned; `outside`, a part of `fetched`, lies outside of the bound. */
typedef struct transfer {
    double fetched, outside;
    double volume; /* of a new cell over that of an old one */
} transfer;

/* Enters the losses of the transfer into the totals, and the run so far (mass, losses, time, steps, p*) into the
 * cells that the new engine begins with. */
static void set_history(gbees_grid *grid, const gbees_clock *clock, const transfer *move, gbees_initial_cells *cells)
{
    gbees_totals *totals = &grid->before;
    const double mass = 1 + totals->mass_clipped + totals->mass_normalised - totals->mass_outflow -
                        totals->mass_pruned - gbees_totals_entered(totals);

    cells->mass = mass * (move->fetched - move->outside);
    totals->mass_pruned += mass * (1 - move->fetched);
    totals->mass_outflow += mass * move->outside;
    cells->lost = totals->mass_outflow + totals->mass_pruned;
    cells->time = clock->time;
    cells->steps = gbees_problem_steps_before(grid->problem) + totals->steps;
    cells->threshold = totals->threshold * move->volume;
}

enum { BATCH = 256 };

/* Computes the bound at the centres of `count` cells, up to BATCH. */
static void find_bound(const gbees_problem *problem, const gbees_initial_cells *cells, size_t first, size_t count,
                       double *value)
{
    double offset[GBEES_MAX_DIM][BATCH];
    const double *place[GBEES_MAX_DIM];

    for (int j = 0; j < problem->dimension; j++) {
        for (size_t i = 0; i < count; i++)
            offset[j][i] = problem->width[j] * cells->index[j][first + i];
        place[j] = offset[j];
    }
    problem->functions->bound_d(count, problem->start, problem->mean, place, problem->parameters, value);
}

/* Drops the cells whose centre is outside of the bound, which backends refuse. There are some, as finer cells have
 * other centres. Returns the sum of their P. */
static double drop_outside(const gbees_problem *problem, gbees_initial_cells *cells)
{
    double value[BATCH], dropped = 0;
    size_t kept = 0;

    if (!problem->bounded)
        return 0;
    for (size_t i = 0; i < cells->count; i++) {
        const double *now = &value[i % BATCH];

        if (i % BATCH == 0)
            find_bound(problem, cells, i, cells->count - i < BATCH ? cells->count - i : BATCH, value);
        if (!(*now >= problem->bound_low && *now <= problem->bound_high)) {
            dropped += cells->p[i];
            continue;
        }
        for (int j = 0; j < problem->dimension; j++)
            cells->index[j][kept] = cells->index[j][i];
        cells->p[kept++] = cells->p[i];
    }
    cells->count = kept;
    return dropped;
}

/* Makes an engine of another problem in place of the grid's: by the backend's restart(), or, if it has none, by
 * create() after the old engine has been destroyed, whose memory the new one may need. */
static int restart_engine(gbees_grid *grid, gbees_problem *problem, gbees_error *error)
{
    gbees_problem *before = grid->regridded;
    int status = GBEES_OK;

    if (grid->backend->restart) {
        status = grid->backend->restart(grid->engine, problem, error);
        grid->regridded = NULL;
        if (status)
            gbees_grid_close(grid);
    } else {
        grid->backend->destroy(grid->engine);
        grid->engine = NULL;
    }
    gbees_grid_free_problem(before);
    grid->regridded = problem;
    if (!grid->engine && !status && grid->options.parallel) /* the other ranks' have ended with this one */
        status = gbees_next_grid_send(grid->options.parallel, problem, error);
    return status || grid->engine ? status : grid->backend->create(problem, &grid->options, &grid->engine, error);
}

/* Replaces the engine by one of another problem; frees the problem's list of cells, once the engine has taken it. */
static int replace_engine(gbees_grid *grid, gbees_problem *problem, gbees_error *error)
{
    gbees_initial_cells *cells = (gbees_initial_cells *)problem->cells;

    note_peak(grid, cells);
    const int status = restart_engine(grid, problem, error);
    if (!status)
        note_peak(grid, cells);
    gbees_initial_cells_clear(cells);
    return status;
}

/* Changes the listed cells axis by axis, and asks before each whether the run is to end, once it has lasted for
 * LONG_S seconds: a run that goes on for less gets past it. */
static int refine(const gbees_grid *grid, const int *change, gbees_initial_cells *cells, gbees_error *error)
{
    const gbees_engine_options *options = &grid->options;
    const double began_s = gbees_seconds_now();
    const int n = grid->problem->dimension;
    int status = GBEES_OK;

    for (int j = n - 1; j >= 0 && !status; j--) {
        int along[GBEES_MAX_DIM] = {0};

        along[j] = change[j];
        if (change[j] == 0)
            continue;
        status = gbees_seconds_now() - began_s > LONG_S && options->cancelled &&
                         options->cancelled(options->cancelled_context)
                     ? gbees_error_set(error, GBEES_ECANCELLED, "stopped while cells became narrower or wider")
                     : gbees_refine(cells, n, along, grid->problem->numerics.cell_values, options->threads, error);
    }
    return status;
}

int gbees_grid_replace(gbees_grid *grid, const gbees_clock *clock, const int *level, gbees_error *error)
{
    const int n = grid->problem->dimension;
    gbees_initial_cells cells = {0};
    gbees_problem *problem = NULL;
    transfer move = {.volume = 1};
    int change[GBEES_MAX_DIM] = {0}, changes = 0, status;

    for (int j = 0; j < n; j++) {
        change[j] = level[j] - grid->level[j];
        changes = changes || change[j];
        move.volume = ldexp(move.volume, -change[j]);
    }
    if (!changes)
        return GBEES_OK;
    status = gbees_grid_fetch(grid, &cells, error);
    move.fetched = gbees_initial_cells_sum(&cells);
    if (!status)
        status = refine(grid, change, &cells, error);
    if (!status)
        status = gbees_grid_make_problem(gbees_grid_problem(grid), &cells, &problem, error);
    gbees_initial_cells_clear(&cells);
    if (status)
        return status;
    gbees_initial_cells *own = (gbees_initial_cells *)problem->cells;
    set_grid(problem, change);
    set_box(problem, own, grid->options.threads);
    move.outside = drop_outside(problem, own);
    if (own->count == 0) {
        gbees_grid_free_problem(problem);
        return gbees_error_set(error, GBEES_ENUMERIC,
                               "no cell of the other grid has its centre within the bound: nothing is left of the "
                               "density; give a larger factor in `regrid`");
    }
    grid->before = gbees_grid_totals(grid);
    set_history(grid, clock, &move, own);
    memcpy(grid->level, level, (size_t)n * sizeof *level);
    return replace_engine(grid, problem, error);
}

/* Has the backend make the list of cells of another frame, if it can: sets *done. */
static int remap_there(const gbees_grid *grid, const gbees_moving_frame *from, const gbees_moving_frame *to,
                       const gbees_remap_options *options, gbees_initial_cells *cells, int *done, gbees_error *error)
{
    gbees_remap_plan plan;

    *done = 0;
    if (!grid->backend->remap)
        return GBEES_OK;
    const int status = gbees_remap_plan_find(from, to, options, &plan, error);
    return status ? status : grid->backend->remap(grid->engine, &plan, least_fraction, cells, done, error);
}

int gbees_grid_remap_cells(gbees_initial_cells *cells, const gbees_moving_frame *from,
                           const gbees_grid_target *target, const gbees_remap_options *options, gbees_error *error)
{
    gbees_remap_options last = *options;
    double dropped = 0;

    if (!target->via)
        return gbees_remap(cells, from, &target->frame, options, &dropped, error);
    last.spread = NULL;
    const int status = gbees_remap(cells, from, target->via, options, &dropped, error);
    return status ? status : gbees_remap(cells, target->via, &target->frame, &last, &dropped, error);
}

int gbees_grid_take(gbees_grid *grid, const gbees_clock *clock, gbees_initial_cells *cells,
                    const gbees_grid_target *target, double volume, gbees_error *error)
{
    gbees_problem *problem = NULL;
    const gbees_totals now = gbees_grid_totals(grid);
    const transfer move = {.fetched = gbees_initial_cells_sum(cells), .volume = volume};
    int status = GBEES_OK;

    if (cells->count == 0)
        status =
            gbees_error_set(error, GBEES_ENUMERIC,
                            "no cell of the new frame holds as much as p*: nothing is left of the density; lower "
                            "'threshold' or give a mass_budget");
    if (!status)
        status = gbees_grid_make_problem(gbees_grid_problem(grid), cells, &problem, error);
    gbees_initial_cells_clear(cells);
    if (status)
        return status;
    problem->threshold = target->threshold;
    gbees_frame_place(&target->frame, problem);
    set_box(problem, problem->cells, grid->options.threads);
    grid->before = now;
    gbees_initial_cells *own = (gbees_initial_cells *)problem->cells;
    set_history(grid, clock, &move, own);
    own->dropped = grid->before.mass_pruned - now.mass_pruned;
    return replace_engine(grid, problem, error);
}

int gbees_grid_remap(gbees_grid *grid, const gbees_clock *clock, const gbees_moving_frame *from,
                     const gbees_grid_target *target, gbees_error *error)
{
    const gbees_moving_frame *to = &target->frame;
    gbees_initial_cells cells = {0};
    const double volume = fabs(gbees_matrix_determinant(to->n, to->a) / gbees_matrix_determinant(to->n, from->a)) *
                          (target->thinned > 0 ? target->thinned : 1);
    const double least =
        grid->problem->mass_budget > 0 ? gbees_grid_totals(grid).threshold * volume : target->threshold;
    const int stays = !target->spread && memcmp(from, to, sizeof *to) == 0;
    const gbees_remap_options options = {.least = stays ? 0 : least_remapped * least,
                                         .threads = grid->options.threads,
                                         .spread = target->spread,
                                         .convolves = target->thinned > 0};
    int done = 0, status = target->via || target->thinned > 0
                               ? GBEES_OK
                               : remap_there(grid, from, to, &options, &cells, &done, error);

    if (!status && !done)
        status = gbees_grid_fetch(grid, &cells, error);
    if (!status && !done)
        status = gbees_grid_remap_cells(&cells, from, target, &options, error);
    if (!status)
        return gbees_grid_take(grid, clock, &cells, target, volume, error);
    gbees_initial_cells_clear(&cells);
    return status;
}
