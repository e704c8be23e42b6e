/* source.h - the initial density, as parts of which each gets a lattice: the Gaussians of a mixture, or the cells of
 * a record. Places are in the model's axes. */
#ifndef GBEES_LAGRANGIAN_SOURCE_H
#define GBEES_LAGRANGIAN_SOURCE_H

#include "frame/matrix.h"
#include <gbees/error.h>
#include <stddef.h>

/* A part of the initial density. */
typedef struct gbees_source {
    const gbees_problem *problem;
    double mean[GBEES_MAX_DIM];
    double root[GBEES_MATRIX];      /* of its covariance C: C = root root' */
    double inverse[GBEES_MATRIX];   /* of root */
    double log_norm;                /* of the Gaussian's density at its mean, times its weight */
    const struct gbees_source *all; /* [parts]: the list that it is in */
    int parts;
    double along[GBEES_MATRIX]; /* orthogonal columns, in units of root: lattices lie along them (align.h); 0: none */
} gbees_source;

/* Makes the list of parts; the caller frees it. GBEES_EINPUT: a covariance is not positive definite. */
int gbees_source_list(const gbees_problem *problem, gbees_source **list, int *count, gbees_error *error);

/* Sets out[count] to the logarithm of the part's density at x0[j][count]; -INFINITY where it has none. The logarithm
 * of a record's cells is taken to be a quadratic about each cell's centre. */
void gbees_source_log_density(const gbees_source *source, size_t count, double *const *x0, double *out);

/* Sets out[count] to the logarithm of the part's share of the whole density at x0[j][count]: 0 of one that is alone.
 */
void gbees_source_log_share(const gbees_source *source, size_t count, double *const *x0, double *out);

#endif
