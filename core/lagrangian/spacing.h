/* spacing.h - how dense a lattice is beside how dense it has to be: from the covariance and the Fisher information of
 * the weights over its indices (frame/shape.h). */
#ifndef GBEES_LAGRANGIAN_SPACING_H
#define GBEES_LAGRANGIAN_SPACING_H

#include "flood.h"
#include "frame/shape.h"

/* The neighbours of a lattice's points: of[2 j][i] and of[2 j + 1][i] are the points below and above point i along
 * axis j, or GBEES_NO_POINT. */
typedef struct gbees_neighbours {
    const gbees_lattice *lattice;
    uint32_t *of[2 * GBEES_MAX_DIM];
    double *root;  /* [count]: the square roots of the weights that were asked for last */
    double *share; /* for sums of parts */
    int threads;
} gbees_neighbours;

/* Finds the neighbours of all points; gbees_neighbours_free() frees them, also after a failure. */
int gbees_neighbours_find(const gbees_lattice *lattice, int threads, gbees_neighbours *neighbours,
                          gbees_error *error);
void gbees_neighbours_free(gbees_neighbours *neighbours);

/* The lattice beside weights exp(log_weight + beta gain). */
typedef struct gbees_spacing {
    double effective;  /* points: (sum w)^2 / sum w^2 */
    gbees_shape shape; /* the cells that would fit, in units of the present ones */
} gbees_spacing;

/* Sets *spacing. GBEES_ENUMERIC: the weights are all 0, or the shape is not finite. */
int gbees_spacing_find(gbees_neighbours *neighbours, const gbees_lattice_rule *rule, double beta,
                       gbees_spacing *spacing, gbees_error *error);

#endif
