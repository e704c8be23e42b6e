/* ensemble.h - common functions of the filters whose density is a set of samples. */
#ifndef GBEES_RIVALS_ENSEMBLE_H
#define GBEES_RIVALS_ENSEMBLE_H

#include "filter.h"

/* The first field of such a filter. */
typedef struct gbees_ensemble {
    gbees_montecarlo *samples;
    gbees_filter_evidence evidence; /* of all measurements */
    uint64_t updates;               /* so far */
} gbees_ensemble;

/* Draws the samples of a filter of `size` bytes, which begins with a gbees_ensemble and is 0 otherwise. */
int gbees_ensemble_create(const gbees_filter_setup *setup, size_t size, void **filter, gbees_error *error);
int gbees_ensemble_advance(void *filter, double time, gbees_error *error);
int gbees_ensemble_jump(void *filter, int number, gbees_error *error);
int gbees_ensemble_moments(void *filter, gbees_filter_moments *moments, gbees_error *error);
gbees_filter_evidence gbees_ensemble_evidence(const void *filter);
const gbees_montecarlo *gbees_ensemble_samples(const void *filter);
void gbees_ensemble_destroy(void *filter);

/* The functions of such a filter, but for create and update: a part of its initializer. */
#define GBEES_ENSEMBLE_FILTER                                                                                        \
    .advance = gbees_ensemble_advance, .jump = gbees_ensemble_jump, .moments = gbees_ensemble_moments,               \
    .evidence = gbees_ensemble_evidence, .samples = gbees_ensemble_samples, .destroy = gbees_ensemble_destroy

#endif
