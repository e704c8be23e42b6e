/* observed.h - a measurement prepared for filters with a linear update: the components that were measured, the
 * covariance of their noise, and the gain. */
#ifndef GBEES_RIVALS_OBSERVED_H
#define GBEES_RIVALS_OBSERVED_H

#include <gbees/error.h>
#include <gbees/problem.h>
#include <stddef.h>

typedef struct gbees_observed {
    const gbees_problem *problem;
    const gbees_measurement *measurement;
    int count, from[GBEES_MAX_DIM];                   /* components, and which of the measurement they are */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* of the noise, count x count */
} gbees_observed;

/* Selects the components.  Student's t counts as a Gaussian of the same covariance.  GBEES_EMODEL: a likelihood that
 * has none, or is the model's own. */
int gbees_observed_set(const gbees_problem *problem, const gbees_measurement *measurement, gbees_observed *observed,
                       gbees_error *error);

/* The measured components at points in the model's axes: y[k][i] is component k at point i, x[j][i] its state j.
 * GBEES_ENOMEM. */
int gbees_observed_predict(const gbees_observed *observed, size_t count, const double *const *x, double *const *y,
                           gbees_error *error);

/* a - b of component k, to within half a period if it is periodic. */
double gbees_observed_difference(const gbees_observed *observed, int k, double a, double b);

/* What was measured of component k. */
double gbees_observed_value(const gbees_observed *observed, int k);

/* A linear update: its gain n x count, and the logarithm of the density of the residual. */
typedef struct gbees_gain {
    double gain[GBEES_MAX_DIM * GBEES_MAX_DIM], log_evidence;
} gbees_gain;

/* Finds the gain for the covariance `across` of states and components, n x count, the covariance `inner` of the
 * components with their noise, and the residual.  GBEES_ENUMERIC: `inner` is not positive definite. */
int gbees_observed_gain(const gbees_observed *observed, const double *across, const double *inner,
                        const double *residual, gbees_gain *gain, gbees_error *error);

#endif
