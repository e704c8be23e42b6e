/* densities.h - keeps the densities of a filter at all records, as moments and bins. */
#ifndef GBEES_RIVALS_DENSITIES_H
#define GBEES_RIVALS_DENSITIES_H

#include "reference.h"

/* Allocates those of n states at `count` records, all NAN. GBEES_ENOMEM. */
int gbees_rival_densities_create(size_t n, size_t count, int has_samples, gbees_rival_densities *kept,
                                 gbees_error *error);
/* Keeps the density at record i: moments, and of samples their marginals on bins. */
void gbees_rival_densities_set(gbees_rival_densities *kept, size_t i, const gbees_filter_moments *moments,
                               const gbees_montecarlo *samples, size_t n);
/* Frees them. */
void gbees_rival_densities_clear(gbees_rival_densities *kept);

#endif
