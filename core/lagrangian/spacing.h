/* spacing.h - how dense a lattice is beside how dense it has to be: from the covariance and the Fisher information of
 * the weights over its indices (frame/shape.h); along its axes, from sums over half of its points. */
#ifndef GBEES_LAGRANGIAN_SPACING_H
#define GBEES_LAGRANGIAN_SPACING_H

#include "flood.h"
#include "frame/shape.h"

/* The lattice beside weights exp(log_weight + beta gain). */
typedef struct gbees_spacing {
    double effective;  /* points: (sum w)^2 / sum w^2 */
    gbees_shape shape; /* the cells that would fit, in units of the present ones */
} gbees_spacing;

/* Sets *spacing; the lattice has been linked. GBEES_EUNSUPPORTED: the weights are all 0; GBEES_ENUMERIC: the shape is
 * not finite; GBEES_ENOMEM. */
int gbees_spacing_find(const gbees_lattice *lattice, const gbees_lattice_rule *rule, double beta, int threads,
                       gbees_spacing *spacing, gbees_error *error);

/* An error that is wanted of sums over lattices, and what is known of the present one. */
typedef struct gbees_spacing_aim {
    double now;    /* with the present lattice; 0: not known */
    double wanted; /* > 0 */
    double least;  /* how much denser points are along each axis at least */
} gbees_spacing_aim;

/* Sets times[n] to how much denser the lattice's points should be along each axis for an error of weights
 * exp(log_weight
 * + beta gain). It goes by the errors of sums over half of the points, those with an even or an odd index along an
 * axis: in logarithms of masses, means and variances, in deviations. Returns about how large an error of all points
 * they explain. */
double gbees_spacing_times(const gbees_lattice *lattice, double beta, const gbees_spacing_aim *aim, double *times);

#endif
