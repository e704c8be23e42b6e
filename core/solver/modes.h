/* modes.h - a run's density as a list of modes, each on a grid of its own (doc/method.md, "Modes"). A grid that moves
 * follows one peak of a density, and not two that drift apart: where a density falls apart it is divided. All others
 * have one mode. */
#ifndef GBEES_SOLVER_MODES_H
#define GBEES_SOLVER_MODES_H

#include "moving.h"
#include "regrid.h"

typedef struct gbees_density_mode {
    gbees_grid grid;     /* has the engine, in which its density is normalised by itself */
    gbees_moving moving; /* of a grid that moves */
    gbees_clock clock;   /* its own between two records: modes step independently */
    uint64_t slice;      /* steps of the next call to the backend; 0: not known */
    double weight;       /* mass of the run's density for each unit of mass of the engine's */
    gbees_totals noted;  /* of the grid, when the weight was set */
} gbees_density_mode;

typedef struct gbees_modes {
    int count;                                  /* at least 1 */
    gbees_density_mode *mode[GBEES_MODES_MOST]; /* the heaviest at the last update first */
    const gbees_backend *backend;
    int threads;         /* of the run, as gbees_engine_options.threads */
    int divided;         /* 1: there have been more than one */
    gbees_totals before; /* if divided: the run's totals without those of each mode since its `noted` */
} gbees_modes;

/* Makes the initial modes: one, or more where the initial density of a grid that moves has peaks far from each other.
 * `problem` and `backend` must outlive them. Call gbees_modes_close() after a failure, too. */
int gbees_modes_open(gbees_modes *modes, const gbees_problem *problem, const gbees_backend *backend,
                     const gbees_engine_options *options, gbees_error *error);
void gbees_modes_close(gbees_modes *modes);

/* Adds a mode without an engine, on the problem's grid, to the list of a run. */
int gbees_modes_add(gbees_modes *modes, const gbees_problem *problem, const gbees_engine_options *options,
                    gbees_error *error);

/* The totals since the run's start, over all modes that there have been. Counts are sums over the modes, masses are
 * parts of the run's. */
gbees_totals gbees_modes_totals(const gbees_modes *modes);

/* Sets the clocks of all modes to the run's, for an interval that begins there. */
void gbees_modes_sync(gbees_modes *modes, const gbees_clock *clock);
/* The mode that is to advance next: the one whose clock is furthest behind. */
gbees_density_mode *gbees_modes_next(const gbees_modes *modes);
/* How many of `count` modes are to advance at a time: all on a GPU, on the CPU as many as get two threads each, since
 * a grid of one mode is mostly too small for more. Divides the run's threads among so many: a mode's next engine
 * takes its part, and so does what replaces its cells. */
int gbees_modes_share_threads(gbees_modes *modes, int count);

/* Applies a measurement to all modes, as gbees_backend.update(), and sets their weights by their evidence. Drops
 * modes with less than p* of the heaviest one's mass. On grids that move call gbees_modes_divide() next: the cells
 * are still those that fitted the prior. */
int gbees_modes_update(gbees_modes *modes, const gbees_clock *clock, const gbees_measurement *measurement,
                       gbees_evidence *evidence, gbees_error *error);
/* Divides the modes whose density has a valley, and replaces the cells of all modes by those that fit their density.
 */
int gbees_modes_divide(gbees_modes *modes, const gbees_clock *clock, gbees_error *error);

/* The statistics of a mode, in its grid's axes. */
int gbees_mode_statistics(const gbees_density_mode *mode, const gbees_clock *clock, gbees_statistics *statistics,
                          gbees_error *error);
/* The part of the run's density that a mode is: its mass over that of all. */
double gbees_modes_part(const gbees_modes *modes, int which);

#endif
