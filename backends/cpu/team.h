/* team.h - how many threads share a loop, and its parts. */
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

/* Where part t of so many begins; behind the last one: the end. */
static inline uint32_t team_part(uint32_t count, int t, int parts)
{
    return t < parts ? (uint32_t)((uint64_t)count * (uint64_t)t / (uint64_t)parts) : count;
}

#endif
