/* box.h - the box of axes around a scene in three dimensions. */
#ifndef GBEES_PLOT_BOX_H
#define GBEES_PLOT_BOX_H

#include "figure.h"
#include "render.h"

typedef struct gbees_box {
    double lo[3], hi[3];
    const char *name[3], *unit[3];
    double text_size;
} gbees_box;

/* Sets the camera's stretch, centre and zoom so that the box with its labels fills the rectangle (x, y, width,
 * height) of the page. Axes of one unit keep their proportions unless these are extreme. */
void gbees_box_fit(const gbees_box *box, gbees_camera *camera, const double rectangle[4]);
/* Draws the three faces behind the scene, with their grid: before anything else. */
void gbees_box_back(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera);
/* Draws the ticks, labels and the edges in front: after everything else. */
void gbees_box_axes(gbees_figure *figure, const gbees_box *box, const gbees_camera *camera);

#endif
