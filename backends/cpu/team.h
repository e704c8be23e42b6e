/* team.h - how many threads share a loop, and its parts. */
#ifndef GBEES_CPU_TEAM_H
#define GBEES_CPU_TEAM_H

#include <stdint.h>

enum { TEAM_CELLS = 1 << 14 };

/* How many of `most` threads share a loop over so many cells of a sweep, or as much work: those that get TEAM_CELLS
 * each, as with less the barrier takes longer than the work.  A power of two or all of them, as OpenMP's runtime ends
 * and makes threads when their number changes. */
static inline int team_size(uint64_t cells, int most)
{
    int threads = 1;

    while (2 * threads <= most && cells >= 2 * (uint64_t)threads * TEAM_CELLS)
        threads *= 2;
    return cells >= (uint64_t)most * TEAM_CELLS ? most : threads;
}

/* Where part t of so many begins; where the last one ends, for t = parts. */
static inline uint32_t team_part(uint32_t count, int t, int parts)
{
    return t < parts ? (uint32_t)((uint64_t)count * (uint64_t)t / (uint64_t)parts) : count;
}

/* A thread's items of a loop that no thread has taken yet. */
typedef struct work_queue {
    _Alignas(128) uint32_t next; /* a pair of cache lines a queue, as lines are prefetched in pairs */
    uint32_t end;
} work_queue;

/* Gives each thread's queue an equal part of items 0 .. count - 1. */
static inline void work_queue_fill(work_queue *queue, int threads, uint32_t count)
{
    for (int t = 0; t < threads; t++)
        queue[t] = (work_queue){team_part(count, t, threads), team_part(count, t + 1, threads)};
}

/* Takes an item for thread t: from its own queue, as its bricks are in the thread's cache since the last loop; when
 * that is empty, from another one's (work stealing). Returns `count` or more if all are empty. */
static inline uint32_t work_queue_take(work_queue *queue, int threads, int t)
{
    for (int k = 0; k < threads; k++) {
        work_queue *from = &queue[(t + k) % threads];

        if (__atomic_load_n(&from->next, __ATOMIC_RELAXED) >= from->end)
            continue;
        const uint32_t next = __atomic_fetch_add(&from->next, 1, __ATOMIC_RELAXED);
        if (next < from->end)
            return next;
    }
    return UINT32_MAX;
}

#endif
