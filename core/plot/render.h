/* render.h - draws triangles into an image: parallel projection, light, and transparency that does not depend on the
 * order of the triangles (all fragments of a pixel are kept and sorted). */
#ifndef GBEES_PLOT_RENDER_H
#define GBEES_PLOT_RENDER_H

#include "colormap.h"
#include "isosurface.h"
#include <cairo.h>

/* Maps a point to the image: x to the right and y down in points, z towards the eye. Each axis of the data is first
 * scaled (so that unlike states can share a box). */
typedef struct gbees_camera {
    double right[3], up[3], eye[3]; /* orthonormal, in scaled space */
    double center[3], stretch[3];   /* scaled = stretch * (x - center) */
    double zoom, x, y;              /* points a scaled unit; where the centre is on the page */
} gbees_camera;

/* As MATLAB's view(azimuth, elevation), in degrees. */
void gbees_camera_turn(gbees_camera *camera, double azimuth, double elevation);
void gbees_camera_project(const gbees_camera *camera, const double position[3], double *x, double *y, double *depth);

typedef struct gbees_layer {
    const gbees_mesh *mesh;
    gbees_rgb color;
    double alpha; /* seen face on; more at a slant, as of a thin skin */
} gbees_layer;

/* An image of the rectangle (x, y, width, height) of the page at `scale` pixels a point, transparent where there is
 * nothing; for cairo_surface_destroy(). */
int gbees_render(const gbees_layer *layer, size_t count, const gbees_camera *camera, const double rectangle[4],
                 double scale, cairo_surface_t **image, gbees_error *error);

#endif
