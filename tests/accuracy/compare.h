/* compare.h - how far a record is from the truth, or from another record. What each figure means: doc/measuring.md.
 */
#ifndef GBEES_TEST_COMPARE_H
#define GBEES_TEST_COMPARE_H

#include "audit/montecarlo.h"
#include <gbees/gbees.h>

/* Root mean square over the axes of (mean - true mean) / true std, and of std / true std - 1. */
double gbees_compare_mean(int dimension, const gbees_sample_moments *moments, const gbees_sample_moments *truth);
double gbees_compare_spread(int dimension, const gbees_sample_moments *moments, const gbees_sample_moments *truth);

/* The same probabilities on cells `factor` times as wide along each axis: made of indices k factor .. (k + 1) factor
 * - 1 each, and sorted. To be destroyed. */
int gbees_compare_coarsen(const gbees_snapshot *snapshot, int factor, gbees_snapshot **coarse, gbees_error *error);

/* The density of `snapshot` on the cells of `grid`, which must have the same axes: interpolated linearly between the
 * cells' centres, where an absent cell has 0, at the centres of the grid's cells, whether recorded there or not,
 * times their volume. To be destroyed. */
int gbees_compare_transfer(const gbees_snapshot *snapshot, const gbees_snapshot *grid, gbees_snapshot **moved,
                           gbees_error *error);

/* The weighted share of the samples in each cell of the snapshot's grid that holds any. To be destroyed. */
int gbees_compare_bin(const gbees_snapshot *grid, const gbees_montecarlo *montecarlo, gbees_snapshot **binned,
                      gbees_error *error);
/* Along one of the grid's axes, in cells from the middle of cell 0: where sample i is. */
double gbees_compare_place(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, int axis, size_t i);

/* Bhattacharyya coefficient, sum sqrt(p q): q is the weighted share of the samples in each cell. `covered` (or NULL)
 * takes the share of the samples in all recorded cells. */
int gbees_compare_binned(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, double *coefficient,
                         double *covered, gbees_error *error);

/* The paper's form: q is the Gaussian kernel density estimate from the first `count` samples (full covariance,
 * Scott's factor) at the cells' centres, normalised over them. Takes about 1 ns times cells times samples: of so many
 * cells that these would be more than `work` every second, third ... one is taken, and stands for all. */
int gbees_compare_kernel(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, size_t count,
                         double work, double *coefficient, gbees_error *error);

/* Kolmogorov's distance of each axis' marginal: the largest difference of the cumulative sums at the cells' faces.
 * The axes are the grid's, which may be turned. */
int gbees_compare_marginals(const gbees_snapshot *snapshot, const gbees_montecarlo *montecarlo, double *distance,
                            gbees_error *error);

/* Sum of |p_a - p_b| over the union of the cells, both normalised to 1: 0 to 2; and the Bhattacharyya coefficient,
 * the sum of sqrt(p_a p_b). The grids must be the same. */
int gbees_compare_l1(const gbees_snapshot *a, const gbees_snapshot *b, double *distance, double *coefficient,
                     gbees_error *error);

#endif
