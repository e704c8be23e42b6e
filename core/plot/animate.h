/* animate.h - the records of a folder as frames of a film. */
#ifndef GBEES_PLOT_ANIMATE_H
#define GBEES_PLOT_ANIMATE_H

#include "draw.h"

/* Writes a picture of each record, or of 200 of them, to OUT/frame001.png ...: isosurfaces, the joint density of two
 * states, or of other dimensions the densities of each state. All have the same axes, unless the scale is
 * GBEES_SCALE_PANEL. */
int gbees_animate(const char *folder, const gbees_choice *choice, const gbees_draw_options *options, const char *out,
                  gbees_error *error);

#endif
