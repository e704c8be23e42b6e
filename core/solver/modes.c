/* modes.c - holds an engine, a weight and a moving grid for each mode: divides a mode at a valley, weighs the modes
 * by their evidence at an update, and drops those that are too light. */
#include "modes.h"
#include "base/workers.h"
#include "cells.h"
#include "frame/valley.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- masses and totals ---- */

/* The mass that a grid's engine has, from its ledger. */
static double mass_of(const gbees_totals *totals)
{
    return 1 + totals->mass_clipped + totals->mass_normalised - totals->mass_outflow - totals->mass_pruned;
}

static double mode_mass(const gbees_density_mode *mode)
{
    const gbees_totals now = gbees_grid_totals(&mode->grid);

    return mode->weight * mass_of(&now);
}

double gbees_modes_part(const gbees_modes *modes, int which)
{
    double sum = 0;

    for (int k = 0; k < modes->count; k++)
        sum += mode_mass(modes->mode[k]);
    return mode_mass(modes->mode[which]) / sum;
}

/* Adds the totals of a mode since `noted`, its masses times its weight. */
static void add_done(const gbees_density_mode *mode, gbees_totals *to)
{
    const gbees_totals now = gbees_grid_totals(&mode->grid), *noted = &mode->noted;

    to->steps += now.steps - noted->steps;
    to->cell_updates += now.cell_updates - noted->cell_updates;
    to->raw_cell_updates += now.raw_cell_updates - noted->raw_cell_updates;
    to->mass_clipped += mode->weight * (now.mass_clipped - noted->mass_clipped);
    to->mass_outflow += mode->weight * (now.mass_outflow - noted->mass_outflow);
    to->mass_pruned += mode->weight * (now.mass_pruned - noted->mass_pruned);
    to->warnings |= now.warnings;
}

gbees_totals gbees_modes_totals(const gbees_modes *modes)
{
    gbees_totals sum = modes->before;
    uint64_t cells = 0, bytes = 0;
    double mass = 0;

    if (modes->count == 0) /* they could not be made again */
        return sum;
    const gbees_totals first = gbees_grid_totals(&modes->mode[0]->grid);
    if (!modes->divided)
        return first;
    for (int k = 0; k < modes->count; k++) {
        const gbees_totals now = gbees_grid_totals(&modes->mode[k]->grid);

        add_done(modes->mode[k], &sum);
        cells += now.max_cells;
        bytes += now.peak_bytes;
        mass += modes->mode[k]->weight * mass_of(&now);
    }
    sum.max_cells = cells > sum.max_cells ? cells : sum.max_cells;
    sum.peak_bytes = bytes > sum.peak_bytes ? bytes : sum.peak_bytes;
    sum.mass_normalised = mass - 1 - sum.mass_clipped + sum.mass_outflow + sum.mass_pruned;
    sum.time_step = first.time_step;
    sum.threshold = first.threshold;
    sum.threads = first.threads ? gbees_workers_threads(modes->threads) : 0;
    return sum;
}

/* Adds the totals of all modes to modes->before. To be called before weights change. */
static void note_all(gbees_modes *modes)
{
    for (int k = 0; k < modes->count; k++) {
        add_done(modes->mode[k], &modes->before);
        modes->mode[k]->noted = gbees_grid_totals(&modes->mode[k]->grid);
    }
}

/* ---- the list ---- */

static gbees_density_mode *create_mode(gbees_error *error)
{
    gbees_density_mode *mode = calloc(1, sizeof *mode);

    if (!mode)
        (void)gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a part of the density");
    else
        mode->weight = 1;
    return mode;
}

static void destroy_mode(gbees_density_mode *mode)
{
    gbees_grid_close(&mode->grid);
    free(mode);
}

void gbees_modes_close(gbees_modes *modes)
{
    for (int k = 0; k < modes->count; k++)
        destroy_mode(modes->mode[k]);
    modes->count = 0;
}

