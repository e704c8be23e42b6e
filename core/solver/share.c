/* share.c - see share.h. */
#include "share.h"
#include "cells.h"
#include "regrid.h"
#include <string.h>

enum { PART = 1 << 20 }; /* cells of a broadcast */

/* What another grid differs in from the first problem's. */
typedef struct shared_grid {
    int is_grid; /* 0: the run has ended */
    double parameters[GBEES_PARAMETER_VALUES];
    double centre[GBEES_MAX_DIM], mean[GBEES_MAX_DIM], width[GBEES_MAX_DIM];
    int extent[GBEES_MAX_DIM];
    double threshold;
    gbees_initial_cells cells; /* without its lists */
} shared_grid;

static void take_grid(const gbees_problem *problem, shared_grid *grid)
{
    memset(grid, 0, sizeof *grid);
    grid->is_grid = 1;
    memcpy(grid->parameters, problem->parameters, sizeof grid->parameters);
    memcpy(grid->centre, problem->centre, sizeof grid->centre);
    memcpy(grid->mean, problem->mean, sizeof grid->mean);
    memcpy(grid->width, problem->width, sizeof grid->width);
    memcpy(grid->extent, problem->extent, sizeof grid->extent);
    grid->threshold = problem->threshold;
    grid->cells = *problem->cells;
    memset(grid->cells.index, 0, sizeof grid->cells.index);
    grid->cells.p = NULL;
}

static void set_grid(const shared_grid *grid, gbees_problem *problem)
{
    memcpy(problem->parameters, grid->parameters, sizeof grid->parameters);
    memcpy(problem->centre, grid->centre, sizeof grid->centre);
    memcpy(problem->mean, grid->mean, sizeof grid->mean);
    memcpy(problem->width, grid->width, sizeof grid->width);
    memcpy(problem->extent, grid->extent, sizeof grid->extent);
    problem->threshold = grid->threshold;
}

/* Copies rank 0's cells to the others' lists. */
static void broadcast_cells(const gbees_parallel *parallel, int n, const gbees_initial_cells *cells)
{
    for (size_t at = 0; at < cells->count; at += PART) {
        const size_t rest = cells->count - at, count = rest < PART ? rest : PART;

        for (int j = 0; j < n; j++)
            parallel->broadcast(parallel->context, cells->index[j] + at, count * sizeof *cells->index[j]);
        parallel->broadcast(parallel->context, cells->p + at, count * sizeof *cells->p);
    }
}

int gbees_share_problem(const gbees_parallel *parallel, const gbees_problem *problem, gbees_error *error)
{
    shared_grid grid;

    take_grid(problem, &grid);
    parallel->broadcast(parallel->context, &grid, sizeof grid);
    const int status = gbees_parallel_agree(parallel, GBEES_OK, error);
    if (!status)
        broadcast_cells(parallel, problem->dimension, problem->cells);
    return status;
}

void gbees_share_end(const gbees_parallel *parallel)
{
    shared_grid none;

    memset(&none, 0, sizeof none);
    parallel->broadcast(parallel->context, &none, sizeof none);
}

/* Makes the copy, with room for the cells. */
static int make_copy(const gbees_problem *first, const shared_grid *grid, gbees_problem **problem, gbees_error *error)
{
    gbees_initial_cells cells = {0};
    int status = gbees_initial_cells_reserve(&cells, first->dimension, grid->cells.count)
                     ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the %zu cells of another grid",
                                       grid->cells.count)
                     : GBEES_OK;

    if (!status) {
        cells.count = grid->cells.count;
        cells.mass = grid->cells.mass;
        cells.time = grid->cells.time;
        cells.steps = grid->cells.steps;
        cells.lost = grid->cells.lost;
        cells.threshold = grid->cells.threshold;
        status = gbees_grid_make_problem(first, &cells, problem, error);
    }
    gbees_initial_cells_clear(&cells);
    return status;
}

int gbees_share_receive(const gbees_parallel *parallel, const gbees_problem *first, gbees_problem **problem,
                        gbees_error *error)
{
    gbees_problem *made = NULL;
    shared_grid grid;

    *problem = NULL;
    parallel->broadcast(parallel->context, &grid, sizeof grid);
    if (!grid.is_grid)
        return GBEES_OK;
    const int status = gbees_parallel_agree(parallel, make_copy(first, &grid, &made, error), error);
    if (status) {
        gbees_grid_free_problem(made);
        return status;
    }
    set_grid(&grid, made);
    broadcast_cells(parallel, first->dimension, made->cells);
    *problem = made;
    return GBEES_OK;
}
