/* team.c - see team.h. */
#include "team.h"
#include "signal_mask.h"
#include "workers.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often a thread looks for the next loop before it sleeps: some ten microseconds, as the next loop mostly begins
 * within them. */
enum { LOOKS = 500 };

struct gbees_team {
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

static void take_items(gbees_team *team)
{
    for (size_t item; (item = atomic_fetch_add(&team->next, 1)) < team->count;)
        team->work(team->context, item);
}

static void pause_processor(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Waits for a loop beyond those that a thread has seen, with the lock held at the end. */
static void await_loop(gbees_team *team, unsigned seen)
{
    for (int k = 0; k < LOOKS && atomic_load(&team->loops) == seen; k++)
        pause_processor();
    (void)pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->loops) == seen && !team->closing)
        (void)pthread_cond_wait(&team->begun, &team->lock);
}

static void *serve(void *context)
{
    gbees_team *team = context;

    for (unsigned seen = 0;;) {
        await_loop(team, seen);
        if (team->closing)
            break;
        seen = atomic_load(&team->loops);
        if (team->open) {
            team->inside++;
            (void)pthread_mutex_unlock(&team->lock);
            take_items(team);
            (void)pthread_mutex_lock(&team->lock);
            if (--team->inside == 0)
                (void)pthread_cond_signal(&team->left);
        }
        (void)pthread_mutex_unlock(&team->lock);
    }
    (void)pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Starts the threads, in which no signal is handled. */
static void start(gbees_team *team, int wanted)
{
    sigset_t all, before;

    gbees_signal_mask_fill(&all);
    const int masked = !pthread_sigmask(SIG_SETMASK, &all, &before);
    while (team->threads < wanted && !pthread_create(&team->thread[team->threads], NULL, serve, team))
        team->threads++;
    if (masked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

gbees_team *gbees_team_open(int threads)
{
    const int others = gbees_workers_threads(threads) - 1;
    gbees_team *team = others > 0 ? calloc(1, sizeof *team + (size_t)others * sizeof *team->thread) : NULL;

    if (!team)
        return NULL;
    (void)pthread_mutex_init(&team->lock, NULL);
    (void)pthread_cond_init(&team->begun, NULL);
    (void)pthread_cond_init(&team->left, NULL);
    start(team, others);
    return team;
}

void gbees_team_close(gbees_team *team)
{
    if (!team)
        return;
    (void)pthread_mutex_lock(&team->lock);
    team->closing = 1;
    (void)pthread_cond_broadcast(&team->begun);
    (void)pthread_mutex_unlock(&team->lock);
    for (int k = 0; k < team->threads; k++)
        (void)pthread_join(team->thread[k], NULL);
    (void)pthread_cond_destroy(&team->begun);
    (void)pthread_cond_destroy(&team->left);
    (void)pthread_mutex_destroy(&team->lock);
    free(team);
}

static void run_alone(size_t count, void (*work)(void *context, size_t item), void *context)
{
    for (size_t item = 0; item < count; item++)
        work(context, item);
}

void gbees_team_run(gbees_team *team, size_t count, void (*work)(void *context, size_t item), void *context)
{
    if (!team || count < 2) {
        run_alone(count, work, context);
        return;
    }
    (void)pthread_mutex_lock(&team->lock);
    team->count = count;
    team->work = work;
    team->context = context;
    atomic_store(&team->next, 0);
    team->open = 1;
    atomic_fetch_add(&team->loops, 1);
    (void)pthread_cond_broadcast(&team->begun);
    (void)pthread_mutex_unlock(&team->lock);
    take_items(team);
    (void)pthread_mutex_lock(&team->lock);
    team->open = 0; /* all items are taken */
    while (team->inside > 0)
        (void)pthread_cond_wait(&team->left, &team->lock);
    (void)pthread_mutex_unlock(&team->lock);
}
