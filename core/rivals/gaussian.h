/* gaussian.h - filters whose density is a Gaussian. Between measurements, numbers that represent its moments obey an
 * ordinary differential equation; at each measurement the moments get a linear update.  A filter's rule says which
 * numbers these are, and predicts the measurement. */
#ifndef GBEES_RIVALS_GAUSSIAN_H
#define GBEES_RIVALS_GAUSSIAN_H

#include "filter.h"
#include "observed.h"

enum {
    GBEES_GAUSSIAN_POINTS = 2 * GBEES_MAX_DIM + 1, /* points at which a rule evaluates the model, at most */
    GBEES_GAUSSIAN_NUMBERS = GBEES_MAX_DIM * GBEES_GAUSSIAN_POINTS
};

/* Points in the model's axes, each state a row. */
typedef struct gbees_gaussian_points {
    double x[GBEES_MAX_DIM][GBEES_GAUSSIAN_POINTS];
} gbees_gaussian_points;

/* The predicted measurement: its mean, its covariance with the noise included, and the covariance of states with it.
 */
typedef struct gbees_expected {
    double mean[GBEES_MAX_DIM], inner[GBEES_MAX_DIM * GBEES_MAX_DIM], across[GBEES_MAX_DIM * GBEES_MAX_DIM];
} gbees_expected;

typedef struct gbees_gaussian_rule {
    int (*size)(int n); /* of the numbers, at most GBEES_GAUSSIAN_NUMBERS */
    /* The numbers that stand for moments, and back.  start: GBEES_ENUMERIC if the covariance has no root. */
    int (*start)(int n, const gbees_filter_moments *moments, double *numbers, gbees_error *error);
    void (*moments)(int n, const double *numbers, gbees_filter_moments *moments);
    /* In what each number's error is counted, from the standard deviations of the states. */
    void (*scale)(int n, const double *std, double *scale);
    /* The time derivative of the numbers, noise included. */
    int (*rate)(const gbees_problem *problem, double t, const double *numbers, double *rate, gbees_error *error);
    /* The moments after a jump at time t, without its error. */
    int (*jump)(const gbees_problem *problem, const gbees_instant *instant, double t, gbees_filter_moments *now,
                gbees_error *error);
    int (*expect)(const gbees_observed *observed, const gbees_filter_moments *now, gbees_expected *expected,
                  gbees_error *error);
} gbees_gaussian_rule;

/* The drift at the first `count` points. */
void gbees_gaussian_drift(const gbees_problem *problem, double t, size_t count, const gbees_gaussian_points *at,
                          gbees_gaussian_points *drift);
/* Takes the first `count` points through a jump. */
void gbees_gaussian_leap(const gbees_problem *problem, const gbees_instant *instant, double t, size_t count,
                         gbees_gaussian_points *at);
/* Adds the model's diffusion matrix Q at point i, times `weight`, to a matrix n x n. */
void gbees_gaussian_add_noise(const gbees_problem *problem, double t, const gbees_gaussian_points *at, size_t i,
                              double weight, double *to);

/* A filter of a rule; the other functions are those of gbees_filter. */
int gbees_gaussian_create(const gbees_filter_setup *setup, const gbees_gaussian_rule *rule, void **filter,
                          gbees_error *error);
int gbees_gaussian_advance(void *filter, double time, gbees_error *error);
int gbees_gaussian_jump(void *filter, int number, gbees_error *error);
int gbees_gaussian_update(void *filter, const gbees_measurement *measurement, gbees_error *error);
int gbees_gaussian_moments(void *filter, gbees_filter_moments *moments, gbees_error *error);
gbees_filter_evidence gbees_gaussian_evidence(const void *filter);
const gbees_montecarlo *gbees_gaussian_samples(const void *filter);
void gbees_gaussian_destroy(void *filter);

/* The functions of such a filter, but for create: a part of its initializer. */
#define GBEES_GAUSSIAN_FILTER                                                                                        \
    .advance = gbees_gaussian_advance, .jump = gbees_gaussian_jump, .update = gbees_gaussian_update,                 \
    .moments = gbees_gaussian_moments, .evidence = gbees_gaussian_evidence, .samples = gbees_gaussian_samples,       \
    .destroy = gbees_gaussian_destroy

#endif
