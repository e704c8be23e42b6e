/* seconds.h - how long things take. */
#ifndef GBEES_BASE_SECONDS_H
#define GBEES_BASE_SECONDS_H

#include <time.h>

/* Seconds since some fixed time; nobody sets this clock. */
static inline double gbees_seconds_now(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that this thread has had a processor for: what others do on the machine counts for nothing. */
static inline double gbees_seconds_worked(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
