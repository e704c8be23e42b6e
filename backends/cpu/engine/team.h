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

/* A thread's part of a loop: what no thread has begun. */
typedef struct team_share {
    _Alignas(128) uint32_t next; /* on lines of its own, with those that are fetched along */
    uint32_t end;
} team_share;

static inline void team_deal(team_share *shares, int threads, uint32_t count)
{
    for (int t = 0; t < threads; t++)
        shares[t] = (team_share){team_part(count, t, threads), team_part(count, t + 1, threads)};
}

/* What thread t does next: of its own part, which lies in its cache since the last loop, then of the others'. At
 * least `count` if nothing is left. */
static inline uint32_t team_take(team_share *shares, int threads, int t)
{
    for (int k = 0; k < threads; k++) {
        team_share *share = &shares[(t + k) % threads];

        if (__atomic_load_n(&share->next, __ATOMIC_RELAXED) >= share->end)
            continue;
        const uint32_t next = __atomic_fetch_add(&share->next, 1, __ATOMIC_RELAXED);
        if (next < share->end)
            return next;
    }
    return UINT32_MAX;
}

#endif
