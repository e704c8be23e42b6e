/* next_grid.c - broadcasts widths, origin, edges, p* and the cells of a grid; the other ranks make a problem and an
 * engine of them. */
#include "next_grid.h"
#include "base/initial_cells.h"
#include "regrid.h"
#include <string.h>

enum { PART = 1 << 20 }; /* cells of a broadcast */

/* What is told of the next grid; all zeros: the run has ended. */
typedef struct next_grid {
    gbees_grid_change change;
    uint64_t cells;
    int first; /* it is the first problem's */
} next_grid;

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

/* Tells of the first problem's grid, or that the run has ended. */
static void send_word(const gbees_parallel *parallel, int first)
{
    next_grid grid;

    memset(&grid, 0, sizeof grid);
    grid.first = first;
    parallel->broadcast(parallel->context, &grid, sizeof grid);
}

void gbees_next_grid_send_first(const gbees_parallel *parallel)
{
    send_word(parallel, 1);
}

void gbees_next_grid_send_end(const gbees_parallel *parallel)
{
    send_word(parallel, 0);
}

int gbees_next_grid_send(const gbees_parallel *parallel, const gbees_problem *problem, gbees_error *error)
{
    next_grid grid;

    memset(&grid, 0, sizeof grid); /* gaps included: it is sent as bytes */
    gbees_grid_get_change(problem, &grid.change);
    grid.cells = problem->cells->count;
    parallel->broadcast(parallel->context, &grid, sizeof grid);
    const int status = gbees_parallel_agree(parallel, GBEES_OK, error);
    if (!status)
        broadcast_cells(parallel, problem->dimension, problem->cells);
    return status;
}

/* Makes the copy, with memory for the cells. */
static int make_copy(const gbees_problem *first, const next_grid *grid, gbees_problem **problem, gbees_error *error)
{
    gbees_initial_cells cells = {0};

    if (gbees_initial_cells_reserve(&cells, first->dimension, (size_t)grid->cells))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the %llu cells of another grid",
                               (unsigned long long)grid->cells);
    cells.count = (size_t)grid->cells;
    const int status = gbees_grid_make_changed(first, &grid->change, &cells, problem, error);
    gbees_initial_cells_clear(&cells);
    return status;
}

int gbees_next_grid_receive(const gbees_parallel *parallel, const gbees_problem *first, gbees_problem **changed,
                            int *is_first, gbees_error *error)
{
    gbees_problem *made = NULL;
    next_grid grid;

    *changed = NULL;
    parallel->broadcast(parallel->context, &grid, sizeof grid);
    *is_first = grid.first;
    if (!grid.change.grid.is_set)
        return GBEES_OK;
    const int status = gbees_parallel_agree(parallel, make_copy(first, &grid, &made, error), error);
    if (status) {
        gbees_grid_free_problem(made);
        return status;
    }
    broadcast_cells(parallel, first->dimension, made->cells);
    *changed = made;
    return GBEES_OK;
}
