/* isosurface.h - the surface on which a density of three states has one value, as triangles. */
#ifndef GBEES_PLOT_ISOSURFACE_H
#define GBEES_PLOT_ISOSURFACE_H

#include "density.h"

typedef struct gbees_corner {
    float position[3];
    float normal[3]; /* unit length, towards smaller density */
} gbees_corner;

/* Starts as {0}. */
typedef struct gbees_mesh {
    gbees_corner *corner; /* three a triangle */
    size_t count;         /* corners */
    size_t capacity;
} gbees_mesh;

/* Adds the surface density = level: linear on the tetrahedra of the grid of cell centres, normals from the
 * gradient. Triangles are oriented: their corners run counter-clockwise seen from the side of smaller density. */
int gbees_mesh_add_isosurface(gbees_mesh *mesh, const gbees_density *density, double level, gbees_error *error);
void gbees_mesh_free(gbees_mesh *mesh);

#endif
