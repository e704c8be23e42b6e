/* joint.h - a record's joint density on bins of whole cells, as a filter's is compared with it. */
#ifndef GBEES_RIVALS_JOINT_H
#define GBEES_RIVALS_JOINT_H

#include "filter.h"

typedef struct gbees_joint gbees_joint;

/* Makes bins along the axes of the record's grid, each as wide as the deviation of the density that the run of
 * `start` begins with, in whole cells, with the sums of the record's cells.  NULL, which is no error: the record has
 * no cells, or more than GBEES_COMPARED_CELLS.  GBEES_ENOMEM. */
int gbees_joint_create(const gbees_problem *start, const gbees_record *record, gbees_joint **joint,
                       gbees_error *error);
void gbees_joint_destroy(gbees_joint *joint);

/* The Bhattacharyya coefficient, sum sqrt(p q) over the bins: 1 for equal densities, 0 for densities apart.  Both are
 * normalised to 1.
 *
 * Sampling error makes sqrt(q) of a bin too small on average, to first order by v / (8 q^2) of it, v the sum of
 * squared weights: this is added.  Bins without a sample count as 0, so that the coefficient is too small if samples
 * are few for the bins. */
double gbees_joint_samples(gbees_joint *joint, const gbees_montecarlo *samples);
/* The Bhattacharyya coefficient with a Gaussian, by GBEES_JOINT_SAMPLES samples of it.  NAN: its covariance is not
 * positive definite. */
double gbees_joint_gaussian(gbees_joint *joint, const gbees_filter_moments *moments);
enum { GBEES_JOINT_SAMPLES = 20000 /* sums of sqrt(p q) have a standard error of 0.0035 at most */ };

#endif
