/* near.h - an order of samples in which those beside each other are near: the leaves of a k-d tree. */
#ifndef GBEES_AUDIT_NEAR_H
#define GBEES_AUDIT_NEAR_H

#include "montecarlo.h"

/* A sample in a list to be ordered. */
typedef struct gbees_near_sample {
    size_t number; /* of the sample among all: the caller sets it */
    double place;  /* along the axis by which it is being ordered */
} gbees_near_sample;

/* Orders list[count]: by the axis along which these samples extend over most cells of the run's grid, and then each
 * half of the list in the same way. Equal lists get equal orders. */
void gbees_near_order(const gbees_montecarlo *montecarlo, size_t count, gbees_near_sample *list);

#endif
