/* frame.h - results of a rotated grid in the model's axes; private to the solver. */
#ifndef GBEES_SOLVER_FRAME_H
#define GBEES_SOLVER_FRAME_H

#include <gbees/backend.h>

/* Transforms mean and covariance of a backend's statistics from the grid's axes to the model's. */
void gbees_frame_statistics(const gbees_problem *problem, gbees_statistics *statistics);

#endif
