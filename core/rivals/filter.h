/* filter.h - what each filter of this folder provides: a density that is advanced to a time, updated by a
 * measurement, and compared with the grid's. */
#ifndef GBEES_RIVALS_FILTER_H
#define GBEES_RIVALS_FILTER_H

#include "audit/montecarlo.h"
#include <gbees/rivals.h>

/* Mean and covariance, n x n packed, in the model's axes. */
typedef struct gbees_filter_moments {
    double mean[GBEES_MAX_DIM], covariance[GBEES_MAX_DIM * GBEES_MAX_DIM];
} gbees_filter_moments;

/* What a filter begins with. */
typedef struct gbees_filter_setup {
    const gbees_problem *problem; /* outlives the filter */
    gbees_filter_moments start;   /* of the initial density */
    size_t samples;               /* of filters that have some */
    uint64_t seed;
    int threads; /* 0: OMP_NUM_THREADS, or as many as the machine has; results do not depend on it */
} gbees_filter_setup;

/* A logarithm of evidence; error: its standard error, NAN where it is not known. */
typedef struct gbees_filter_evidence {
    double value, error;
} gbees_filter_evidence;

/* A kind of filter: its functions, whose first argument is what create() has made. */
typedef struct gbees_filter {
    int (*create)(const gbees_filter_setup *setup, void **filter, gbees_error *error);
    /* Advances the density to a time, which is not before its own. */
    int (*advance)(void *filter, double time, gbees_error *error);
    /* Applies the jump of instant `number` of the problem, counted from 0, at the filter's time. */
    int (*jump)(void *filter, int number, gbees_error *error);
    /* Applies a measurement at the filter's time, by Bayes' rule or the filter's approximation of it. */
    int (*update)(void *filter, const gbees_measurement *measurement, gbees_error *error);
    int (*moments)(void *filter, gbees_filter_moments *moments, gbees_error *error);
    /* Of all measurements so far. */
    gbees_filter_evidence (*evidence)(const void *filter);
    /* NULL: the density is the Gaussian of the moments. */
    const gbees_montecarlo *(*samples)(const void *filter);
    void (*destroy)(void *filter); /* takes NULL */
} gbees_filter;

extern const gbees_filter gbees_filter_mc;   /* mc.c */
extern const gbees_filter gbees_filter_ekf;  /* ekf.c */
extern const gbees_filter gbees_filter_ukf;  /* ukf.c */
extern const gbees_filter gbees_filter_enkf; /* enkf.c */
extern const gbees_filter gbees_filter_pf;   /* pf.c */

#endif
