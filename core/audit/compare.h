/* compare.h - compares a record with samples at the same time: the differences and bounds of its certificate. */
#ifndef GBEES_AUDIT_COMPARE_H
#define GBEES_AUDIT_COMPARE_H

#include "montecarlo.h"
#include <gbees/gbees.h>

enum { GBEES_EFFECTIVE_LEAST = 256 /* effective samples, below which their errors say nothing */ };

/* Fills what the samples can tell of the record: moments; marginals, and the density of no more than 4 million cells,
 * if the record has them. With fewer than 256 effective samples only the reason why nothing is certified; as well if
 * resampled samples differ much from a record that has little probability far from the rest, as they would if the
 * record were exact. problem: that of the run's start, whose standard deviations are the bins' widths. What is
 * computed does not depend on the number of threads. moments: of the samples. GBEES_ENOMEM. */
int gbees_samples_compare(const gbees_problem *problem, const gbees_montecarlo *samples,
                          const gbees_sample_moments *moments, const gbees_record *record,
                          gbees_certificate *certificate, gbees_error *error);

#endif
