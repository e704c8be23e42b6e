/* likelihood.h - the likelihood of a measurement at points in the model's axes, block by block. */
#ifndef GBEES_RECORD_LIKELIHOOD_H
#define GBEES_RECORD_LIKELIHOOD_H

#include "numerics/likelihood.h"
#include <gbees/record.h>

enum { GBEES_LIKELIHOOD_BLOCK = 256 /* points */ };

/* The likelihood of a measurement's residual, of the components that were measured. */
typedef struct gbees_point_likelihood {
    const gbees_problem *problem;
    const gbees_measurement *measurement;
    double time;
    int count, from[GBEES_MAX_DIM];                                       /* components, and which */
    double factor[GBEES_MAX_DIM * GBEES_MAX_DIM];                         /* of their covariance */
    double log_norm;                                                      /* of the likelihood at a perfect match */
    double period[GBEES_MAX_DIM], inverse[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* the latter if there are periods */
    gbees_periods periods;
    int is_summed; /* whether it is a sum over periods: a Gaussian, by the inverse */
} gbees_point_likelihood;

/* Prepares a measurement's likelihood at a time. */
int gbees_point_likelihood_set(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                               gbees_point_likelihood *by, gbees_error *error);

/* The logarithm of the likelihood at up to GBEES_LIKELIHOOD_BLOCK points x[j][i], less by->log_norm. */
void gbees_point_likelihoods(const gbees_point_likelihood *by, size_t count, const double *const *x, double *out);

#endif
