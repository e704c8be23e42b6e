/* frame.h - results of a rotated grid in the model's axes; private to the solver. */
#ifndef GBEES_SOLVER_PROBLEM_FRAME_H
#define GBEES_SOLVER_PROBLEM_FRAME_H

#include "frame/affine.h"
#include <gbees/backend.h>

/* Enters the frame of a rotated grid, centre and rotation, behind the problem's parameters. */
void gbees_frame_enter(gbees_problem *problem);

/* The frame of a problem's grid: cells have width 1 in it. */
void gbees_frame_of_grid(const gbees_problem *problem, gbees_moving_frame *frame);
/* Sets a problem's grid to the frame's place. Of a grid at rest the frame has the grid's axes, and cells of any
 * widths. */
void gbees_frame_place(const gbees_moving_frame *frame, gbees_problem *problem);

/* Transforms mean and covariance of a backend's statistics from the grid's axes to the model's. */
void gbees_frame_statistics(const gbees_problem *problem, gbees_statistics *statistics);

#endif
