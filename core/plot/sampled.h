/* sampled.h - samples of the model over densities: a histogram of one state, dots of two. */
#ifndef GBEES_PLOT_SAMPLED_H
#define GBEES_PLOT_SAMPLED_H

#include "figure.h"
#include "gather.h"

/* Draws the histogram of a state as a line of steps, each as high as the density that the samples have there. */
void gbees_sampled_histogram(gbees_figure *figure, const gbees_panel *panel, const gbees_shot *shot, int state);
/* Extends a panel's vertical axis so that the histogram fits, to twice its length at most. */
void gbees_sampled_extend_panel(gbees_panel *panel, const gbees_shot *shot, int state);
/* Draws the samples of two states as dots. */
void gbees_sampled_dots(gbees_figure *figure, const gbees_panel *panel, const gbees_shot *shot, int across, int up);

#endif
