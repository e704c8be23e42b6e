/* team.h - how many threads share a loop. */
#ifndef GBEES_CPU_TEAM_H
#define GBEES_CPU_TEAM_H

#include <stdint.h>

enum { TEAM_CELLS = 1 << 14 };

/* Of `most` threads those that have TEAM_CELLS cells of a sweep each, or as much work: with less they take longer to
 * meet than to work.  A power of two or all of them, as OpenMP's runtime ends and makes threads when their number
 * changes. */
static inline int team_of(uint64_t cells, int most)
{
    int threads = 1;

    while (2 * threads <= most && cells >= 2 * (uint64_t)threads * TEAM_CELLS)
        threads *= 2;
    return cells >= (uint64_t)most * TEAM_CELLS ? most : threads;
}

#endif
