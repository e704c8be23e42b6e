/* carriage.h - samples carried by a backend: on a GPU they are carried faster than by this process's threads. */
#ifndef GBEES_AUDIT_CARRIAGE_H
#define GBEES_AUDIT_CARRIAGE_H

#include <gbees/backend.h>

/* Starts with a backend and a problem, which outlive it. */
typedef struct gbees_carriage {
    const gbees_backend *backend; /* NULL, or one that carries no samples: nothing is carried */
    const gbees_problem *problem;
    gbees_carrier *carrier; /* NULL: not made yet */
    int failed;             /* 1: it is not tried again */
} gbees_carriage;

/* Carries the samples if that pays for a backend that takes as long for them as `nanoseconds` of this process's threads
 * say, and if it is ready.  Returns whether they are carried. */
int gbees_carriage_try(gbees_carriage *carriage, const gbees_journey *journey, double nanoseconds);
void gbees_carriage_close(gbees_carriage *carriage);

#endif
