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

#endif
