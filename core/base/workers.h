/* workers.h - a loop over independent items on several threads. */
#ifndef GBEES_BASE_WORKERS_H
#define GBEES_BASE_WORKERS_H

#include <stddef.h>

/* Parts of the samples whose sums are formed each by one thread and added in their order: always as many, so that
 * results do not depend on the number of threads. */
enum { GBEES_WORKERS_PARTS = 16 };

/* The first of `count` samples that part number k has; that of part GBEES_WORKERS_PARTS is `count`. */
static inline size_t gbees_workers_first(size_t count, size_t k)
{
    return count / GBEES_WORKERS_PARTS * k + count % GBEES_WORKERS_PARTS * k / GBEES_WORKERS_PARTS;
}

/* How many threads `wanted` (0: as many as this process may use) stands for. */
int gbees_workers_threads(int wanted);

/* As many threads of those as work of so many nanoseconds is worth: starting one takes as long as some of the work.
 */
int gbees_workers_worth(int wanted, double nanoseconds);

/* The threads for work beside a loop that uses `used` of them: those that it leaves free, or, when it has ended, as
 * many as it used. At least one. */
int gbees_workers_beside(int used, int has_ended);

/* Calls work(context, item) once for each item 0 ... count - 1, on up to `threads` threads, this one included.  Items
 * may be taken in any order: what they compute must not depend on it.  Without a second thread it is a plain loop. */
void gbees_workers_run(int threads, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
