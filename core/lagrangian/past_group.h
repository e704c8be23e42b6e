/* past_group.h - points of a lattice that are evaluated together (past.c). */
#ifndef GBEES_LAGRANGIAN_PAST_GROUP_H
#define GBEES_LAGRANGIAN_PAST_GROUP_H

#include "past.h"

/* Points of a lattice that are evaluated together. */
typedef struct gbees_group {
    const gbees_past *past;
    gbees_lattice *lattice;
    uint32_t first, count;
    int alone; /* 1: the calling thread is one of several with groups of their own */
} gbees_group;

/* Sets out[] of the group's points: the initial density's logarithm, or a measurement's log-likelihood at a time. */
int gbees_group_weigh(const gbees_group *points, const gbees_source *source, const gbees_measurement *measurement,
                      double time, double *out, gbees_error *error);

#endif
