/* motion.h - the exact motion of a frame with an affine field (doc/moving.md). */
#ifndef GBEES_FRAME_MOTION_H
#define GBEES_FRAME_MOTION_H

#include "affine.h"

/* Advances m and A by a time dt in the field: dm/dt = a + B (m - centre), dA/dt = B A. GBEES_ENUMERIC: A is singular,
 * or the new frame or the field is not finite; the frame stays. */
int gbees_motion_step(const gbees_affine *field, double dt, gbees_moving_frame *frame, gbees_error *error);

/* Takes a frame through x -> matrix x + value: its origin, and its edges. */
void gbees_motion_jump(const double *matrix, const double *value, gbees_moving_frame *frame);

/* The last two fits of a frame; `count` of them are set, the later one is fit[1]. */
typedef struct gbees_motion_fits {
    int count;
    double time[2];
    gbees_affine fit[2];
} gbees_motion_fits;

/* Enters a fit that was made for a time. A fit for the same time replaces the last one. */
void gbees_motion_note(gbees_motion_fits *fits, double time, const gbees_affine *fit);

/* Sets the field to the fits' at a time: on the straight line through the last two, at most twice their distance
 * beyond the last one; the only one if there is one, and no motion if there is none. */
void gbees_motion_predict(const gbees_motion_fits *fits, int n, double time, gbees_affine *field);

/* Advances a frame from `time` by half of dt with the predicted field: it is where a step of dt evaluates the drift.
 */
int gbees_motion_middle(const gbees_motion_fits *fits, double time, double dt, gbees_moving_frame *frame,
                        gbees_error *error);

#endif
