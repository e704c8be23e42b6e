/* flow.h - samples along the model's drift, by steps of Runge and Kutta's classical method. */
#ifndef GBEES_AUDIT_FLOW_H
#define GBEES_AUDIT_FLOW_H

#include "samples.h"

/* The points of a block between two stages, the drift at one stage, and the drifts' weighted sum. */
typedef struct gbees_flow {
    double point[GBEES_MAX_DIM][SAMPLES_BLOCK], drift[GBEES_MAX_DIM][SAMPLES_BLOCK],
        sum[GBEES_MAX_DIM][SAMPLES_BLOCK];
    double second[GBEES_MAX_DIM][SAMPLES_BLOCK];
} gbees_flow;

/* Carries `count` points, at most SAMPLES_BLOCK, from time t by a step of dt.  Few of them may be in a place where
 * the step is too long for them, as near a singularity: what has more doubt than montecarlo->doubt_most takes it
 * again in parts. */
void gbees_flow_step(const gbees_montecarlo *montecarlo, gbees_flow *work, size_t count, double t, double dt,
                     double *const *x);

/* Carries `count` points by steps of dt from the samples' time on, none of them cut.  doubt[i] receives the largest
 * doubt of a step of point i: how far the drifts of the two stages in the middle differ, times the step, in
 * montecarlo->scale along the worst axis. */
void gbees_flow_run(const gbees_montecarlo *montecarlo, size_t count, double dt, size_t steps, double *const *x,
                    double *doubt);

#endif
