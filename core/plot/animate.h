/* animate.h - the records of a folder as an animation. */
#ifndef GBEES_PLOT_ANIMATE_H
#define GBEES_PLOT_ANIMATE_H

#include "draw.h"

/* Writes a GIF with a picture of each record, or of 200 of them: isosurfaces, the joint density of two states, or of
 * other dimensions the densities of each state. All have the same axes, unless the scale is GBEES_SCALE_PANEL.
 * GBEES_EUSAGE if this program is built without giflib. */
int gbees_animate(const char *folder, const gbees_choice *choice, const gbees_draw_options *options, const char *path,
                  gbees_error *error);

#endif