/* Removes mode `which`, whose mass is lost. */
static void drop(gbees_modes *modes, int which)
{
    modes->before.mass_pruned += mode_mass(modes->mode[which]);
    destroy_mode(modes->mode[which]);
    modes->count--;
    memmove(&modes->mode[which], &modes->mode[which + 1], (size_t)(modes->count - which) * sizeof *modes->mode);
}

static void sort_by_weight(gbees_modes *modes)
{
    for (int i = 1; i < modes->count; i++)
        for (int k = i; k > 0 && modes->mode[k]->weight > modes->mode[k - 1]->weight; k--) {
            gbees_density_mode *lighter = modes->mode[k - 1];

            modes->mode[k - 1] = modes->mode[k];
            modes->mode[k] = lighter;
        }
}

/* ---- clocks ---- */

void gbees_modes_sync(gbees_modes *modes, const gbees_clock *clock)
{
    for (int k = 0; k < modes->count; k++)
        modes->mode[k]->clock = *clock;
}

gbees_density_mode *gbees_modes_next(const gbees_modes *modes)
{
    gbees_density_mode *next = modes->mode[0];

    for (int k = 1; k < modes->count; k++)
        if (modes->mode[k]->clock.elapsed < next->clock.elapsed)
            next = modes->mode[k];
    return next;
}

/* ---- threads ---- */

int gbees_modes_share_threads(gbees_modes *modes, int count)
{
    const int threads = gbees_workers_threads(modes->threads);
    const int least = gbees_grid_totals(&modes->mode[0]->grid).threads ? 2 : 1; /* a GPU's engine takes none */
    const int most = threads / least, at_a_time = most < 1 ? 1 : most < count ? most : count;

    for (int k = 0; k < modes->count; k++)
        modes->mode[k]->grid.options.threads = at_a_time > 1 ? threads / at_a_time : modes->threads;
    return at_a_time;
}

/* ---- division ---- */

/* Takes the cells of one side out of a list, and puts them into another. */
static int take_side(gbees_initial_cells *from, int n, const gbees_valley *valley, gbees_initial_cells *to,
                     gbees_error *error)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < from->count; i++)
        count += (size_t)gbees_valley_side(valley, from, n, i);
    if (gbees_initial_cells_reserve(to, n, count))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to divide a density of %zu cells",
                               from->count);
    for (size_t i = 0; i < from->count; i++) {
        gbees_initial_cells *const side = gbees_valley_side(valley, from, n, i) ? to : from;
        const size_t at = side == to ? to->count++ : kept++;

        for (int j = 0; j < n; j++)
            side->index[j][at] = from->index[j][i];
        side->p[at] = from->p[i];
    }
    from->count = kept;
    return GBEES_OK;
}

/* The parts of a mode's density, as cells of its grid. */
typedef struct parts {
    int count;
    gbees_initial_cells cells[GBEES_MODES_MOST];
} parts;

static void clear_parts(parts *p)
{
    for (int k = 0; k < p->count; k++)
        gbees_initial_cells_clear(&p->cells[k]);
}

/* Divides a mode's density at valleys until no part has one, or there are `most` parts. */
static int find_parts(const gbees_density_mode *mode, int most, parts *p, gbees_error *error)
{
    const int n = mode->moving.frame.n;
    int status = gbees_grid_fetch(&mode->grid, &p->cells[0], error);
    gbees_valley valley;

    p->count = 1;
    for (int k = 0; k < p->count && !status; k++)
        while (!status && p->count < most && gbees_valley_find(&p->cells[k], n, &valley)) {
            status = take_side(&p->cells[k], n, &valley, &p->cells[p->count], error);
            p->count += !status;
        }
    return status;
}

