/* pool.h - threads that stay for one loop after another: for loops that are shorter than it takes to start a thread
 * (workers.h starts them for each loop). */
#ifndef GBEES_BASE_POOL_H
#define GBEES_BASE_POOL_H

#include <stddef.h>

typedef struct gbees_pool gbees_pool;

/* Makes a pool of up to `threads` threads (0: as many as this process may use), the calling one included. NULL, which
 * is the calling thread alone, if there would be no other, or if none can be started. */
gbees_pool *gbees_pool_open(int threads);
void gbees_pool_close(gbees_pool *pool);

/* Calls work(context, item) once for each item 0 ... count - 1, and returns when all are done. Items may be taken in
 * any order: what they compute must not depend on it. Threads that wake too late are not waited for. For one calling
 * thread at a time. */
void gbees_pool_run(gbees_pool *pool, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
