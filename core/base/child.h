/* child.h - runs a function in a child process with limits, and reads its result from a pipe. It is for files and
 * plugins that may be damaged or hostile: a crash, an endless loop or an exit() ends the child, not the caller. */
#ifndef GBEES_BASE_CHILD_H
#define GBEES_BASE_CHILD_H

#include <gbees/error.h>
#include <stddef.h>
#include <sys/types.h>

/* A limit of 0 is none. */
typedef struct gbees_child_limits {
    size_t memory;  /* address space that the child may allocate beyond the caller's, in bytes */
    unsigned cpu_s; /* processor time, in seconds */
    double quiet_s; /* longest time in which a read receives no byte, in seconds */
} gbees_child_limits;

typedef struct gbees_child {
    pid_t process;
    int descriptor; /* the caller's end of the pipe */
    gbees_child_limits limits;
    int late;  /* whether limits.quiet_s was exceeded */
    int ended; /* as waitpid() tells it, after gbees_child_end() */
} gbees_child;

/* The function that the child runs. It writes its result to `descriptor`, by gbees_write_all(), and returns. Its
 * standard input, output and error are /dev/null. */
typedef void gbees_child_job(int descriptor, void *context);

/* Forks a child that runs job(descriptor, context) in a copy of the caller's memory, with default signal handlers,
 * and is killed if the caller ends. Sets *child, which gbees_child_end() must be called for. GBEES_EIO or
 * GBEES_ENOMEM. */
int gbees_child_start(gbees_child *child, gbees_child_job *job, void *context, const gbees_child_limits *limits,
                      gbees_error *error);
/* Reads exactly `size` bytes of the result. Returns 0, or -1 if the child ends before, or writes nothing for
 * limits.quiet_s seconds. */
int gbees_child_read(gbees_child *child, void *data, size_t size);
/* Closes the pipe and waits until the child ends; kills it if it was late. Writes how it ended to why[size], for the
 * end of a sentence, such as "it crashed (Segmentation fault)". */
void gbees_child_end(gbees_child *child, char *why, size_t size);

#endif