/* Makes a mode of a part of another's cells, whose sum of P was `all`. */
static int make_part(const gbees_modes *modes, const gbees_density_mode *of, gbees_initial_cells *cells, double all,
                     const gbees_clock *clock, gbees_density_mode **made, gbees_error *error)
{
    gbees_density_mode *mode = create_mode(error);
    const double mass = mode_mass(of);

    if (!mode)
        return GBEES_ENOMEM;
    mode->weight = mass * gbees_initial_cells_sum(cells) / all;
    mode->clock = *clock;
    mode->slice = of->slice;
    mode->moving = of->moving;
    const gbees_totals totals = gbees_modes_totals(modes);
    const gbees_part part = {.frame = &of->moving.frame,
                             .time = clock->time,
                             .lost = totals.mass_outflow + totals.mass_pruned,
                             .cells = cells};
    const int status = gbees_grid_open_part(&of->grid, &part, &mode->grid, error);
    if (status) {
        destroy_mode(mode);
        return status;
    }
    *made = mode;
    return GBEES_OK;
}

/* Replaces mode `which` by its parts. The mass of cells too small to be fetched counts as pruned. */
static int replace_by_parts(gbees_modes *modes, int which, parts *p, const gbees_clock *clock, gbees_error *error)
{
    gbees_density_mode *made[GBEES_MODES_MOST], *const divided = modes->mode[which];
    double all = 0;
    int count = 0, status = GBEES_OK;

    for (int k = 0; k < p->count; k++)
        all += gbees_initial_cells_sum(&p->cells[k]);
    const gbees_totals totals = gbees_modes_totals(modes);
    note_all(modes);
    modes->before.max_cells = totals.max_cells;
    modes->before.peak_bytes = totals.peak_bytes;
    modes->divided = 1;
    (void)gbees_modes_share_threads(modes, modes->count - 1 + p->count);
    for (; count < p->count && !status; count++)
        status = make_part(modes, divided, &p->cells[count], all, clock, &made[count], error);
    if (status) {
        for (int k = 0; k + 1 < count; k++)
            destroy_mode(made[k]);
        return status;
    }
    modes->before.mass_pruned += mode_mass(divided) * (1 - all);
    for (int k = 0; k < count; k++)
        made[k]->weight *= all;
    destroy_mode(divided);
    modes->mode[which] = made[0];
    for (int k = 1; k < count; k++)
        modes->mode[modes->count++] = made[k];
    return GBEES_OK;
}

static int divide(gbees_modes *modes, int which, const gbees_clock *clock, gbees_error *error)
{
    parts p = {.count = 0};
    int status = find_parts(modes->mode[which], GBEES_MODES_MOST - modes->count + 1, &p, error);

    if (!status && p.count > 1 && modes->mode[which]->grid.options.parallel)
        status = gbees_error_set(error, GBEES_EUSAGE,
                                 "several ranks can't share the %d parts into which the density falls at t = %.9g, "
                                 "each with a grid that moves: run it without mpirun",
                                 p.count, clock->time);
    else if (!status && p.count > 1)
        status = replace_by_parts(modes, which, &p, clock, error);
    clear_parts(&p);
    return status;
}

int gbees_modes_divide(gbees_modes *modes, const gbees_clock *clock, gbees_error *error)
{
    const int before = modes->count;
    int status = GBEES_OK;

    for (int k = 0; k < before && !status; k++)
        status = divide(modes, k, clock, error);
    for (int k = 0; k < modes->count && !status; k++)
        status = gbees_moving_restart(&modes->mode[k]->moving, &modes->mode[k]->grid, clock, error);
    sort_by_weight(modes);
    return status;
}

/* ---- the start ---- */

int gbees_modes_add(gbees_modes *modes, const gbees_problem *problem, const gbees_engine_options *options,
                    gbees_error *error)
{
    const gbees_engine_options none = {0};
    gbees_density_mode *mode = create_mode(error);

    if (!mode)
        return GBEES_ENOMEM;
    mode->grid = (gbees_grid){.backend = modes->backend, .options = options ? *options : none, .problem = problem};
    modes->mode[modes->count++] = mode;
    return GBEES_OK;
}

