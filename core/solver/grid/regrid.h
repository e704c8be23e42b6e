/* regrid.h - replaces a run's engine by one with another grid, which goes on from the same density (doc/method.md,
 * "Regridding"). */
#ifndef GBEES_SOLVER_GRID_REGRID_H
#define GBEES_SOLVER_GRID_REGRID_H

#include "base/grid_fields.h"
#include "frame/plan.h"
#include <gbees/gbees.h>

/* The engine of a run, and what belongs to it. */
typedef struct gbees_grid {
    const gbees_backend *backend;
    gbees_engine_options options;
    const gbees_problem *problem; /* the run's */
    gbees_problem *regridded;     /* its copy with the present grid; NULL: the grid is the problem's */
    gbees_engine *engine;         /* NULL: an attempt to replace it has failed */
    int level[GBEES_MAX_DIM];     /* cells are 2^level times narrower than the problem's */
    gbees_totals before;          /* of the engines that have been replaced */
} gbees_grid;

/* In what the problem of a grid that has replaced the run's first one differs from the run's problem, as plain data.
 */
typedef struct gbees_grid_change {
    gbees_grid_fields grid;
    gbees_initial_cells cells; /* without its lists, and without their length */
} gbees_grid_change;

/* ---- grid_problem.c ---- */
/* Describes a problem that gbees_grid_make_problem() has made. *change has to be all zeros, gaps included: it is
 * saved and sent as bytes. */
void gbees_grid_get_change(const gbees_problem *problem, gbees_grid_change *change);
/* Makes the problem that a change describes, which takes the lists of `cells`. */
int gbees_grid_make_changed(const gbees_problem *from, const gbees_grid_change *change, gbees_initial_cells *cells,
                            gbees_problem **problem, gbees_error *error);
/* Makes a copy of a problem, whose grid may then be set; it takes the cells, of which the list is empty afterwards.
 * gbees_grid_close() frees that of a grid. */
int gbees_grid_make_problem(const gbees_problem *from, gbees_initial_cells *cells, gbees_problem **problem,
                            gbees_error *error);
void gbees_grid_free_problem(gbees_problem *problem);

/* ---- regrid.c ---- */
/* Makes the first engine, on the problem's grid. */
int gbees_grid_open(gbees_grid *grid, gbees_error *error);
void gbees_grid_close(gbees_grid *grid);

/* The problem with the present grid. */
const gbees_problem *gbees_grid_problem(const gbees_grid *grid);
/* The totals since the run's start, over all engines. */
gbees_totals gbees_grid_totals(const gbees_grid *grid);
/* The density's statistics, in the grid's axes. */
int gbees_grid_statistics(const gbees_grid *grid, const gbees_clock *clock, gbees_statistics *statistics,
                          gbees_error *error);

/* Lists the cells of the engine, with normalised P, in lexicographic order, down to a part of p*. */
int gbees_grid_fetch(const gbees_grid *grid, gbees_initial_cells *to, gbees_error *error);

/* Transfers the density to a grid of these levels, at the clock's time. Records of the present grid must no longer be
 * in use. */
int gbees_grid_replace(gbees_grid *grid, const gbees_clock *clock, const int *level, gbees_error *error);
/* The grid to which a density is transferred from the cells of another frame. */
typedef struct gbees_grid_target {
    gbees_moving_frame frame;
    double threshold;     /* p* there, unless a mass budget controls it */
    const double *spread; /* NULL, or the variances that noise adds along its axes, in its cells */
    double thinned;       /* 0, or by which factor the error of a jump lowers the density, with which p* goes */
    const gbees_moving_frame *via; /* NULL, or the frame along whose axes that is, where the cells are taken first */
} gbees_grid_target;

/* Takes a list of cells of one frame to the target, by way of another frame if it has one. */
int gbees_grid_remap_cells(gbees_initial_cells *cells, const gbees_moving_frame *from,
                           const gbees_grid_target *target, const gbees_remap_options *options, gbees_error *error);
/* Makes an engine of a list of cells of the target, with P as parts of the density's mass, in place of the grid's;
 * the list is empty afterwards. volume: the size of a cell over that of a present one, to scale p* by. */
int gbees_grid_take(gbees_grid *grid, const gbees_clock *clock, gbees_initial_cells *cells,
                    const gbees_grid_target *target, double volume, gbees_error *error);
/* Transfers the density from the cells of one frame to those of another, which at rest has the grid's own axes. Cells
 * that stay are all kept, as they are. */
int gbees_grid_remap(gbees_grid *grid, const gbees_clock *clock, const gbees_moving_frame *from,
                     const gbees_grid_target *target, gbees_error *error);

#endif
