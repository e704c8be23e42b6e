/* mode_records.c - adds up moments of the modes by their weights, and spreads the cells of each, as points, over the
 * cells of one grid. */
#include "mode_records.h"
#include "cells.h"
#include "frame.h"
#include "warnings.h"
#include <math.h>
#include <stdlib.h>

enum {
    DEVIATION_CELLS = 10, /* of the flat grid */
    POINTS_MOST = 3,      /* along an edge of a cell that is spread, 2 from POINTS_FEW axes on */
    POINTS_FEW = 4,
    FLAT_MOST = 1 << 25, /* points that are spread */
    BATCH = 1024
};

/* ---- statistics ---- */

static double volume_of(const gbees_problem *problem)
{
    return fabs(gbees_matrix_determinant(problem->dimension, problem->rotation));
}

/* Adds a part's mean. All means must be added before covariances, which are about the mean of all. */
static void add_mean(const gbees_record_mode *part, int n, gbees_statistics *all)
{
    for (int j = 0; j < n; j++)
        all->mean[j] += part->weight * part->statistics.mean[j];
}

static void add_covariance(const gbees_record_mode *part, int n, gbees_statistics *all)
{
    const gbees_statistics *own = &part->statistics;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            all->covariance[j * n + k] +=
                part->weight *
                (own->covariance[j * n + k] + (own->mean[j] - all->mean[j]) * (own->mean[k] - all->mean[k]));
}

/* The index of the cell of a moving grid that a place lies in. */
static void find_cell(const gbees_problem *problem, const double *x, int32_t *index)
{
    const double *const inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        double y = 0;

        for (int k = 0; k < n; k++)
            y += inverse[j * n + k] * (x[k] - problem->centre[k]);
        index[j] = (int32_t)fmax(-INT32_MAX, fmin(INT32_MAX, rint(y)));
    }
}

/* Sets the peak to that of mode `which` if it is the larger one, in cells of the first mode. */
static void add_peak(const gbees_event_modes *modes, int which, gbees_statistics *all)
{
    const gbees_record_mode *part = &modes->mode[which];
    const double peak =
        part->weight * part->statistics.peak * volume_of(&modes->problem[0]) / volume_of(&modes->problem[which]);
    double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

    if (!(peak > all->peak))
        return;
    all->peak = peak;
    for (int j = 0; j < part->problem->dimension; j++)
        y[j] = part->statistics.peak_index[j];
    gbees_problem_point(part->problem, y, x);
    find_cell(&modes->problem[0], x, all->peak_index);
}

/* Adds up the statistics of all parts. The entropy is that of parts which do not overlap: the mean of theirs,
 * weighted, plus the entropy of the weights. */
static void add_parts(const gbees_event_modes *modes, gbees_statistics *all)
{
    const int n = modes->problem[0].dimension;

    for (int k = 0; k < modes->count; k++) {
        const gbees_record_mode *part = &modes->mode[k];

        all->cells += part->statistics.cells;
        all->cells_above += part->statistics.cells_above;
        all->cells_raw += part->statistics.cells_raw;
        if (part->weight > 0)
            all->entropy += part->weight * (part->statistics.entropy - log(part->weight));
        add_mean(part, n, all);
        add_peak(modes, k, all);
    }
    for (int k = 0; k < modes->count; k++)
        add_covariance(&modes->mode[k], n, all);
}

int gbees_mode_records_create(const gbees_modes *modes, const gbees_clock *clock, gbees_event_modes **made,
                              gbees_statistics *all, unsigned *narrow, gbees_error *error)
{
    gbees_event_modes *new = calloc(1, sizeof *new);
    int status = GBEES_OK;

    if (!new)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the grids of a record");
    *all = (gbees_statistics){0};
    *narrow = 0;
    new->count = modes->count;
    for (int k = 0; k < new->count && !status; k++) {
        gbees_record_mode *part = &new->mode[k];

        new->problem[k] = *gbees_grid_problem(&modes->mode[k]->grid);
        gbees_frame_place(&modes->mode[k]->moving.frame, &new->problem[k]);
        part->problem = &new->problem[k];
        part->weight = gbees_modes_part(modes, k);
        status = gbees_mode_statistics(modes->mode[k], clock, &part->statistics, error);
        if (status)
            break;
        *narrow |= gbees_warnings_record(part->problem, &part->statistics);
        gbees_frame_statistics(part->problem, &part->statistics);
        all->mass += modes->mode[k]->weight * part->statistics.mass;
    }
    if (status) {
        gbees_mode_records_destroy(new);
        return status;
    }
    add_parts(new, all);
    *made = new;
    return GBEES_OK;
}

void gbees_mode_records_destroy(gbees_event_modes *modes)
{
    for (int k = 0; modes && k < modes->count; k++)
        gbees_cells_destroy(modes->cells[k]);
    free(modes);
}

/* ---- cells ---- */

int gbees_mode_records_collect(const gbees_modes *modes, gbees_event_modes *to, gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; k < to->count && !status; k++) {
        const gbees_grid *grid = &modes->mode[k]->grid;

        status = gbees_cells_collect(grid->backend, grid->engine, 1, to->problem[k].dimension, 0,
                                     "the cells of a record", &to->cells[k], error);
    }
    return status;
}

