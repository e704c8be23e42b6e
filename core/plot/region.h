/* region.h - computes credible regions of highest density, central intervals and the mean of a density. */
#ifndef GBEES_PLOT_REGION_H
#define GBEES_PLOT_REGION_H

#include "density.h"
#include "figure.h"
#include "gather.h"

enum { GBEES_REGIONS = 5, GBEES_REGIONS_LINED = 3 };

/* The probabilities of the regions that figures show, from the outside in. The first GBEES_REGIONS_LINED have a line.
 */
extern const double gbees_region_part[GBEES_REGIONS];

/* level[k]: the fraction of the density's peak above which it has the probability part[k]. 1 if it is 0 everywhere.
 */
void gbees_region_levels(const gbees_density *density, size_t count, const double *part, double *level);

/* Of a density of one state: where the parts below[k], in ascending order, lie below; mean and standard deviation. */
void gbees_density_quantiles(const gbees_density *density, size_t count, const double *below, double *at);
void gbees_density_moments(const gbees_density *density, double *mean, double *std);
/* Of a density of one state: where its figures show it, as far as it has 0.003 of its peak, and the central 99.9 %.
 */
void gbees_density_extent(const gbees_density *density, double *lo, double *hi);

/* Fills the area below a density of one state, in a darker shade for each lined region that is further in. */
void gbees_region_fill(gbees_figure *figure, const gbees_panel *panel, const gbees_density *density, gbees_rgb color);

/* Writes "x = 1.23 +- 0.40" above the panel: mean and standard deviation of the shot's record. */
void gbees_region_title(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                        const gbees_shot *shot, int state, double text_size);

/* Draws the truth of a state at the time of the gallery's shot as a line across the panel, along `axis` 0 (upright)
 * or 1. Nothing if the run has none at that time. */
void gbees_region_truth(gbees_figure *figure, const gbees_panel *panel, const gbees_gallery *gallery,
                        const gbees_shot *shot, int state, int axis);
/* Whether the run has a truth of the state at the time of the shot. */
int gbees_gallery_truth(const gbees_gallery *gallery, const gbees_shot *shot, int state, double *value);

#endif
