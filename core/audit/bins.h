/* bins.h - a joint density of the grid beside that of weighted samples, on bins of whole cells. */
#ifndef GBEES_AUDIT_BINS_H
#define GBEES_AUDIT_BINS_H

#include "base/workers.h"
#include <gbees/gbees.h>

enum { GBEES_BINS_GROUPS = 8 /* of parts of the samples (workers.h): their spread gives the standard error */ };

typedef struct gbees_bins gbees_bins;

/* Bins of `size[j]` cells along axis j, the middle of cell 0 in the middle of one, or near it.  NULL without memory.
 */
gbees_bins *gbees_bins_create(int dimension, const int *size);
void gbees_bins_destroy(gbees_bins *bins);

/* Different parts may be added to by different threads.  Both return GBEES_OK or GBEES_ENOMEM. */

/* Adds a part of a record's cells. */
int gbees_bins_add_cells(gbees_bins *bins, size_t part, const gbees_cells *cells);
/* Adds samples of a part: place[j][i] is that of sample i along axis j, in cells from the middle of cell 0. */
int gbees_bins_add_samples(gbees_bins *bins, size_t part, size_t count, const double *const *place,
                           const double *weight);

/* Adds up the parts' sums in one of the GBEES_WORKERS_PARTS partitions of the bins.  To be called once for each
 * partition, by any thread.  GBEES_OK or GBEES_ENOMEM. */
int gbees_bins_merge(gbees_bins *bins, size_t partition);

/* 1 - C, C = sum p q / sqrt(sum p^2 sum q^2) over the bins: 0 for equal densities.  Each sample would add its own
 * weight squared to sum q^2: that is taken away, so that the estimate has no bias from a finite number of samples.
 * `error` is the standard error, from the groups.  Both are NAN where the samples are too few for their bins.  All
 * partitions are merged before.  `dependent`: samples of a group may depend on each other, but on no other group:
 * then sum q^2 is taken from pairs of different groups. */
void gbees_bins_difference(const gbees_bins *bins, int dependent, double *difference, double *error);

/* A difference and what it is at most: its value plus two standard errors. The value has no bias and may come out
 * below 0, which the true one never is: then the bound is that of 0, not less. NAN for NAN. */
gbees_difference gbees_bins_bound(double difference, double error);

#endif
