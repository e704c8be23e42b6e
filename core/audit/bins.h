/* bins.h - a joint density of the grid beside that of weighted samples, on bins of whole cells. */
#ifndef GBEES_AUDIT_BINS_H
#define GBEES_AUDIT_BINS_H

#include <gbees/gbees.h>

enum { GBEES_BINS_GROUPS = 8 /* of samples: their spread gives the standard error */ };

typedef struct gbees_bins gbees_bins;

/* Bins of `size[j]` cells along axis j, the middle of cell 0 in the middle of one, or near it.  NULL without memory.
 */
gbees_bins *gbees_bins_create(int dimension, const int *size);
void gbees_bins_destroy(gbees_bins *bins);

/* Adds the cells of a record.  GBEES_ENOMEM. */
int gbees_bins_add_cells(gbees_bins *bins, const gbees_cells *cells);
/* Adds a sample of a group: its place along each axis, in cells from the middle of cell 0.  GBEES_ENOMEM. */
int gbees_bins_add_sample(gbees_bins *bins, const double *place, double weight, int group);

/* Adds all that is in other bins of the same sizes.  GBEES_ENOMEM. */
int gbees_bins_merge(gbees_bins *bins, const gbees_bins *other);

/* 1 - C, C = sum p q / sqrt(sum p^2 sum q^2) over the bins: 0 for equal densities.  Each sample would add its own
 * weight squared to sum q^2: that is taken away, so that the estimate has no bias from a finite number of samples.
 * `error` is the standard error, from the groups.  Both are NAN where the samples are too few for their bins. */
void gbees_bins_difference(const gbees_bins *bins, double *difference, double *error);

#endif
