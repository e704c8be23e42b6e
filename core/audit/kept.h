/* kept.h - samples as they were at the records of a run, so that they need not be carried again along another run of
 * the same equations. */
#ifndef GBEES_AUDIT_KEPT_H
#define GBEES_AUDIT_KEPT_H

#include "montecarlo.h"

/* Where the samples stood: all arrays of a gbees_montecarlo in one block. */
typedef struct gbees_kept_state {
    int leg, next; /* of the audit */
    double time, step;
    uint64_t steps;
    gbees_sample_evidence evidence;
    double *values;
} gbees_kept_state;

typedef struct gbees_kept {
    size_t count, capacity;
    gbees_kept_state *states;
} gbees_kept;

/* Adds the samples' present state, unless all states together would take more than a GiB or there is no memory. The
 * first is added in any case. Returns whether it was added. */
int gbees_kept_add(gbees_kept *kept, const gbees_montecarlo *samples, int leg, int next);
/* Takes the samples back to state number k. */
void gbees_kept_restore(const gbees_kept *kept, size_t k, gbees_montecarlo *samples, int *leg, int *next);
void gbees_kept_clear(gbees_kept *kept);

#endif
