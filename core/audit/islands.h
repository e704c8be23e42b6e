/* islands.h - samples that are resampled: in 64 islands, none of which ever depends on another.
 *
 * A sample belongs to the island that its number says, as many numbers to each.  An island with little effective
 * weight is replaced by as many samples as it has numbers, drawn from it by systematic resampling (Kitagawa, J.
 * Comput. Graph. Stat. 5 (1996) 1), each with the same part of the island's weight.  So the sum of an island's
 * weights remains an unbiased estimate of the evidence, and islands are combined by it (Verge, Dubarry, Del Moral,
 * Moulines, Stat. Comput. 25 (2015) 243).  Standard errors are those of a ratio of sums over independent islands
 * (Cochran, Sampling Techniques, 1977, section 6.4).
 */
#ifndef GBEES_AUDIT_ISLANDS_H
#define GBEES_AUDIT_ISLANDS_H

#include "montecarlo.h"

enum { GBEES_ISLANDS_LEAST = 16 /* as many must have weight, else their differences say nothing */ };

/* The first sample of island k; that of island GBEES_ISLANDS is the number of samples. */
size_t gbees_islands_first(const gbees_montecarlo *montecarlo, size_t k);

/* The island of a sample with this number. */
size_t gbees_islands_of(const gbees_montecarlo *montecarlo, size_t number);

/* The sums of weights of the islands before and after an update. */
typedef struct gbees_island_weights {
    double before[GBEES_ISLANDS], after[GBEES_ISLANDS];
} gbees_island_weights;

/* How many islands of equal weight would have the standard errors of these: (sum w)^2 / sum w^2. */
double gbees_islands_effective(const double *weight);

/* Fills the standard errors of an update's evidence, and of all so far; the evidence itself is set. */
void gbees_islands_estimate(const gbees_island_weights *weights, gbees_sample_evidence *evidence);
/* Sets total_error where targets take weight between updates, so that weights before an update are not those after
 * the one before: influence[GBEES_ISLANDS], 0 at first, adds up how each island changes the logarithms. */
void gbees_islands_influence(const gbees_island_weights *weights, double *influence, gbees_sample_evidence *evidence);

#endif
