/* watch.h - ends gbees-run when a function of the model, or a call to a GPU, does not return.
 *
 * Each thread notes when it begins and ends such a call. A thread of its own looks at these notes at intervals, and
 * ends the program when it has found one thread within one and the same call for as long as the user's patience. So
 * what is limited is one batch of points or of a few hundred bricks, or one slice of steps on a GPU, and never a
 * step: that of a large grid may take long. Looks are counted, not seconds: a program that is stopped and continued
 * is not taken for one that is stuck.
 */
#ifndef GBEES_COMMAND_WATCH_H
#define GBEES_COMMAND_WATCH_H

#include <gbees/backend.h>
#include <stdatomic.h>

/* Starts the thread, if there is none, for a run of this model; calls may take `seconds`, 0: any time. If no thread
 * can be made, nothing is watched. The thread ends with the program. */
void gbees_watch_start(const char *model, double seconds);
/* Whether there is a thread. */
int gbees_watch_is_on(void);

/* What a thread notes. Only the thread that has the place writes `calls`; only who looks uses `seen` and `looks`. */
typedef struct gbees_watch_place {
    _Alignas(64) atomic_uint calls; /* begun and ended, counted together: odd within a call */
    atomic_int taken;
    unsigned seen; /* `calls` at the last look */
    int looks;     /* for which it has been the same, and odd */
} gbees_watch_place;

/* The place of this thread; NULL: it has none yet. */
extern _Thread_local gbees_watch_place *gbees_watch_own;
gbees_watch_place *gbees_watch_take_place(void);

/* A call begins in this thread. Returns `before`, which gbees_watch_leave() takes when it ends. A call may lie within
 * another, as one of the model within one of a GPU's backend: both begin anew then. In line, as some batches are of a
 * hundred points. */
static inline unsigned gbees_watch_enter(void)
{
    gbees_watch_place *place = gbees_watch_own ? gbees_watch_own : gbees_watch_take_place();
    const unsigned before = atomic_load_explicit(&place->calls, memory_order_relaxed);

    atomic_store_explicit(&place->calls, before + 1 + before % 2, memory_order_relaxed);
    return before;
}
/* A call ends, after which the thread is within as many calls as `before`. */
static inline void gbees_watch_leave(unsigned before)
{
    gbees_watch_place *place = gbees_watch_own;
    const unsigned now = atomic_load_explicit(&place->calls, memory_order_relaxed);

    atomic_store_explicit(&place->calls, now + 1 + before % 2, memory_order_relaxed);
}

/* Looks once at all threads. Returns for how many looks, this one included, a call has gone on in one of them, 0: no
 * call is under way that was under way at the look before. */
int gbees_watch_look(void);

/* watched.c. Replaces a problem's functions by ones that note their calls, and its model's, too. `problem` is one
 * that gbees_problem_create() has made; those of one problem at a time can be watched. */
void gbees_watch_problem(gbees_problem *problem);
/* Returns a copy of a GPU's backend whose calls that wait for kernels with the model's equations are watched; of
 * another the backend itself. What reads and writes cells, or compiles, may take any time. */
const gbees_backend *gbees_watch_backend(const gbees_backend *backend);

#endif
