/* moving_noise.h - process noise on a moving frame (doc/moving.md).
 *
 * In the frame's coordinates y, with x = m + A y, an affine drift leaves the density as it is, and noise adds
 * A^-1 Q A^-T dt to its covariance. So the noise of many steps is summed, and applied by one regrid for a whole
 * interval of time, which convolves the density with it. It is applied in the middle of the interval: the first
 * half's noise late, the second half's ahead of time, so that the mean delay is zero. */
#ifndef GBEES_SOLVER_GRID_MOVING_NOISE_H
#define GBEES_SOLVER_GRID_MOVING_NOISE_H

#include "frame/motion.h"
#include <gbees/backend.h>

/* Plain data, saved in checkpoints; all zero: the model has no noise, and no jump an error. Matrices are n x n by
 * rows, in y; times are the problem's. */
typedef struct gbees_moving_noise {
    int any;                       /* whether there is ever noise: of the model, or errors of jumps */
    int is_due;                    /* whether it is to be applied now */
    int is_of_jump;                /* whether there is the error of a jump in it */
    double gathered[GBEES_MATRIX]; /* covariance summed but not yet applied; negative where applied ahead of time */
    double information[GBEES_MATRIX]; /* the density's Fisher information, which the solver measures at times */
    double began, due, until;         /* the interval: its beginning, when the noise is applied, its end */
} gbees_moving_noise;

/* One step of a frame: its state at the beginning of the step, the affine drift that moves it, and the step's time
 * and length. */
typedef struct gbees_moving_way {
    const gbees_moving_frame *frame;
    const gbees_affine *field;
    double time, length;
} gbees_moving_way;

/* Sets to[n][n] to the integral of A^-1 Q A^-T over the step, by Simpson's rule. GBEES_ENUMERIC: it is not finite, or
 * the frame can't be moved. */
int gbees_moving_noise_find(const gbees_problem *problem, const gbees_moving_way *way, double *to,
                            gbees_error *error);

/* Adds the noise of a step to the sum, and sets is_due: from the middle of the interval on, or earlier if the sum has
 * come to change the density by more than an interval may; the interval is then shortened. */
int gbees_moving_noise_gather(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_way *way,
                              gbees_error *error);

/* By which factor noise of covariance `added`[n][n] lowers the peak of a Gaussian of covariance[n][n]: at most 1. */
double gbees_moving_noise_thins(int n, const double *covariance, const double *added);
/* Adds the covariance[n][n] of a jump's error, in the model's axes, which is due at once. */
int gbees_moving_noise_jump(gbees_moving_noise *noise, const gbees_moving_frame *frame, const double *covariance,
                            gbees_error *error);

/* To be called at each regrid: expresses the sum and the information in the new cells' coordinates. edges[n][n]: its
 * columns are the new cells' edges in y. spread[n]: the variances, in new cells, by which the regrid has convolved
 * the density, or NULL if it has not; they are subtracted from the sum. What remains, of either sign, is applied the
 * next time. GBEES_ENUMERIC: `edges` is singular. */
int gbees_moving_noise_apply(gbees_moving_noise *noise, int n, const double *edges, const double *spread,
                             gbees_error *error);

/* Plans the next interval, from `time` to `end` at the latest, if there is none or it has ended. Its length is such
 * that its noise raises the density's entropy by at most a tenth. GBEES_ENUMERIC: the frame is singular. */
int gbees_moving_noise_plan(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_frame *frame,
                            double time, double end, gbees_error *error);

/* Refuses noise that depends on the state: GBEES_EUSAGE if Q three standard deviations from the mean, along any axis
 * of the frame, differs from Q at the mean. The statistics are in y. */
int gbees_moving_noise_check(const gbees_problem *problem, const gbees_moving_frame *frame,
                             const gbees_statistics *statistics, double time, gbees_error *error);

#endif
