/* resolve.h - chooses a grid that resolves the density after an update (doc/method.md, "Regridding"). */
#ifndef GBEES_SOLVER_GRID_RESOLVE_H
#define GBEES_SOLVER_GRID_RESOLVE_H

#include "frame/motion.h"
#include <gbees/gbees.h>

enum { GBEES_RESOLVE_MOST = 3 }; /* 8 times narrower cells for one update, at most */

/* Predicts the standard deviations after an update by the Kalman filter, with the measurement's function linearised
 * at the prior's mean by differences over a cell. Where one is below 1.5 cells, finer[j] is the least power of two
 * that cells along axis j have to be narrower by, so that it is 2 cells, up to GBEES_RESOLVE_MOST; else 0. The powers
 * are lowered until the prior has no more than `cells_most` cells.
 * @param problem the problem with the present grid
 * @param prior the statistics before the update, in the grid's axes
 * Returns whether any finer[j] is above 0. A model's own likelihood has no covariance: 0. */
int gbees_resolve(const gbees_problem *problem, const gbees_statistics *prior, const gbees_measurement *measurement,
                  double time, double cells_most, int *finer);

/* Whether cells that updates have made narrower may become wider again: coarser[j] is the largest power of two, at
 * most level[j], with which the predicted deviation after the update still has four cells along axis j where the
 * density is as thin in any direction as its entropy allows.
 * @param level the powers by which the cells are narrower than the problem's own
 * Returns whether any coarser[j] is above 0. */
int gbees_resolve_coarser(const gbees_problem *problem, const gbees_statistics *prior,
                          const gbees_measurement *measurement, double time, const int *level, int *coarser);

/* Adds what a measurement tells of the density, H^T R^-1 H, to the Fisher information [n][n] in y, where x = m + a y:
 * H are differences of the measurement's function over a cell about the mean in y. A model's own likelihood adds
 * nothing. */
void gbees_resolve_information(const gbees_problem *problem, const gbees_moving_frame *frame, const double *mean,
                               const gbees_measurement *measurement, double time, double *information);

/* How many cells of a problem half of the machine's memory holds, or so many bytes (0: not limited), with their list
 * during a change of the grid. */
double gbees_resolve_cells_most(const gbees_problem *problem, double bytes);

#endif
