/* pool.h - a pool of threads for many short parallel loops, each of which takes less time than starting a thread.
 * For single long loops see workers.h, which starts threads for each loop. */
#ifndef GBEES_BASE_POOL_H
#define GBEES_BASE_POOL_H

#include <stddef.h>

typedef struct gbees_pool gbees_pool;

/* Creates a pool of up to `threads` threads (0: as many as this process may use), the calling thread among them. NULL
 * is a valid pool of the calling thread alone; it is returned if no other thread is wanted or there is not enough
 * memory. */
gbees_pool *gbees_pool_open(int threads);
/* Joins the threads and frees the pool; NULL is allowed. */
void gbees_pool_close(gbees_pool *pool);

/* Calls work(context, item) once for each item 0 ... count - 1, and returns when all calls have returned. Threads
 * take items in any order, so results must not depend on it. It does not wait for threads that wake up after the last
 * item was taken. One thread at a time may call it. */
void gbees_pool_run(gbees_pool *pool, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
