/* measurement.h - the terms of a measurement's likelihood that are the same for all cells: computed once an update.
 */
#ifndef GBEES_COMMON_MEASUREMENT_H
#define GBEES_COMMON_MEASUREMENT_H

#include "numerics/periods.h"
#include <gbees/error.h>
#include <gbees/problem.h>

/* The terms. A log-likelihood in a cell is relative to that of a cell that predicts the measurement exactly. */
typedef struct measurement_terms {
    /* [size][size]: the inverse covariance of the measured components; 0 in the rows and columns of missing ones */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int measured;          /* components that are not missing */
    gbees_periods periods; /* of a Gaussian likelihood */
    double log_norm; /* the logarithm of the likelihood's largest value; 0 for a likelihood of the model's own */
    double lowest;   /* exp() of a log-likelihood below this is 0 in double; -infinity for one of the model's own */
} measurement_terms;

/* Sets the terms of a measurement at `time`. Returns GBEES_EINPUT if the covariance is not positive definite, or all
 * components are missing. */
int measurement_prepare(const gbees_measurement *measurement, double time, measurement_terms *terms,
                        gbees_error *error);

/* The log-likelihood of a measurement where its function is y[size]; not for a likelihood of the model's own. */
double measurement_exponent(const gbees_measurement *measurement, const measurement_terms *terms, const double *y);

#endif
