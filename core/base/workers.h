/* workers.h - a parallel loop over independent items, whose threads live as long as the loop. */
#ifndef GBEES_BASE_WORKERS_H
#define GBEES_BASE_WORKERS_H

#include <stddef.h>

/* A sum over many samples is divided into this many partial sums, each computed by one thread, which are then added
 * in their order. Their number is fixed, so that the result does not depend on the number of threads. */
enum { GBEES_WORKERS_PARTS = 16 };

/* Returns the index of the first of `count` samples in part k; part k ends before the first of part k + 1. For
 * k = GBEES_WORKERS_PARTS it is `count`. */
static inline size_t gbees_workers_first(size_t count, size_t k)
{
    return count / GBEES_WORKERS_PARTS * k + count % GBEES_WORKERS_PARTS * k / GBEES_WORKERS_PARTS;
}

/* Resolves a number of threads: 0 or less stands for OMP_NUM_THREADS, or, where that is not set, as many as this
 * process may use (its affinity mask); more than 256 is 256. */
int gbees_workers_threads(int wanted);

/* The number of threads, at most gbees_workers_threads(wanted), for work that takes one thread so many nanoseconds:
 * each gets at least 0.1 ms of it, as starting a thread takes some ten microseconds. */
int gbees_workers_worth(int wanted, double nanoseconds);

/* The number of threads, at least one, for work in the background of a computation on `used` threads: those that the
 * process has left, or `used` once the computation has ended. */
int gbees_workers_beside(int used, int has_ended);

/* Calls work(context, item) once for each item 0 ... count - 1 on up to `threads` threads, the calling one among
 * them, and returns when all calls have returned. Threads take items in any order, so results must not depend on it.
 * If no thread can be started the calling one does all. */
void gbees_workers_run(int threads, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
