/* truth.h - what a run is compared with at one time: samples that are kept from one run to the next, or a table. */
#ifndef GBEES_TEST_TRUTH_H
#define GBEES_TEST_TRUTH_H

#include "audit/montecarlo.h"

/* Samples at `time`, before any measurement.  They are taken from `folder` (NULL: none) if it has them, and else made
 * and left there.  The file's name is a digest of all that they depend on: the model's text, the problem, the
 * options. A file that can't be written costs the next run time, no more. */
int gbees_truth_samples(const gbees_problem *problem, const gbees_montecarlo_options *options, double time,
                        const char *folder, gbees_montecarlo **montecarlo, gbees_error *error);

/* From a table like tests/data/golden/montecarlo.txt: the density that began as the whole Gaussian. */
int gbees_truth_table(const gbees_problem *problem, const char *path, double time, gbees_sample_moments *moments,
                      gbees_error *error);

#endif
