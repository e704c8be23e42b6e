/* workers.c - loops on POSIX threads; see workers.h. They are not OpenMP's: its runtime would be loaded with the
 * library, before a program can set OMP_WAIT_POLICY, which says how long idle threads spin. */
#include "workers.h"
#include "signal_mask.h"
#include "threads_asked.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum {
    THREAD_NS = 100000 /* the least work for a thread, in nanoseconds: some times what starting it takes */
};

/* A loop that is being run. */
typedef struct loop {
    size_t count; /* items */
    void (*work)(void *context, size_t item);
    void *context;
    atomic_size_t next; /* the item that is taken next */
} loop;

int gbees_workers_threads(int wanted)
{
    cpu_set_t set;

    if (wanted <= 0)
        wanted = gbees_threads_asked();
    if (wanted <= 0)
        wanted = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return wanted < 1 ? 1 : wanted > GBEES_THREADS_MOST ? GBEES_THREADS_MOST : wanted;
}

int gbees_workers_worth(int wanted, double nanoseconds)
{
    const int threads = gbees_workers_threads(wanted);
    const double most = 1 + nanoseconds / THREAD_NS;

    return most < threads ? (int)most : threads;
}

int gbees_workers_beside(int used, int has_ended)
{
    const int all = gbees_workers_threads(0), spare = has_ended && used > 0 ? used : all - used;

    return spare > 1 ? spare : 1;
}

/* Takes items until none is left; `context` is the loop. */
static void *take_items(void *context)
{
    loop *l = context;

    for (size_t item; (item = atomic_fetch_add(&l->next, 1)) < l->count;)
        l->work(l->context, item);
    return NULL;
}

void gbees_workers_run(int threads, size_t count, void (*work)(void *context, size_t item), void *context)
{
    loop l = {.count = count, .work = work, .context = context};
    pthread_t thread[GBEES_THREADS_MOST];
    sigset_t all, before;
    int started = 0;

    threads = gbees_workers_threads(threads);
    gbees_signal_mask_fill(&all);
    const int masked = !pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < threads && (size_t)started + 1 < count &&
           !pthread_create(&thread[started], NULL, take_items, &l))
        started++;
    if (masked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)take_items(&l);
    for (int k = 0; k < started; k++)
        (void)pthread_join(thread[k], NULL);
}
