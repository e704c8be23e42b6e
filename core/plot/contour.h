/* contour.h - filled contours of a density of two states: its credible regions of highest density (region.h). */
#ifndef GBEES_PLOT_CONTOUR_H
#define GBEES_PLOT_CONTOUR_H

#include "density.h"
#include "figure.h"

/* Into the panel: state 0 of the density to the right, state 1 upwards. */
int gbees_contour_draw(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density,
                       gbees_error *error);
/* Draws the legend: a horizontal bar of blocks with the probabilities below and a title above. */
void gbees_contour_key(gbees_figure *figure, double x, double y, double width, double text_size);

#endif
