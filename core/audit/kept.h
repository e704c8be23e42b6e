/* kept.h - stores the samples at each record of a run, so that they need not be integrated again for another run
 * of the same equations. */
#ifndef GBEES_AUDIT_KEPT_H
#define GBEES_AUDIT_KEPT_H

#include "montecarlo.h"

/* The samples at one record, and their moments. The list owns the arrays, which samples share (montecarlo.h). */
typedef struct gbees_kept_state {
    int leg, next; /* of the audit */
    gbees_montecarlo samples;
    gbees_sample_moments moments;
} gbees_kept_state;

typedef struct gbees_kept {
    size_t count, capacity;
    double bytes;
    gbees_kept_state *states;
} gbees_kept;

/* Adds the samples' present state and its moments; the arrays become the list's, unless all states together would
 * take more than a GiB or there is no memory. The first is added in any case. Returns whether it was added. */
int gbees_kept_add(gbees_kept *kept, gbees_montecarlo *samples, const gbees_sample_moments *moments, int leg,
                   int next);
/* Sets the samples and their moments to state number k. */
void gbees_kept_restore(const gbees_kept *kept, size_t k, gbees_montecarlo *samples, gbees_sample_moments *moments,
                        int *leg, int *next);
/* Frees the states and their arrays: the samples that share them are destroyed before. */
void gbees_kept_clear(gbees_kept *kept);

#endif
