/* pool.c - see pool.h. */
#include "pool.h"
#include "signal_mask.h"
#include "workers.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often a thread looks for the next loop before it sleeps: some ten microseconds, as the next loop mostly begins
 * within them. */
enum { LOOKS = 500 };

struct gbees_pool {
    pthread_mutex_t lock; /* of all below but the atomic ones */
    pthread_cond_t begun, left;
    atomic_uint loops; /* that have begun */
    int open, inside;  /* whether a loop may be entered, and the threads that are in it */
    int closing;
    size_t count;
    void (*work)(void *context, size_t item);
    void *context;
    atomic_size_t next;
    int threads; /* beside the calling one */
    pthread_t thread[];
};

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

/* Waits for a loop beyond those that a thread has seen, with the lock held at the end. */
static void await_loop(gbees_pool *pool, unsigned seen)
{
    for (int k = 0; k < LOOKS && atomic_load(&pool->loops) == seen; k++)
        pause_processor();
    (void)pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->loops) == seen && !pool->closing)
        (void)pthread_cond_wait(&pool->begun, &pool->lock);
}

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

/* Starts the threads, in which no signal is handled. */
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
    pool->open = 0; /* all items are taken */
    while (pool->inside > 0)
        (void)pthread_cond_wait(&pool->left, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}
