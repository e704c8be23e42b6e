/* spacing.h - how dense a lattice is beside how dense it has to be: from the covariance and the Fisher information of
 * the weights over its indices (frame/shape.h). */
#ifndef GBEES_LAGRANGIAN_SPACING_H
#define GBEES_LAGRANGIAN_SPACING_H

#include "flood.h"
#include "frame/shape.h"

/* The lattice beside weights exp(log_weight + beta gain). */
typedef struct gbees_spacing {
    double effective;        /* points: (sum w)^2 / sum w^2 */
    double isolated;         /* the share of points that are heavier than both of those beside them along an axis by
                              * exp(2) or more, and of what is between points (crossings.h) */
    gbees_frame_shape shape; /* the cells that would fit, in units of the present ones */
} gbees_spacing;

/* Sets *spacing; the lattice has been linked, and gbees_light_enter_impossible() called. GBEES_EUNSUPPORTED: the
 * weights are all 0; GBEES_ENUMERIC: the shape is not finite; GBEES_ENOMEM. */
int gbees_spacing_find(const gbees_lattice *lattice, const gbees_lattice_rule *rule, double beta, int threads,
                       gbees_spacing *spacing, gbees_error *error);

#endif
