/* pool.c - threads that spin for a moment, then sleep, until the next loop begins; see pool.h. */
#include "pool.h"
#include "signal_mask.h"
#include "workers.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often a thread polls for the next loop before it sleeps, in all some ten microseconds: most loops begin that
 * soon after the last one, and waking a thread takes longer. */
enum { POLLS = 500 };

struct gbees_pool {
    pthread_mutex_t lock;       /* guards what follows, except the atomic members */
    pthread_cond_t begun, left; /* signalled when a loop begins, and when the last thread leaves it */
    atomic_uint loops;          /* number of loops that have begun */
    int open;                   /* whether the loop still has items, so that threads may enter it */
    int inside;                 /* threads in the loop, the calling one not among them */
    int closing;                /* whether the threads are to end */
    size_t count;               /* the loop: items, function, and the function's first argument */
    void (*work)(void *context, size_t item);
    void *context;
    atomic_size_t next; /* the item that is taken next */
    int threads;        /* length of thread[]; the calling thread is not in it */
    pthread_t thread[];
};

/* Takes items until none is left. */
static void take_items(gbees_pool *pool)
{
    for (size_t item; (item = atomic_fetch_add(&pool->next, 1)) < pool->count;)
        pool->work(pool->context, item);
}

static void pause_processor(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Waits until pool->loops differs from `seen`, or the pool is closing. Returns with the lock held. */
static void await_loop(gbees_pool *pool, unsigned seen)
{
    for (int k = 0; k < POLLS && atomic_load(&pool->loops) == seen; k++)
        pause_processor();
    (void)pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->loops) == seen && !pool->closing)
        (void)pthread_cond_wait(&pool->begun, &pool->lock);
}

/* A thread of the pool. */
static void *serve(void *context)
{
    gbees_pool *pool = context;

    for (unsigned seen = 0;;) {
        await_loop(pool, seen);
        if (pool->closing)
            break;
        seen = atomic_load(&pool->loops);
        if (pool->open) {
            pool->inside++;
            (void)pthread_mutex_unlock(&pool->lock);
            take_items(pool);
            (void)pthread_mutex_lock(&pool->lock);
            if (--pool->inside == 0)
                (void)pthread_cond_signal(&pool->left);
        }
        (void)pthread_mutex_unlock(&pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts up to `wanted` threads with signals blocked (signal_mask.h). */
static void start(gbees_pool *pool, int wanted)
{
    sigset_t all, before;

    gbees_signal_mask_fill(&all);
    const int masked = !pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->threads < wanted && !pthread_create(&pool->thread[pool->threads], NULL, serve, pool))
        pool->threads++;
    if (masked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

gbees_pool *gbees_pool_open(int threads)
{
    const int others = gbees_workers_threads(threads) - 1;
    gbees_pool *pool = others > 0 ? calloc(1, sizeof *pool + (size_t)others * sizeof *pool->thread) : NULL;

    if (!pool)
        return NULL;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->begun, NULL);
    (void)pthread_cond_init(&pool->left, NULL);
    start(pool, others);
    return pool;
}

void gbees_pool_close(gbees_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = 1;
    (void)pthread_cond_broadcast(&pool->begun);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k < pool->threads; k++)
        (void)pthread_join(pool->thread[k], NULL);
    (void)pthread_cond_destroy(&pool->begun);
    (void)pthread_cond_destroy(&pool->left);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void run_alone(size_t count, void (*work)(void *context, size_t item), void *context)
{
    for (size_t item = 0; item < count; item++)
        work(context, item);
}

void gbees_pool_run(gbees_pool *pool, size_t count, void (*work)(void *context, size_t item), void *context)
{
    if (!pool || count < 2) {
        run_alone(count, work, context);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->count = count;
    pool->work = work;
    pool->context = context;
    atomic_store(&pool->next, 0);
    pool->open = 1;
    atomic_fetch_add(&pool->loops, 1);
    (void)pthread_cond_broadcast(&pool->begun);
    (void)pthread_mutex_unlock(&pool->lock);
    take_items(pool);
    (void)pthread_mutex_lock(&pool->lock);
    pool->open = 0; /* no item is left: a thread that wakes up now must not enter */
    while (pool->inside > 0)
        (void)pthread_cond_wait(&pool->left, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}
