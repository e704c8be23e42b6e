/* moving.h - a grid that moves with its density (doc/moving.md): its steps, and when its cells are
 * replaced. */
#ifndef GBEES_SOLVER_GRID_MOVING_H
#define GBEES_SOLVER_GRID_MOVING_H

#include "frame/motion.h"
#include "frame/shape.h"
#include "moving_noise.h"
#include "regrid.h"

/* What moves a grid. */
typedef struct gbees_moving {
    gbees_moving_frame frame;  /* now */
    gbees_motion_fits fits;    /* of the drift, since the start or the last update */
    double step;               /* the next one to be tried; 0: not known */
    uint64_t steps, checked;   /* since the fits began; at the last look at the shape */
    double cells, threshold;   /* needed cells of the first grid, and its p* */
    gbees_frame_shape shape;   /* at the last look */
    gbees_moving_noise noise;  /* that the density is still to get */
    int replaced;              /* how often the cells have been replaced */
    int costly;                /* records in a row at which a grid at rest would have had longer steps */
    double rate, rate_at_rest; /* at the last record: gbees_record_frame */
} gbees_moving;

/* Starts at the frame of the grid's problem, whose engine has been made. GBEES_EUSAGE: the backend has no grids that
 * move. */
int gbees_moving_start(gbees_moving *moving, gbees_grid *grid, gbees_error *error);

/* Advances as gbees_backend.advance(), and moves the frame. Ends early if the cells no longer fit the density, or if
 * noise is due:
 * gbees_moving_fits() is then 0. */
int gbees_moving_advance(gbees_moving *moving, gbees_grid *grid, gbees_clock *clock, uint64_t max_steps,
                         gbees_error *error);
/* Whether the cells still fit the density, and no noise is due. */
int gbees_moving_fits(const gbees_moving *moving);
/* Replaces the cells by those that fit the density, with the noise that is due. */
int gbees_moving_replace(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, gbees_error *error);

/* Before an update: replaces the cells by narrower ones, up to 8 times narrower than K allows, if what the
 * measurement tells would have less than 1.5 of the present ones a standard deviation. */
int gbees_moving_sharpen(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock,
                         const gbees_measurement *measurement, gbees_error *error);

/* Puts the engine's grid where the frame is now, before an update or for what follows one. */
int gbees_moving_place(const gbees_moving *moving, const gbees_grid *grid, double time, gbees_error *error);
/* Finds the rates of a record, with the grid where it is at that time. */
int gbees_moving_note(gbees_moving *moving, gbees_grid *grid, double time, gbees_error *error);
/* GBEES_WARNING_FRAME_CELLS if frame_cells limits how narrow cells are, GBEES_WARNING_FRAME_COST after three records
 * in a row at which a grid at rest would have had longer steps. */
unsigned gbees_moving_warnings(const gbees_moving *moving);
/* Takes the frame, and with it the density, through an affine jump; replaces the cells where it has an error. */
int gbees_moving_jump(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                      gbees_error *error);
/* Forgets the fits and looks at the density anew: an update has changed it. */
int gbees_moving_restart(gbees_moving *moving, gbees_grid *grid, const gbees_clock *clock, gbees_error *error);

#endif
