/* remap.h - transfers a density from the cells of one frame to those of another (doc/moving.md). */
#ifndef GBEES_FRAME_REMAP_H
#define GBEES_FRAME_REMAP_H

#include "plan.h"

/* Replaces a list of cells of one frame, P averages, in lexicographic order, by that of another frame of as many
 * dimensions: conservative but for rounding, no P below 0, in lexicographic order, the same for every number of
 * threads. Adds to *dropped the P of cells that were not kept: those below `least` at the end, and on the way those
 * below a tenth of it. Takes, beside the list, two numbers of 8 bytes a cell and three records of 48 bytes for each
 * span of neighbours, in arrays that may be twice as long. On an error the list stays. GBEES_ENUMERIC: a frame is
 * singular, or indices would not fit; GBEES_ENOMEM. */
int gbees_remap(gbees_initial_cells *cells, const gbees_moving_frame *from, const gbees_moving_frame *to,
                const gbees_remap_options *options, double *dropped, gbees_error *error);

/* The same by a plan, whose sorts are not looked at. */
int gbees_remap_apply(gbees_initial_cells *cells, const gbees_remap_plan *plan, int threads, double *dropped,
                      gbees_error *error);

#endif
