/* grid_problem.c - a copy of a problem whose initial density are the cells of a run, on another grid; see regrid.h.
 */
#include "record/cells.h"
#include "regrid.h"
#include <stdlib.h>
#include <string.h>

int gbees_grid_make_problem(const gbees_problem *from, gbees_initial_cells *cells, gbees_problem **problem,
                            gbees_error *error)
{
    gbees_problem *made = malloc(sizeof *made);
    gbees_initial_cells *own = malloc(sizeof *own);

    if (!made || !own) {
        free(made);
        free(own);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for another grid");
    }
    *made = *from;
    *own = *cells;
    memset(cells, 0, sizeof *cells);
    made->cells = own;
    made->first = from->first ? from->first : from;
    made->gaussian_count = 0;
    made->gaussians = NULL;
    *problem = made;
    return GBEES_OK;
}

void gbees_grid_get_change(const gbees_problem *problem, gbees_grid_change *change)
{
    const gbees_initial_cells *cells = problem->cells;

    gbees_grid_fields_get(problem, &change->grid);
    change->cells.mass = cells->mass;
    change->cells.time = cells->time;
    change->cells.steps = cells->steps;
    change->cells.lost = cells->lost;
    change->cells.threshold = cells->threshold;
}

int gbees_grid_make_changed(const gbees_problem *from, const gbees_grid_change *change, gbees_initial_cells *cells,
                            gbees_problem **problem, gbees_error *error)
{
    gbees_initial_cells all = change->cells;

    all.count = cells->count;
    all.p = cells->p;
    memcpy(all.index, cells->index, sizeof all.index);
    const int status = gbees_grid_make_problem(from, &all, problem, error);
    if (status)
        return status;
    memset(cells, 0, sizeof *cells);
    gbees_grid_fields_set(*problem, &change->grid);
    return GBEES_OK;
}

void gbees_grid_free_problem(gbees_problem *problem)
{
    if (!problem)
        return;
    gbees_initial_cells_clear((gbees_initial_cells *)problem->cells);
    free((void *)problem->cells);
    free(problem);
}
