/* image.h - the image of a lattice under the flow, in the coordinates of a grid at rest: places, masses, neighbours
 * and derivatives along the lattice's axes.
 */
#ifndef GBEES_LAGRANGIAN_IMAGE_H
#define GBEES_LAGRANGIAN_IMAGE_H

#include "lattice.h"

/* The points with a finite place and a weight above 0, "points" below, and behind them those that were added where a
 * point has no neighbour along an axis, which hold values to interpolate with, but no mass. The values of a point are
 * its place in cells, [n] and the logarithm of its mass as a fraction of the lattice's. */
typedef struct gbees_image {
    int n, values;        /* values of a point: n + 1 */
    uint32_t count, all;  /* points; with those that were added */
    double *value;        /* [all][values] */
    uint32_t *near;       /* [all][n][2]: the lower and the upper neighbour along each axis, or GBEES_NO_POINT */
    unsigned char *reach; /* [count]: so many points to each side are enough to interpolate with, 1 to 3 */
    double *slope;        /* [count][n][values]: derivatives by the lattice's coordinates */
    double fisher[GBEES_MAX_DIM]; /* mean square of the derivative of the log weight along each axis */
    double typical;               /* mean log mass of a point */
    double mass;                  /* logarithm of the sum of the points' weights */
    double left_out;              /* the weights of other points, as a fraction of those of all */
    double misplaced;             /* mean error of places that are interpolated halfway between points, in cells */
} gbees_image;

/* Makes the image in cells of the problem's grid. */
int gbees_image_create(const gbees_problem *problem, gbees_lattice *lattice, int threads, gbees_image **image,
                       gbees_error *error);
void gbees_image_destroy(gbees_image *image);

static inline uint32_t gbees_image_near(const gbees_image *image, uint32_t point, int axis, int upper)
{
    return image->near[((size_t)point * (size_t)image->n + (size_t)axis) * 2 + (size_t)upper];
}

/* The derivatives of a point's values along an axis. */
static inline const double *gbees_image_slope(const gbees_image *image, uint32_t point, int axis)
{
    return image->slope + ((size_t)point * (size_t)image->n + (size_t)axis) * (size_t)image->values;
}

/* The images of several lattices. */
typedef struct gbees_images {
    int count;
    gbees_image **image;
    double *fraction;           /* of the mass of all that each has */
    double left_out, misplaced; /* of all */
} gbees_images;

/* Makes the images of lattices whose masses are exp(log_factor[l]) times the sum of exp(log_weight); log_factor NULL:
 * their log_volume. gbees_images_destroy() is called also after an error. GBEES_ENUMERIC: no
 * lattice has a point. */
int gbees_images_create(gbees_images *images, const gbees_problem *problem, int count, gbees_lattice *const *lattice,
                        const double *log_factor, int threads, gbees_error *error);
void gbees_images_destroy(gbees_images *images);

#endif
