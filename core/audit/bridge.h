/* bridge.h - whether the way of a sample between two places has been in a target that absorbs: walk.h has the law. */
#ifndef GBEES_AUDIT_BRIDGE_H
#define GBEES_AUDIT_BRIDGE_H

#include <gbees/problem.h>
#include <stdint.h>

typedef struct gbees_bridge {
    const gbees_problem *problem;
    double duration;               /* for which noise has been added */
    uint64_t seed, sample, number; /* what random numbers are counted by: `number` is that of the noise */
    int columns;                   /* of F: the number of states, or 0 without noise */
    double factor[GBEES_MAX_DIM][GBEES_MAX_DIM]; /* F: F F^T = Q */
} gbees_bridge;

/* A place in the model's axes, and when it was there. */
typedef struct gbees_bridge_end {
    double x[GBEES_MAX_DIM], time;
} gbees_bridge_end;

/* Draws whether a target has been entered between a, which is in none, and b. Returns the one that was entered first,
 * or -1. If b is in a target, one has been. */
int gbees_bridge_enters(const gbees_bridge *bridge, const gbees_bridge_end *a, const gbees_bridge_end *b);

/* Whether a function that is above 0 at the ends of a way may be below 0 between them, by its values at the ends and
 * in the middle: it bends by more than half of the least. */
int gbees_bridge_doubts(double begin, double middle, double end);

#endif
