/* moments_private.h - the time series in memory, as moments.c and moments_state.c share them. */
#ifndef GBEES_RESULTS_RUN_MOMENTS_PRIVATE_H
#define GBEES_RESULTS_RUN_MOMENTS_PRIVATE_H

#include "moments.h"
#include <stdint.h>

/* The series of single numbers, of integers, and those of updates. */
enum { TIME, ENTROPY, MASS, CLIPPED, OUTFLOW, PRUNED, NORMALISED, WALL, REALS };
enum { LEG, RECORD, STEP, CELLS, ABOVE, INTEGERS };
enum { UPDATE_TIME, EVIDENCE, LIKELIHOOD, SAMPLED, SAMPLED_ERROR, UPDATE_REALS };

/* The series of certificates: values and bounds along each axis, [n][2] a record; the density's, [2]; single numbers.
 */
enum { ERROR_MEAN, ERROR_STD, ERROR_MARGINAL, ERROR_KOLMOGOROV, ERRORS };
enum { DENSITY, SAMPLES, EFFECTIVE, CERTIFICATE };

/* The series of targets: [targets] a record. */
enum { PROBABILITY, BOUND, RATE, TARGETS };

/* The series of scores beside a truth: [n] a record, but single numbers from RMSE on. */
enum { STATE, RANK, RMSE, NEES, SCORES };

struct gbees_moments {
    const gbees_problem *problem;
    int dimension;
    size_t count, capacity;
    double *reals[REALS];
    int64_t *integers[INTEGERS];
    double *mean, *covariance;
    int certified; /* whether a record had a certificate */
    double *errors[ERRORS];
    double *certificate[CERTIFICATE];
    double *targets[TARGETS];
    int scored; /* whether a record had a score */
    double *scores[SCORES];
    struct gbees_moments *smoothed; /* of the records given all measurements; NULL: there are none */
    struct gbees_moments *steps;    /* of the steps, without what records alone have; NULL: there are none */
    size_t update_count, update_capacity;
    double *update_reals[UPDATE_REALS];
    int64_t *update_number;
};

#endif
