/* offload.h - has a backend integrate samples, which a GPU does faster than this process's threads. */
#ifndef GBEES_AUDIT_OFFLOAD_H
#define GBEES_AUDIT_OFFLOAD_H

#include <gbees/backend.h>

/* Starts with a backend and a problem, which outlive it. */
typedef struct gbees_offload {
    const gbees_backend *backend; /* NULL, or without integrator functions: gbees_offload_try() does nothing */
    const gbees_problem *problem;
    double least_ns; /* nanoseconds of work of all threads, below which it does not pay to move the samples */
    gbees_integrator *integrator; /* NULL: not made yet */
    int failed;                   /* 1: the backend is not tried again */
    int checked;                  /* 1: its first result agreed with that of this process */
} gbees_offload;

/* Has the backend integrate the samples if it is ready, and if this process's threads would take so long
 * (`nanoseconds`) that moving the samples pays.  Returns whether they have been integrated. */
int gbees_offload_try(gbees_offload *offload, const gbees_integration *integration, double nanoseconds);
void gbees_offload_close(gbees_offload *offload);

#endif
