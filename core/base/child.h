/* child.h - work on what a stranger may have made, in a child process with limits: a crash, an endless loop or an
 * exit() there ends the child alone. The child writes its result to a pipe. */
#ifndef GBEES_BASE_CHILD_H
#define GBEES_BASE_CHILD_H

#include <gbees/error.h>
#include <stddef.h>
#include <sys/types.h>

/* 0: no limit. */
typedef struct gbees_child_limits {
    size_t memory;    /* bytes of address space that the child may add to the caller's */
    unsigned cpu_s;   /* seconds of processor time */
    unsigned quiet_s; /* seconds without a byte of its result */
} gbees_child_limits;

typedef struct gbees_child {
    pid_t process;
    int descriptor; /* where the caller reads */
    gbees_child_limits limits;
    int late; /* it wrote nothing for too long */
} gbees_child;

/* Writes its result to the descriptor. What it prints is dropped. */
typedef void gbees_child_job(int descriptor, void *context);

int gbees_child_start(gbees_child *child, gbees_child_job *job, void *context, const gbees_child_limits *limits,
                      gbees_error *error);
/* Reads exactly so many bytes: 0, or -1 if the child does not write them. */
int gbees_child_read(gbees_child *child, void *data, size_t size);
/* Ends the child, if it has not ended, and waits for it. `why`: what has become of it, as the end of a sentence. */
void gbees_child_end(gbees_child *child, char *why, size_t size);

/* For the job: writes all of it; 0, or -1. */
int gbees_child_write(int descriptor, const void *data, size_t size);

#endif
