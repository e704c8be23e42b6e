/* reference.h - the part of a grid's record with which filters are compared: moments, marginals, limits of errors.
 */
#ifndef GBEES_RIVALS_REFERENCE_H
#define GBEES_RIVALS_REFERENCE_H

#include "joint.h"

/* A marginal along the line y = along . x + offset, which is counted in cells from the middle of cell 0. */
typedef struct gbees_reference_line {
    double along[GBEES_MAX_DIM], offset;
    int32_t first; /* cell first + i has p[i] */
    size_t length; /* 0: the marginal is not known */
    double *p;
} gbees_reference_line;

typedef struct gbees_reference {
    int dimension, leg, number;
    double time;
    int measured; /* measurements before it */
    gbees_filter_moments moments;
    gbees_rival_error limit; /* of a filter that is enough */
    gbees_rival_error off;   /* what the grid is certainly off by; NAN: not known */
    gbees_reference_line line[GBEES_MAX_DIM];
    gbees_joint *joint; /* NULL: not known */
} gbees_reference;

/* Copies what is needed of a record of the run of `start`.  GBEES_ENOMEM. */
int gbees_reference_set(gbees_reference *reference, const gbees_problem *start, const gbees_record *record,
                        int measured, gbees_error *error);
void gbees_reference_clear(gbees_reference *reference);

/* How far a density is from it; samples: NULL if it is the Gaussian of the moments.  GBEES_ENOMEM. */
int gbees_reference_compare(const gbees_reference *reference, const gbees_filter_moments *moments,
                            const gbees_montecarlo *samples, gbees_rival_error *found, gbees_error *error);

/* The largest of an error's parts over its limit, where bc has none; NAN if one is not known. */
double gbees_reference_ratio(const gbees_reference *reference, const gbees_rival_error *found);

#endif
