/* workers.h - a loop over independent items on several threads. */
#ifndef GBEES_BASE_WORKERS_H
#define GBEES_BASE_WORKERS_H

#include <stddef.h>

/* How many threads `wanted` (0: as many as this process may use) stands for. */
int gbees_workers_threads(int wanted);

/* Calls work(context, item) once for each item 0 ... count - 1, on up to `threads` threads, this one included.  Items
 * may be taken in any order: what they compute must not depend on it.  Without a second thread it is a plain loop. */
void gbees_workers_run(int threads, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
