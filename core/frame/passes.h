/* passes.h - factors an affine map into maps along one axis each (doc/moving.md). */
#ifndef GBEES_FRAME_PASSES_H
#define GBEES_FRAME_PASSES_H

#include "affine.h"

/* Replaces coordinate `axis`, z, by scale z + shear . (the other coordinates) + shift; shear[axis] is 0. */
typedef struct gbees_pass {
    int axis;
    double scale, shift, shear[GBEES_MAX_DIM];
} gbees_pass;

/* The map y' = M y + b between the cells of two frames with M = L U of full pivoting. Coordinates are numbered anew:
 * number p is axis from[p] of y at first, and axis to[p] of y' at last. Passes that would change nothing are left
 * out.
 */
typedef struct gbees_passes {
    int n, count;
    int from[GBEES_MAX_DIM], to[GBEES_MAX_DIM];
    gbees_pass pass[2 * GBEES_MAX_DIM];
} gbees_passes;

/* Sets the passes to those from one frame to another: M = A_to^-1 A_from, b = A_to^-1 (m_from - m_to). Entries are
 * rounded to integers that they differ from by rounding, so that cells that stay do so exactly. GBEES_ENUMERIC: one
 * of the frames is singular or not finite. */
int gbees_passes_find(const gbees_moving_frame *from, const gbees_moving_frame *to, gbees_passes *passes,
                      gbees_error *error);

#endif
