/* frame.h - results of a rotated grid in the model's axes; private to the solver. */
#ifndef GBEES_SOLVER_PROBLEM_FRAME_H
#define GBEES_SOLVER_PROBLEM_FRAME_H

#include "frame/affine.h"
#include <gbees/backend.h>

/* Enters the frame of a rotated grid, centre and rotation, behind the problem's parameters. */
void gbees_frame_enter(gbees_problem *problem);

/* Sets the grid of a problem whose grid moves to the frame's place. */
void gbees_frame_place(const gbees_moving_frame *frame, gbees_problem *problem);

/* Transforms mean and covariance of a backend's statistics from the grid's axes to the model's. */
void gbees_frame_statistics(const gbees_problem *problem, gbees_statistics *statistics);

#endif
