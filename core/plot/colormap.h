/* colormap.h - colours: perceptually uniform maps, and the few fixed colours of the figures. */
#ifndef GBEES_PLOT_COLORMAP_H
#define GBEES_PLOT_COLORMAP_H

typedef struct gbees_rgb {
    double r, g, b;
} gbees_rgb;

/* u in [0, 1], from dark violet to green: for lines on white, so the yellow end of viridis is left out. */
gbees_rgb gbees_colormap_line(double u);
/* u in [0, 1], from white (no density) over blue to nearly black. */
gbees_rgb gbees_colormap_density(double u);

gbees_rgb gbees_rgb_grey(double level);
gbees_rgb gbees_rgb_mix(gbees_rgb a, gbees_rgb b, double u);

#endif
