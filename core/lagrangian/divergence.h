/* divergence.h - whether a drift's divergence is the same wherever points go, so that its integral need not be
 * followed along each trajectory. */
#ifndef GBEES_LAGRANGIAN_DIVERGENCE_H
#define GBEES_LAGRANGIAN_DIVERGENCE_H

#include "batch.h"

/* Some points, spread over all of them, by which the way of all is planned. */
typedef struct gbees_probes {
    size_t count;
    double x[GBEES_MAX_DIM][GBEES_BATCH];
    const double *column[GBEES_MAX_DIM];
} gbees_probes;

/* Chooses them from points x[n][count], of those that are finite. */
void gbees_probes_choose(int n, size_t count, double *const *x, gbees_probes *p);

/* Chooses the lengths over which the divergence is a difference: so short that its error of third order is negligible
 * within a scale, but no shorter than what rounding of a point, where it is and a step later, and of its drift allows;
 * of a journey whose `first` is set. */
void gbees_divergence_beside(const gbees_probes *p, gbees_journey *w);

/* Whether the divergence is the same at the probes, at the beginning and where they go, at each time of the way, and
 * how it depends on the time is resolved; then its mean over the way is *rate. Adds to *evaluations. */
int gbees_divergence_is_constant(const gbees_journey *w, const gbees_probes *start, double *rate,
                                 uint64_t *evaluations);

#endif
