/* plan.h - which passes take cells from one frame to another, and which sorts come before each (gbees/remap.h). */
#ifndef GBEES_FRAME_PLAN_H
#define GBEES_FRAME_PLAN_H

#include "affine.h"
#include <gbees/remap.h>

/* What a remap does beside its map. */
typedef struct gbees_remap_options {
    double least;         /* cells with P below it are not kept, >= 0 */
    int threads;          /* 0: as many as there are processors */
    const double *spread; /* NULL, or variances that diffusion adds along the axes of the new frame, in its cells */
    int convolves;        /* 1: convolutions with Gaussians add them, for densities that may be far narrower */
} gbees_remap_options;

/* Finds the plan. GBEES_ENUMERIC: a frame is singular or not finite. */
int gbees_remap_plan_find(const gbees_moving_frame *from, const gbees_moving_frame *to,
                          const gbees_remap_options *options, gbees_remap_plan *plan, gbees_error *error);

#endif
