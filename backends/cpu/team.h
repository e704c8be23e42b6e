/* team.h - how many threads share a loop, the parts of a loop, and work queues. */
#ifndef GBEES_CPU_TEAM_H
#define GBEES_CPU_TEAM_H

#include <stdint.h>

enum { TEAM_CELLS = 1 << 14 }; /* cells of a sweep that a thread has to get, at least */

/* How many of `most` threads share a loop over so many cells of a sweep, or a loop of as much work: as many as get
 * TEAM_CELLS each, since with fewer cells the barrier takes longer than the work.  The number is a power of two or
 * `most`, so that it seldom changes: OpenMP's runtime ends and makes threads when it does. */
static inline int team_size(uint64_t cells, int most)
{
    int threads = 1;

    while (2 * threads <= most && cells >= 2 * (uint64_t)threads * TEAM_CELLS)
        threads *= 2;
    return cells >= (uint64_t)most * TEAM_CELLS ? most : threads;
}

/* The first item of part t of a loop over `count` items in `parts` parts; t = parts: `count`. */
static inline uint32_t team_part(uint32_t count, int t, int parts)
{
    return t < parts ? (uint32_t)((uint64_t)count * (uint64_t)t / (uint64_t)parts) : count;
}

/* The items next .. end - 1 of a loop, a thread's part, that no thread has taken yet. */
typedef struct work_queue {
    _Alignas(128) uint32_t next; /* a queue has a pair of cache lines of its own, as lines are prefetched in pairs */
    uint32_t end;
} work_queue;

/* Fills the threads' queues, queue[threads], with equal parts of the items 0 .. count - 1. */
static inline void work_queue_fill(work_queue *queue, int threads, uint32_t count)
{
    for (int t = 0; t < threads; t++)
        queue[t] = (work_queue){team_part(count, t, threads), team_part(count, t + 1, threads)};
}

/* Takes an item for thread t: from its own queue, whose bricks are in the thread's cache since the last loop; if that
 * is empty, from another thread's (work stealing). Returns UINT32_MAX if all are empty. */
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
