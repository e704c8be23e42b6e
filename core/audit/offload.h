/* offload.h - samples carried by a backend: on a GPU they are carried faster than by this process's threads. */
#ifndef GBEES_AUDIT_OFFLOAD_H
#define GBEES_AUDIT_OFFLOAD_H

#include <gbees/backend.h>

/* Starts with a backend and a problem, which outlive it. */
typedef struct gbees_offload {
    const gbees_backend *backend; /* NULL, or one that carries no samples: nothing is carried */
    const gbees_problem *problem;
    gbees_integrator *integrator; /* NULL: not made yet */
    int failed;                   /* 1: it is not tried again */
    int checked;                  /* 1: what it did first was right */
} gbees_offload;

/* Carries the samples if that pays for a backend that takes as long for them as `nanoseconds` of this process's threads
 * say, and if it is ready.  Returns whether they are carried. */
int gbees_offload_try(gbees_offload *offload, const gbees_integration *integration, double nanoseconds);
void gbees_offload_close(gbees_offload *offload);

#endif
