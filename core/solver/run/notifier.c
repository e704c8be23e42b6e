/* notifier.c - a queue of events and the two threads that take them: one prepares an event while the other calls the
 * observer with the one before it. */
#include "notifier.h"
#include "base/signal_mask.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum {
    IDLE_MS = 500,   /* between two calls to the observer's `idle` */
    MAX_EVENTS = 3,  /* in the queue: an update, and the records before and after it */
    MAX_RECORDS = 2, /* in the queue, if their cells together have at most SMALL_BYTES; else one */
    SMALL_BYTES = 256 << 20
};

/* An event in the queue, and the status of its preparation. */
typedef struct entry {
    gbees_event event;
    int status;
    gbees_error error;
} entry;

struct gbees_notifier {
    gbees_event_target target;
    int is_concurrent;
    pthread_t preparing, observing;
    pthread_mutex_t lock; /* guards all fields below */
    pthread_cond_t change;
    entry queue[MAX_EVENTS]; /* a ring buffer: first those that are prepared */
    int first, prepared, count, records, closed;
    double bytes; /* of all cells in the queue */
    int status;   /* of the first call that failed: there are no calls after it */
    gbees_error error;
};

/* Prepares an event and calls the observer with it, then frees it. */
static int notify(const gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    int status = gbees_event_prepare(&notifier->target, event, error);

    if (!status)
        status = gbees_event_observe(&notifier->target, event, error);
    gbees_event_drop(&notifier->target, event);
    return status;
}

/* ---- the threads ---- */

