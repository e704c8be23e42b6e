/* relative.h - an affine drift expressed along the axes of a frame, relative to the frame's own velocity, as a
 * backend needs it. */
#ifndef GBEES_FRAME_RELATIVE_H
#define GBEES_FRAME_RELATIVE_H

#include "affine.h"

/* Sets centre, axes, inverse, velocity and gradient of a backend's frame: at `frame`, which moves with the field.
 * GBEES_ENUMERIC: the frame is singular, or its cells are so thin that rounding of the states moves a point by more
 * than a thousandth of a cell. */
int gbees_relative_set(const gbees_moving_frame *frame, const gbees_affine *field, gbees_grid_frame *to,
                       gbees_error *error);

/* Converts a backend's sums, with the drift relative to its frame and along the frame's axes, to sums with the drift
 * itself, in the units of x. */
void gbees_relative_to_drift(int n, const gbees_grid_frame *frame, gbees_affine_sums *sums);

/* The norm of dB/dt in y, A^-1 (dB/dt) A: how fast the gradient of the field changes, for a frame with these axes. */
double gbees_relative_change(const gbees_grid_frame *frame, int n, const gbees_affine *before, double time_before,
                             const gbees_affine *after, double time_after);

#endif
