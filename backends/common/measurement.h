/* measurement.h - the terms of a measurement's likelihood that are computed once an update. */
#ifndef GBEES_COMMON_MEASUREMENT_H
#define GBEES_COMMON_MEASUREMENT_H

#include <gbees/error.h>
#include <gbees/problem.h>

typedef struct measurement_terms {
    /* size x size: the inverse covariance of the measured components; 0 in the rows and columns of missing ones. */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int measured;    /* components */
    double log_norm; /* of the likelihood where it is highest; 0 with one of the model's own */
    double lowest;   /* log-likelihoods below this, relative to that, are 0 in double precision */
} measurement_terms;

/* GBEES_EINPUT: the covariance is not positive definite, or nothing was measured. */
int measurement_prepare(const gbees_measurement *measurement, double time, measurement_terms *terms,
                        gbees_error *error);

#endif