int gbees_modes_open(gbees_modes *modes, const gbees_problem *problem, const gbees_backend *backend,
                     const gbees_engine_options *options, gbees_error *error)
{
    const gbees_clock clock = {.time = problem->start};

    *modes = (gbees_modes){.backend = backend, .threads = options ? options->threads : 0};
    int status = gbees_modes_add(modes, problem, options, error);
    if (status)
        return status;
    gbees_density_mode *mode = modes->mode[0];
    mode->clock = clock;
    status = gbees_grid_open(&mode->grid, error);
    if (!status && problem->moving)
        status = gbees_moving_start(&mode->moving, &mode->grid, error);
    if (!status && problem->moving && problem->gaussian_count > 1)
        status = gbees_modes_divide(modes, &clock, error);
    return status;
}

/* ---- a measurement ---- */

int gbees_mode_statistics(const gbees_density_mode *mode, const gbees_clock *clock, gbees_statistics *statistics,
                          gbees_error *error)
{
    return mode->grid.backend->statistics(mode->grid.engine, clock, statistics, error);
}

static int update_one(gbees_density_mode *mode, const gbees_clock *clock, const gbees_measurement *measurement,
                      gbees_evidence *evidence, gbees_error *error)
{
    int status = GBEES_OK;

    if (mode->grid.problem->moving)
        status = gbees_moving_place(&mode->moving, &mode->grid, clock->time, error);
    return status ? status : mode->grid.backend->update(mode->grid.engine, clock, measurement, evidence, error);
}

/* Sets the weights after an update: logs[k] is the logarithm of mode k's mass times its evidence, minus infinity if
 * no cell of it supports the measurement. Returns the logarithm of their sum. */
static double weigh(const gbees_modes *modes, const double *logs)
{
    double top = -INFINITY, sum = 0;

    for (int k = 0; k < modes->count; k++)
        top = fmax(top, logs[k]);
    for (int k = 0; k < modes->count; k++)
        sum += exp(logs[k] - top);
    for (int k = 0; k < modes->count; k++)
        modes->mode[k]->weight = exp(logs[k] - top) / sum;
    /* cppcheck-suppress invalidFunctionArg ; there is a mode, and the likeliest adds 1 */
    return top + log(sum);
}

/* Drops the modes whose cells would all be below p* of the heaviest one. */
static void drop_light(gbees_modes *modes)
{
    sort_by_weight(modes);
    const double least = modes->mode[0]->weight * gbees_grid_totals(&modes->mode[0]->grid).threshold;

    while (modes->count > 1 && !(modes->mode[modes->count - 1]->weight > least))
        drop(modes, modes->count - 1);
}

static int update_all(gbees_modes *modes, const gbees_clock *clock, const gbees_measurement *measurement,
                      gbees_evidence *evidence, gbees_error *error)
{
    double logs[GBEES_MODES_MOST], mass = 0;
    gbees_error cause = {0};
    int supported = 0;

    *evidence = (gbees_evidence){.log_likelihood_max = -INFINITY};
    note_all(modes);
    for (int k = 0; k < modes->count; k++) {
        gbees_evidence own = {0};
        const double part = mode_mass(modes->mode[k]);
        const int status = update_one(modes->mode[k], clock, measurement, &own, &cause);

        if (status && status != GBEES_EUNSUPPORTED)
            return gbees_error_set(error, (gbees_status)status, "%s", cause.text);
        mass += part;
        supported += !status;
        logs[k] = status ? -INFINITY : log(part) + own.log_evidence;
        if (!status)
            evidence->log_likelihood_max = fmax(evidence->log_likelihood_max, own.log_likelihood_max);
    }
    if (!supported)
        return gbees_error_set(error, GBEES_EUNSUPPORTED, "%s", cause.text);
    evidence->log_evidence = weigh(modes, logs) - log(mass);
    drop_light(modes);
    return GBEES_OK;
}

int gbees_modes_update(gbees_modes *modes, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error)
{
    return modes->count == 1 && !modes->divided ? update_one(modes->mode[0], clock, measurement, evidence, error)
                                                : update_all(modes, clock, measurement, evidence, error);
}