int gbees_mode_records_sort(gbees_event_modes *modes, int threads, gbees_error *error)
{
    int status = GBEES_OK;

    for (int k = 0; k < modes->count && modes->cells[k] && !status; k++) {
        status = gbees_cells_finish(modes->cells[k], threads, error);
        modes->mode[k].cells = modes->cells[k];
    }
    return status;
}

/* ---- one grid for all ---- */

/* Sets the grid: its origin at the mean. */
static void set_flat_grid(const gbees_event_modes *modes, const gbees_statistics *all, gbees_problem *flat)
{
    const gbees_problem *grid = &modes->problem[0], *start = grid->first ? grid->first : grid;
    const int n = grid->dimension;

    *flat = *start;
    flat->rotated = flat->moving = 0;
    for (int j = 0; j < n; j++) {
        double variance = 0;

        for (int k = 0; k < n; k++) /* the initial covariance, which is diagonal along the initial grid's axes */
            variance += start->rotation[j * n + k] * start->rotation[j * n + k] * start->covariance[k * n + k];
        const double deviation = sqrt(variance), now = sqrt(all->covariance[j * n + j]);

        flat->mean[j] = all->mean[j];
        flat->width[j] = deviation / fmax(1, ceil(DEVIATION_CELLS * deviation / now));
        flat->covariance[j * n + j] = variance;
    }
}

/* Sets points[n] to the number of points along each edge of a mode's cells; returns that of a whole cell. */
static int count_points(const gbees_problem *problem, const gbees_problem *flat, int *points)
{
    const int n = problem->dimension, most = n < POINTS_FEW ? POINTS_MOST : 2;
    int all = 1;

    for (int k = 0; k < n; k++) {
        double cells = 0;

        for (int j = 0; j < n; j++)
            cells = fmax(cells, fabs(problem->rotation[j * n + k]) / flat->width[j]);
        points[k] = cells <= 1 ? 1 : cells <= 2 ? 2 : most;
        all *= points[k];
    }
    return all;
}

/* Cells of a mode on their way to the flat grid. */
typedef struct spreading {
    const gbees_problem *from, *flat;
    double part; /* of each cell's P that a point has */
    int points[GBEES_MAX_DIM], all;
    gbees_cells *to;
} spreading;

/* The flat cell that a point of a cell lies in. */
static void place_point(const spreading *s, int32_t *const *index, size_t i, int point, int32_t *to)
{
    const int n = s->from->dimension;
    double y[GBEES_MAX_DIM], x[GBEES_MAX_DIM];

    for (int k = 0, digits = point; k < n; digits /= s->points[k], k++)
        y[k] = index[k][i] + (digits % s->points[k] + 0.5) / s->points[k] - 0.5;
    gbees_problem_point(s->from, y, x);
    for (int j = 0; j < n; j++)
        to[j] = (int32_t)rint((x[j] - s->flat->mean[j]) / s->flat->width[j]);
}

static int spread_batch(const spreading *s, const gbees_cells *cells, size_t first, size_t count)
{
    int32_t from[GBEES_MAX_DIM][BATCH], to[GBEES_MAX_DIM][BATCH];
    int32_t *index[GBEES_MAX_DIM];
    const int32_t *placed[GBEES_MAX_DIM];
    double p[BATCH];
    const int n = s->from->dimension;

    for (int j = 0; j < n; j++) {
        index[j] = from[j];
        placed[j] = to[j];
    }
    gbees_cells_copy(cells, first, count, index, p);
    for (size_t i = 0; i < count; i++)
        p[i] *= s->part;
    for (int point = 0; point < s->all; point++) {
        for (size_t i = 0; i < count; i++) {
            int32_t at[GBEES_MAX_DIM];

            place_point(s, index, i, point, at);
            for (int j = 0; j < n; j++)
                to[j][i] = at[j];
        }
        if (gbees_cells_add(s->to, count, placed, p))
            return 1;
    }
    return 0;
}

static void spread(const gbees_event_modes *modes, int which, const gbees_problem *flat, gbees_cells *to)
{
    const gbees_cells *cells = modes->cells[which];
    spreading s = {.from = &modes->problem[which], .flat = flat, .to = to};
    const size_t count = gbees_cells_count(cells);

    s.all = count_points(s.from, flat, s.points);
    s.part = modes->mode[which].weight / s.all;
    for (size_t first = 0; first < count; first += BATCH)
        if (spread_batch(&s, cells, first, count - first < BATCH ? count - first : BATCH))
            return; /* gbees_cells_finish() reports it */
}

int gbees_mode_records_flatten(const gbees_event_modes *modes, const gbees_statistics *all, gbees_problem *flat,
                               gbees_cells **cells, gbees_error *error)
{
    double points = 0;

    *cells = NULL;
    set_flat_grid(modes, all, flat);
    for (int k = 0; k < modes->count; k++) {
        int along[GBEES_MAX_DIM];

        points += (double)count_points(&modes->problem[k], flat, along) * (double)gbees_cells_count(modes->cells[k]);
    }
    if (points > FLAT_MOST)
        return GBEES_OK;
    gbees_cells *made = gbees_cells_create(flat->dimension);
    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");
    for (int k = 0; k < modes->count; k++)
        spread(modes, k, flat, made);
    const int status = gbees_cells_finish_sums(made, 1, error);
    if (status)
        gbees_cells_destroy(made);
    else
        *cells = made;
    return status;
}