/* Prepares the events of the queue in their order; none after one that failed. */
static void *prepare_events(void *context)
{
    gbees_notifier *notifier = context;
    int failed = 0;

    (void)pthread_mutex_lock(&notifier->lock);
    for (;;) {
        while (notifier->prepared == notifier->count && !notifier->closed)
            (void)pthread_cond_wait(&notifier->change, &notifier->lock);
        if (notifier->prepared == notifier->count)
            break;
        entry *next = &notifier->queue[(notifier->first + notifier->prepared) % MAX_EVENTS];

        failed = failed || notifier->status;
        (void)pthread_mutex_unlock(&notifier->lock);
        if (!failed)
            next->status = gbees_event_prepare(&notifier->target, &next->event, &next->error);
        failed = failed || next->status;
        (void)pthread_mutex_lock(&notifier->lock);
        notifier->prepared++;
        (void)pthread_cond_broadcast(&notifier->change);
    }
    (void)pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

/* Waits for a change, and calls the observer's `idle` if there is none for a while: also within a step that does not
 * end. The caller holds the lock. */
static void wait_for_event(gbees_notifier *notifier)
{
    const gbees_observer *observer = notifier->target.observer;
    gbees_error error = {0};
    struct timespec until = {0};

    if (!observer->idle || notifier->status) {
        (void)pthread_cond_wait(&notifier->change, &notifier->lock);
        return;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    const long ns = until.tv_nsec + IDLE_MS * 1000000L;
    until.tv_sec += ns / 1000000000L;
    until.tv_nsec = ns % 1000000000L;
    if (!pthread_cond_timedwait(&notifier->change, &notifier->lock, &until))
        return;
    (void)pthread_mutex_unlock(&notifier->lock);
    const int status = observer->idle(observer->context, &error);
    (void)pthread_mutex_lock(&notifier->lock);
    if (status) {
        notifier->status = status;
        notifier->error = error;
    }
}

/* Calls the observer with the prepared events in their order, and frees them. */
static void *observe_events(void *context)
{
    gbees_notifier *notifier = context;

    (void)pthread_mutex_lock(&notifier->lock);
    for (;;) {
        while (!notifier->prepared && (notifier->count || !notifier->closed))
            wait_for_event(notifier);
        if (!notifier->prepared)
            break;
        entry *next = &notifier->queue[notifier->first];
        const double bytes = gbees_event_bytes(&next->event);
        const int records = gbees_event_is_record(&next->event), failed = notifier->status;

        (void)pthread_mutex_unlock(&notifier->lock);
        if (!failed && !next->status)
            next->status = gbees_event_observe(&notifier->target, &next->event, &next->error);
        gbees_event_drop(&notifier->target, &next->event);
        (void)pthread_mutex_lock(&notifier->lock);
        if (!failed && next->status) {
            notifier->status = next->status;
            notifier->error = next->error;
        }
        notifier->first = (notifier->first + 1) % MAX_EVENTS;
        notifier->prepared--;
        notifier->count--;
        notifier->records -= records;
        notifier->bytes -= bytes;
        (void)pthread_cond_broadcast(&notifier->change);
    }
    (void)pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

/* Has the threads end once the queue is empty, and waits for them. */
static void close_queue(gbees_notifier *notifier)
{
    (void)pthread_mutex_lock(&notifier->lock);
    notifier->closed = 1;
    (void)pthread_cond_broadcast(&notifier->change);
    (void)pthread_mutex_unlock(&notifier->lock);
    (void)pthread_join(notifier->preparing, NULL);
}

/* Starts the threads with signals blocked, so that the caller's threads receive them. Returns whether both run. */
static int start(gbees_notifier *notifier)
{
    sigset_t all, before;

    gbees_signal_mask_fill(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return 0;
    int started = pthread_create(&notifier->preparing, NULL, prepare_events, notifier) == 0;
    if (started && pthread_create(&notifier->observing, NULL, observe_events, notifier)) {
        close_queue(notifier);
        started = 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void prepare_lock(gbees_notifier *notifier)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&notifier->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&notifier->change, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

int gbees_notifier_create(const gbees_problem *problem, const gbees_backend *backend, const gbees_observer *observer,
                          gbees_notifier **notifier, gbees_error *error)
{
    gbees_notifier *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a solver");
    made->target = (gbees_event_target){problem, backend, observer};
    if (observer->concurrent) {
        prepare_lock(made);
        made->is_concurrent = start(made); /* without threads calls are synchronous */
        if (!made->is_concurrent) {
            (void)pthread_cond_destroy(&made->change);
            (void)pthread_mutex_destroy(&made->lock);
        }
    }
    *notifier = made;
    return GBEES_OK;
}

void gbees_notifier_destroy(gbees_notifier *notifier)
{
    if (!notifier)
        return;
    if (notifier->is_concurrent) {
        close_queue(notifier);
        (void)pthread_join(notifier->observing, NULL);
        (void)pthread_cond_destroy(&notifier->change);
        (void)pthread_mutex_destroy(&notifier->lock);
    }
    free(notifier);
}

/* ---- the solver's thread ---- */

int gbees_notifier_is_concurrent(const gbees_notifier *notifier)
{
    return notifier->is_concurrent;
}

static int failure_of(const gbees_notifier *notifier, gbees_error *error)
{
    return notifier->status ? gbees_error_set(error, (gbees_status)notifier->status, "%s", notifier->error.text)
                            : GBEES_OK;
}

/* The caller holds the lock. */
static void wait_for_capacity(gbees_notifier *notifier, int records, double bytes)
{
    while (notifier->count == MAX_EVENTS || notifier->records + records > MAX_RECORDS ||
           (records && notifier->records && notifier->bytes + bytes > SMALL_BYTES))
        (void)pthread_cond_wait(&notifier->change, &notifier->lock);
}

int gbees_notifier_wait(gbees_notifier *notifier, uint64_t cells, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&notifier->lock);
    wait_for_capacity(notifier, 1, GBEES_EVENT_CELL_BYTES * (double)cells);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_post(gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return notify(notifier, event, error);
    (void)pthread_mutex_lock(&notifier->lock);
    wait_for_capacity(notifier, gbees_event_is_record(event), gbees_event_bytes(event));
    notifier->queue[(notifier->first + notifier->count) % MAX_EVENTS] = (entry){.event = *event};
    notifier->count++;
    notifier->records += gbees_event_is_record(event);
    notifier->bytes += gbees_event_bytes(event);
    (void)pthread_cond_broadcast(&notifier->change);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_status(gbees_notifier *notifier, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&notifier->lock);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_wait_prepared(gbees_notifier *notifier, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&notifier->lock);
    while (notifier->prepared < notifier->count)
        (void)pthread_cond_wait(&notifier->change, &notifier->lock);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_finish(gbees_notifier *notifier, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&notifier->lock);
    while (notifier->count > 0)
        (void)pthread_cond_wait(&notifier->change, &notifier->lock);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_call(gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    const int status = gbees_notifier_finish(notifier, error);

    if (!status)
        return notify(notifier, event, error);
    gbees_event_drop(&notifier->target, event);
    return status;
}

int gbees_notifier_checkpoint(gbees_notifier *notifier, gbees_checkpoint *checkpoint, gbees_error *error)
{
    int status = gbees_notifier_finish(notifier, error);

    return status ? status
                  : notifier->target.observer->checkpoint(notifier->target.observer->context, checkpoint, error);
}
