/* kept.h - keeps each filter's densities, as moments and bins, to be stored and drawn. */
#ifndef GBEES_RIVALS_KEPT_H
#define GBEES_RIVALS_KEPT_H

#include "reference.h"

/* Allocates them, with the names of the filters and the times of the records. */
int gbees_kept_create(const gbees_rivals *rivals, int dimension, size_t count, const gbees_reference *records,
                      gbees_compared **kept, gbees_error *error);
/* Keeps the density of filter k at record i: moments, and of samples their marginals on bins. */
void gbees_kept_set(gbees_compared *kept, int k, size_t i, const gbees_moments *moments,
                    const gbees_montecarlo *samples, const gbees_rival_error *found);
/* Keeps the evidence, time and failure of filter k. */
void gbees_kept_finish(gbees_compared *kept, int k, const gbees_rival_result *result);

#endif
