/* teller.c - see teller.h. */
#include "teller.h"
#include "cells.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum {
    MOST = 3,                /* told or waiting at once: an update, and the records before and after it */
    MOST_RECORDS = 2,        /* of them ... */
    SMALL_BYTES = 256 << 20, /* ... if their cells together are no more than this, else one */
    CELL_BYTES = 24          /* see cells.h */
};

struct gbees_teller {
    const gbees_problem *problem;
    const gbees_backend *backend;
    const gbees_observer *observer;
    int is_concurrent;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t change;
    gbees_news queue[MOST]; /* a ring; the first one is being told */
    int first, count, records, closed;
    double bytes; /* of all cells in the queue */
    int status;   /* of the first that failed: nothing is told after it */
    gbees_error error;
};

/* ---- telling -------------------------------------------------------------------------------------------------- */

static void drop(const gbees_teller *teller, gbees_news *news)
{
    gbees_cells_destroy(news->cells);
    if (news->capture)
        teller->backend->capture_free(news->capture);
    free(news->marginals);
    news->cells = NULL;
    news->capture = NULL;
    news->marginals = NULL;
}

static int is_record(const gbees_news *news)
{
    return news->record.problem != NULL;
}

static int fail_record(const gbees_record *record, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", record->time,
                           record->leg, (unsigned long long)record->totals.steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

/* Out of the capture; what the backend holds for it is free then. */
static int fetch_cells(const gbees_teller *teller, gbees_news *news, gbees_error *error)
{
    gbees_cells *cells = gbees_cells_create(teller->problem->dimension);
    gbees_error cause = {0}, full = {0};

    if (!cells)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    int status = teller->backend->capture_cells(news->capture, gbees_cells_add, cells, &cause);
    teller->backend->capture_free(news->capture);
    news->capture = NULL;
    news->cells = cells;
    if (status && gbees_cells_finish(cells, &full)) /* this is why the visit ended, if it did */
        return fail_record(&news->record, (int)full.status, &full, error);
    return status ? fail_record(&news->record, status, &cause, error) : GBEES_OK;
}

static int tell_record(const gbees_teller *teller, gbees_news *news, gbees_error *error)
{
    const gbees_observer *observer = teller->observer;
    gbees_error cause = {0};
    int status = news->capture ? fetch_cells(teller, news, error) : GBEES_OK;

    if (status)
        return status;
    if (news->cells)
        status = gbees_cells_finish(news->cells, &cause);
    if (status)
        return fail_record(&news->record, status, &cause, error);
    news->record.cells = news->cells;
    news->record.marginals = news->marginals;
    return observer->record(observer->context, &news->record, error);
}

/* All that belongs to the news is gone afterwards. */
static int tell(const gbees_teller *teller, gbees_news *news, gbees_error *error)
{
    const gbees_observer *observer = teller->observer;
    int status = is_record(news) ? tell_record(teller, news, error)
                                 : observer->update(observer->context, teller->problem, news->number, news->time,
                                                    &news->evidence, error);

    drop(teller, news);
    return status;
}

/* ---- the thread -------------------------------------------------------------------------------------------------
 */

static double bytes_of(const gbees_news *news)
{
    return news->cells || news->capture ? CELL_BYTES * (double)news->record.statistics.cells_above : 0;
}

static void *run(void *context)
{
    gbees_teller *teller = context;

    (void)pthread_mutex_lock(&teller->lock);
    for (;;) {
        while (!teller->count && !teller->closed)
            (void)pthread_cond_wait(&teller->change, &teller->lock);
        if (!teller->count)
            break;
        gbees_news *news = &teller->queue[teller->first];
        gbees_error error = {0};
        const double bytes = bytes_of(news);
        const int records = is_record(news);
        int status = teller->status;

        (void)pthread_mutex_unlock(&teller->lock);
        if (status)
            drop(teller, news);
        else
            status = tell(teller, news, &error);
        (void)pthread_mutex_lock(&teller->lock);
        if (status && !teller->status) {
            teller->status = status;
            teller->error = error;
        }
        teller->first = (teller->first + 1) % MOST;
        teller->count--;
        teller->records -= records;
        teller->bytes -= bytes;
        (void)pthread_cond_broadcast(&teller->change);
    }
    (void)pthread_mutex_unlock(&teller->lock);
    return NULL;
}

/* Signals are for the threads that there were before. */
static int start(gbees_teller *teller)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return 0;
    const int started = pthread_create(&teller->thread, NULL, run, teller) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int gbees_teller_create(const gbees_problem *problem, const gbees_backend *backend, const gbees_observer *observer,
                        gbees_teller **teller, gbees_error *error)
{
    gbees_teller *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a solver");
    made->problem = problem;
    made->backend = backend;
    made->observer = observer;
    if (observer->concurrent) {
        (void)pthread_mutex_init(&made->lock, NULL);
        (void)pthread_cond_init(&made->change, NULL);
        made->is_concurrent = start(made); /* a thread that can't be had is no reason to stop */
        if (!made->is_concurrent) {
            (void)pthread_cond_destroy(&made->change);
            (void)pthread_mutex_destroy(&made->lock);
        }
    }
    *teller = made;
    return GBEES_OK;
}

void gbees_teller_destroy(gbees_teller *teller)
{
    if (!teller)
        return;
    if (teller->is_concurrent) {
        (void)pthread_mutex_lock(&teller->lock);
        teller->closed = 1;
        (void)pthread_cond_broadcast(&teller->change);
        (void)pthread_mutex_unlock(&teller->lock);
        (void)pthread_join(teller->thread, NULL);
        (void)pthread_cond_destroy(&teller->change);
        (void)pthread_mutex_destroy(&teller->lock);
    }
    free(teller);
}

/* ---- the other side ---------------------------------------------------------------------------------------------
 */

int gbees_teller_is_concurrent(const gbees_teller *teller)
{
    return teller->is_concurrent;
}

static int failure_of(const gbees_teller *teller, gbees_error *error)
{
    return teller->status ? gbees_error_set(error, (gbees_status)teller->status, "%s", teller->error.text) : GBEES_OK;
}

/* With the lock. */
static void wait_for_room(gbees_teller *teller, int records, double bytes)
{
    while (teller->count == MOST || teller->records + records > MOST_RECORDS ||
           (records && teller->records && teller->bytes + bytes > SMALL_BYTES))
        (void)pthread_cond_wait(&teller->change, &teller->lock);
}

int gbees_teller_wait(gbees_teller *teller, uint64_t cells, gbees_error *error)
{
    if (!teller->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&teller->lock);
    wait_for_room(teller, 1, CELL_BYTES * (double)cells);
    const int status = failure_of(teller, error);
    (void)pthread_mutex_unlock(&teller->lock);
    return status;
}

int gbees_teller_tell(gbees_teller *teller, gbees_news *news, gbees_error *error)
{
    if (!teller->is_concurrent)
        return tell(teller, news, error);
    (void)pthread_mutex_lock(&teller->lock);
    wait_for_room(teller, is_record(news), bytes_of(news));
    teller->queue[(teller->first + teller->count) % MOST] = *news;
    teller->count++;
    teller->records += is_record(news);
    teller->bytes += bytes_of(news);
    (void)pthread_cond_broadcast(&teller->change);
    const int status = failure_of(teller, error);
    (void)pthread_mutex_unlock(&teller->lock);
    return status;
}

int gbees_teller_hear(gbees_teller *teller, gbees_error *error)
{
    if (!teller->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&teller->lock);
    const int status = failure_of(teller, error);
    (void)pthread_mutex_unlock(&teller->lock);
    return status;
}

int gbees_teller_finish(gbees_teller *teller, gbees_error *error)
{
    if (!teller->is_concurrent)
        return GBEES_OK;
    (void)pthread_mutex_lock(&teller->lock);
    while (teller->count > 0)
        (void)pthread_cond_wait(&teller->change, &teller->lock);
    const int status = failure_of(teller, error);
    (void)pthread_mutex_unlock(&teller->lock);
    return status;
}
