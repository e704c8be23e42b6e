/* moving_noise.h - process noise of a grid that moves (doc/method.md, "Moving frame"). In the frame's coordinates
 * what it adds to the density's covariance is conserved by an affine drift, however the frame moves. So it is
 * gathered over many steps, and applied at once where cells are replaced: in the middle of an interval, with what the
 * second half of it will gather. */
#ifndef GBEES_SOLVER_MOVING_NOISE_H
#define GBEES_SOLVER_MOVING_NOISE_H

#include "frame/motion.h"
#include <gbees/backend.h>

/* Plain data; all zero: the model has no noise. Matrices are n x n, in y. */
typedef struct gbees_moving_noise {
    int any;                          /* whether the model has noise */
    int is_due;                       /* whether it is to be applied now */
    double gathered[GBEES_MATRIX];    /* what the density lacks; below 0 what it has been given ahead */
    double information[GBEES_MATRIX]; /* J at the last look */
    double began, due, until;         /* times: of the interval, of its middle, of its end */
} gbees_moving_noise;

/* A step of a frame, from its beginning, in a field. */
typedef struct gbees_moving_way {
    const gbees_moving_frame *frame;
    const gbees_affine *field;
    double time, length;
} gbees_moving_way;

/* Sets to[n][n] to what noise gathers on the way, in y. GBEES_ENUMERIC: it is not finite, or the frame can't go it.
 */
int gbees_moving_noise_find(const gbees_problem *problem, const gbees_moving_way *way, double *to,
                            gbees_error *error);

/* Adds what a step has gathered. Noise is due from the middle of its interval on, and before if it would change the
 * density much. */
int gbees_moving_noise_gather(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_way *way,
                              gbees_error *error);

/* Takes what has been gathered to new cells, whose edges are the columns of edges[n][n] in y. With `spread`, n
 * variances in new cells, that has been applied, and what is left, of either sign, goes to the next time. */
int gbees_moving_noise_apply(gbees_moving_noise *noise, int n, const double *edges, const double *spread,
                             gbees_error *error);

/* Where an interval has ended, or there is none: plans the next one, so that it changes the density little, from
 * `time` to `end` at most. */
int gbees_moving_noise_plan(gbees_moving_noise *noise, const gbees_problem *problem, const gbees_moving_frame *frame,
                            double time, double end, gbees_error *error);

/* GBEES_EUSAGE if the noise is not the same all over the density, whose mean and covariance are in y. */
int gbees_moving_noise_check(const gbees_problem *problem, const gbees_moving_frame *frame,
                             const gbees_statistics *statistics, double time, gbees_error *error);

#endif
