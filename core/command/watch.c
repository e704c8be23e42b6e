/* watch.c - calls that do not return: the notes of the threads, and the thread that looks at them; see watch.h. */
#include "watch.h"
#include "base/signal_mask.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 1024, LOOKS = 20 /* while a call lasts as long as it may, at least */ };
static const double seldom_s = 5; /* from one look to the next, at most */

_Thread_local gbees_watch_place *gbees_watch_own;

static gbees_watch_place places[PLACES];
static gbees_watch_place nowhere; /* of threads that find no place: nobody looks here */

/* The thread that looks. */
static struct {
    int on;
    pthread_key_t key; /* returns the place of a thread that ends */
    double period_s;
    int looks_most;
    char text[512]; /* the sentence */
} watch;

/* ---- notes ---- */

/* A thread ends outside of all calls. */
static void return_place(void *of)
{
    gbees_watch_place *place = of;

    atomic_store(&place->taken, 0);
}

gbees_watch_place *gbees_watch_take_place(void)
{
    gbees_watch_own = &nowhere;
    for (int k = 0; watch.on && k < PLACES; k++) {
        int expected = 0;

        if (!atomic_load_explicit(&places[k].taken, memory_order_relaxed) &&
            atomic_compare_exchange_strong(&places[k].taken, &expected, 1)) {
            gbees_watch_own = pthread_setspecific(watch.key, &places[k]) ? &nowhere : &places[k];
            break;
        }
    }
    return gbees_watch_own;
}

int gbees_watch_look(void)
{
    int most = 0;

    for (int k = 0; k < PLACES; k++) {
        gbees_watch_place *p = &places[k];
        const unsigned calls = atomic_load_explicit(&p->calls, memory_order_relaxed);

        p->looks = calls % 2 && calls == p->seen ? p->looks + 1 : 0;
        p->seen = calls;
        most = p->looks > most ? p->looks : most;
    }
    return most;
}

/* ---- the thread ---- */

/* Ends the program as kill -9 would, which leaves whole records: other threads may hold any lock. */
static _Noreturn void give_up(void)
{
    if (write(STDERR_FILENO, watch.text, strlen(watch.text)) < 0)
        _exit(EXIT_FAILURE); /* there is no other place to say it */
    _exit(EXIT_FAILURE);
}

static void *look_again_and_again(void *unused)
{
    const struct timespec period = {.tv_sec = (time_t)watch.period_s,
                                    .tv_nsec = (long)(1e9 * (watch.period_s - floor(watch.period_s)))};

    (void)unused;
    while (!clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL))
        if (gbees_watch_look() >= watch.looks_most)
            give_up();
    return NULL;
}

/* All signals are for the other threads. */
static int make_thread(void)
{
    sigset_t all, before;
    pthread_t thread;

    gbees_signal_mask_fill(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const int made = !pthread_create(&thread, NULL, look_again_and_again, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        (void)pthread_detach(thread);
    return made;
}

void gbees_watch_start(const char *model, double seconds)
{
    if (watch.on || !(seconds > 0) || pthread_key_create(&watch.key, return_place))
        return;
    watch.period_s = fmin(seconds / LOOKS, seldom_s);
    watch.looks_most = (int)fmin(ceil(seconds / watch.period_s), 1e9);
    (void)snprintf(watch.text, sizeof watch.text,
                   "gbees-run: a call of the equations of the model '%.100s' has not returned for %g s: look for a "
                   "loop that does not end, in its drift first, or give calls more time with --patience; the records "
                   "that were written are whole\n",
                   model, seconds);
    watch.on = make_thread();
    if (!watch.on)
        (void)pthread_key_delete(watch.key);
}

int gbees_watch_is_on(void)
{
    return watch.on;
}
