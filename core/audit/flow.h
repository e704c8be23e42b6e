/* flow.h - integrates samples along the model's drift by the classical Runge-Kutta method. */
#ifndef GBEES_AUDIT_FLOW_H
#define GBEES_AUDIT_FLOW_H

#include "samples.h"

/* Points that are integrated together: so few that in six dimensions their stages stay in the first cache. */
enum { GBEES_FLOW_POINTS = 128 };

/* Points between two stages, the drifts at the second and at another stage, and the drifts' weighted sum. */
typedef struct gbees_flow {
    double point[GBEES_MAX_DIM][GBEES_FLOW_POINTS], drift[GBEES_MAX_DIM][GBEES_FLOW_POINTS],
        sum[GBEES_MAX_DIM][GBEES_FLOW_POINTS], second[GBEES_MAX_DIM][GBEES_FLOW_POINTS];
} gbees_flow;

/* Integrates `count` points from time t by a step of dt.  The step may be too long for a few
 * of them, as near a singularity: points with more doubt than montecarlo->doubt_most repeat it in parts. */
void gbees_flow_step(const gbees_montecarlo *montecarlo, gbees_flow *work, size_t count, double t, double dt,
                     double *const *x);

/* Integrates `count` points by steps of dt from the samples' time on, none of them cut.  doubt[i] receives the
 * largest doubt of a step of point i (gbees_integration in gbees/backend.h), relative to montecarlo->scale. */
void gbees_flow_run(const gbees_montecarlo *montecarlo, size_t count, double dt, size_t steps, double *const *x,
                    double *doubt);

#endif
