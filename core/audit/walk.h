/* walk.h - watches a block of samples for targets that absorb, along their steps.
 *
 * Samples are looked at in the middle of each step's flow, between two of which the noise is added that belongs to
 * the time. Between two of these places, a and b, g is a Brownian bridge with the variance s^2 = |F^T grad g|^2 of a
 * unit of time, Q = F F^T, whatever the drift: it has been below 0 with the probability exp(-2 g(a) g(b) / (s^2 dt))
 * (E. Gobet, Stochastic Process. Appl. 87 (2000) 167). g / s is taken as the distance to the boundary, to second
 * order of it; where two boundaries are likely, or one bends, the bridge is halved, its middle drawn (bridge.h). What
 * is left is of second order in dt, as the steps themselves.
 *
 * Where noise does not act across the boundary, s = 0, the flow of a step is watched: the least g is that of the
 * parabola through its beginning, middle and end; where g bends too much for that, steps are halved.
 */
#ifndef GBEES_AUDIT_WALK_H
#define GBEES_AUDIT_WALK_H

#include "flow.h"

enum { GBEES_WALK_LOST = GBEES_MAX_TARGETS + 1 /* a fate: g is not a number */ };

typedef struct gbees_walk {
    const gbees_montecarlo *montecarlo;
    size_t block, count;
    double *const *x;    /* x[j][i]: state j of sample i; of one that has entered a target, where it was outside */
    unsigned char *fate; /* of each sample: 0, 1 + the target that it has entered, or GBEES_WALK_LOST */
    samples_noise noise; /* that was added last */
    int columns;         /* of F: the number of states, or 0 without noise */
    samples_kicks kicks;
    /* Where they were looked at last, when, and g of each target there. */
    double seen[GBEES_MAX_DIM][SAMPLES_BLOCK], seen_time, g[GBEES_MAX_TARGETS][SAMPLES_BLOCK];
    unsigned char smooth[GBEES_MAX_TARGETS][SAMPLES_BLOCK]; /* 1: noise does not act across the boundary */
    gbees_flow work;
} gbees_walk;

/* Begins at time t. None of the samples is in a target. */
void gbees_walk_begin(gbees_walk *walk, const gbees_montecarlo *montecarlo, size_t block, double t, double *const *x,
                      unsigned char *fate);
/* Adds noise. */
void gbees_walk_kick(gbees_walk *walk, const samples_noise *noise);
/* Takes them along the drift from time t on, with a look in the middle. */
void gbees_walk_flow(gbees_walk *walk, double t, double dt);
/* Looks at them at time t. Both set the fates of those that have entered a target since the last look. */
void gbees_walk_look(gbees_walk *walk, double t);

#endif
