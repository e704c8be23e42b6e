/* notifier.c - a queue of events and a thread that takes them; each event owns its record, whose cells are fetched,
 * audited, passed to the observer, and freed. */
#include "notifier.h"
#include "base/checkpoint.h"
#include "base/signal_mask.h"
#include "base/workers.h"
#include "cells.h"
#include "projection.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum {
    MAX_EVENTS = 3,  /* in the queue: an update, and the records before and after it */
    MAX_RECORDS = 2, /* in the queue, if their cells together have at most SMALL_BYTES; else one */
    SMALL_BYTES = 256 << 20,
    CELL_BYTES = 24 /* see cells.h */
};

struct gbees_notifier {
    const gbees_problem *problem;
    const gbees_backend *backend;
    const gbees_observer *observer;
    int is_concurrent;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all fields below */
    pthread_cond_t change;
    gbees_event queue[MAX_EVENTS]; /* a ring buffer; the observer has the event at `first` */
    int first, count, records, closed;
    double bytes; /* of all cells in the queue */
    int status;   /* of the first call that failed: there are no calls after it */
    gbees_error error;
};

/* ---- calls to the observer ---- */

static void drop(const gbees_notifier *notifier, gbees_event *event)
{
    gbees_cells_destroy(event->cells);
    if (event->capture)
        notifier->backend->capture_free(event->capture);
    free(event->marginals);
    free(event->moved);
    gbees_mode_records_destroy(event->modes);
    if (event->checkpoint)
        gbees_checkpoint_clear(event->checkpoint);
    free(event->checkpoint);
    event->checkpoint = NULL;
    event->moved = NULL;
    event->modes = NULL;
    event->cells = NULL;
    event->capture = NULL;
    event->marginals = NULL;
}

static int is_record(const gbees_event *event)
{
    return event->record.problem != NULL && !event->is_step;
}

static int fail_record(const gbees_record *record, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", record->time,
                           record->leg, (unsigned long long)record->totals.steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

/* Copies the cells out of the capture, on up to so many threads, and frees it. */
static int fetch_cells(const gbees_notifier *notifier, gbees_event *event, int threads, gbees_error *error)
{
    gbees_cells *cells = gbees_cells_create(notifier->problem->dimension);
    gbees_error cause = {0}, full = {0};

    if (!cells)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    gbees_cells_use_threads(cells, threads);
    gbees_cells_expect(cells, (size_t)event->record.statistics.cells_above);
    int status = notifier->backend->capture_cells(event->capture, gbees_cells_add, cells, &cause);
    notifier->backend->capture_free(event->capture);
    event->capture = NULL;
    event->cells = cells;
    if (status && gbees_cells_finish(cells, 1, &full)) /* the visit ended for lack of memory */
        return fail_record(&event->record, (int)full.status, &full, error);
    return status ? fail_record(&event->record, status, &cause, error) : GBEES_OK;
}

/* Has the audit compare a density in several modes, whose cells are first spread over one grid. */
static int flatten_and_audit(gbees_audit *audit, const gbees_event *event, gbees_certificate *certificate,
                             gbees_error *error)
{
    gbees_record flat = event->record;
    gbees_problem *grid = malloc(sizeof *grid);
    gbees_cells *cells = NULL;
    int status = grid ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory to compare a record");

    if (!status && event->modes->cells[0])
        status = gbees_mode_records_flatten(event->modes, &flat.statistics, grid, &cells, error);
    if (cells)
        flat.problem = grid;
    flat.cells = cells;
    if (!status)
        status = gbees_audit_record(audit, &flat, certificate, error);
    gbees_cells_destroy(cells);
    free(grid);
    return status;
}

/* Has the audit compare a record. Its marginals on a grid that moves are those along the states: the grid's own axes
 * mean nothing to a reader. */
static int audit(gbees_audit *audit, gbees_event *event, gbees_certificate *certificate, gbees_error *error)
{
    gbees_record *record = &event->record;
    const gbees_record_mode whole = {.problem = record->problem, .weight = 1, .cells = record->cells};
    const int has_cells = event->modes ? event->modes->cells[0] != NULL : record->cells != NULL;
    gbees_projection *projection = NULL;
    int status = GBEES_OK;

    if (record->problem->moving && has_cells)
        status = gbees_projection_create(record->modes ? record->modes : &whole,
                                         record->modes ? record->mode_count : 1, &projection, error);
    record->projection = projection;
    if (!status)
        status = event->modes ? flatten_and_audit(audit, event, certificate, error)
                              : gbees_audit_record(audit, record, certificate, error);
    record->projection = NULL;
    gbees_projection_destroy(projection);
    return status;
}

/* Calls the observer with the record, and its certificate if there is an audit. */
static int audit_record(const gbees_observer *observer, gbees_event *event, gbees_error *error)
{
    gbees_record *record = &event->record;
    gbees_certificate certificate;
    int status = GBEES_OK;

    if (observer->audit)
        status = audit(observer->audit, event, &certificate, error);
    if (status)
        return status;
    if (observer->audit) {
        record->certificate = &certificate;
        record->warnings |= gbees_audit_warnings(observer->audit);
        record->samples = gbees_audit_samples(observer->audit);
    }
    if (observer->no_cells) { /* the cells were for the audit alone */
        record->cells = NULL;
        for (int k = 0; event->modes && k < event->modes->count; k++)
            event->modes->mode[k].cells = NULL;
    }
    return observer->record(observer->context, record, error);
}

static int notify_record(const gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    const gbees_observer *observer = notifier->observer;
    gbees_error cause = {0};
    const int threads =
        gbees_workers_beside(event->record.totals.threads, event->record.time >= notifier->problem->end);
    int status = event->capture ? fetch_cells(notifier, event, threads, error) : GBEES_OK;

    if (status)
        return status;
    if (event->cells)
        status = gbees_cells_finish(event->cells, threads, &cause);
    if (event->modes)
        status = gbees_mode_records_sort(event->modes, threads, &cause);
    if (status)
        return fail_record(&event->record, status, &cause, error);
    event->record.cells = event->cells;
    event->record.marginals = event->marginals;
    return audit_record(observer, event, error);
}

/* Calls the observer with the update, and its evidence by samples if there is an audit. */
static int notify_update(const gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    const gbees_observer *observer = notifier->observer;

    if (observer->audit)
        gbees_audit_update(observer->audit, event->number, &event->evidence);
    return observer->update ? observer->update(observer->context, notifier->problem, event->number, event->time,
                                               &event->evidence, error)
                            : GBEES_OK;
}

/* Calls the observer with the checkpoint, to which the audit adds its samples. */
static int notify_checkpoint(const gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    const gbees_observer *observer = notifier->observer;
    int status = observer->audit ? gbees_audit_save(observer->audit, gbees_checkpoint_add, event->checkpoint, error)
                                 : GBEES_OK;

    return status ? status : observer->checkpoint(observer->context, event->checkpoint, error);
}

/* Calls the observer, then frees what the event owns. */
static int notify(const gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    int status = is_record(event)    ? notify_record(notifier, event, error)
                 : event->is_step    ? notifier->observer->step(notifier->observer->context, &event->record, error)
                 : event->checkpoint ? notify_checkpoint(notifier, event, error)
                                     : notify_update(notifier, event, error);

    drop(notifier, event);
    return status;
}

/* ---- the thread ---- */

static double bytes_of(const gbees_event *event)
{
    return event->cells || event->capture || event->modes ? CELL_BYTES * (double)event->record.statistics.cells_above
                                                          : 0;
}

static void *run(void *context)
{
    gbees_notifier *notifier = context;

    (void)pthread_mutex_lock(&notifier->lock);
    for (;;) {
        while (!notifier->count && !notifier->closed)
            (void)pthread_cond_wait(&notifier->change, &notifier->lock);
        if (!notifier->count)
            break;
        gbees_event *event = &notifier->queue[notifier->first];
        gbees_error error = {0};
        const double bytes = bytes_of(event);
        const int records = is_record(event);
        int status = notifier->status;

        (void)pthread_mutex_unlock(&notifier->lock);
        if (status)
            drop(notifier, event);
        else
            status = notify(notifier, event, &error);
        (void)pthread_mutex_lock(&notifier->lock);
        if (status && !notifier->status) {
            notifier->status = status;
            notifier->error = error;
        }
        notifier->first = (notifier->first + 1) % MAX_EVENTS;
        notifier->count--;
        notifier->records -= records;
        notifier->bytes -= bytes;
        (void)pthread_cond_broadcast(&notifier->change);
    }
    (void)pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

/* Starts the thread with signals blocked, so that the caller's threads receive them. */
static int start(gbees_notifier *notifier)
{
    sigset_t all, before;

    gbees_signal_mask_fill(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return 0;
    const int started = pthread_create(&notifier->thread, NULL, run, notifier) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int gbees_notifier_create(const gbees_problem *problem, const gbees_backend *backend, const gbees_observer *observer,
                          gbees_notifier **notifier, gbees_error *error)
{
    gbees_notifier *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a solver");
    made->problem = problem;
    made->backend = backend;
    made->observer = observer;
    if (observer->concurrent) {
        (void)pthread_mutex_init(&made->lock, NULL);
        (void)pthread_cond_init(&made->change, NULL);
        made->is_concurrent = start(made); /* without a thread calls are synchronous */
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
        (void)pthread_mutex_lock(&notifier->lock);
        notifier->closed = 1;
        (void)pthread_cond_broadcast(&notifier->change);
        (void)pthread_mutex_unlock(&notifier->lock);
        (void)pthread_join(notifier->thread, NULL);
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
    wait_for_capacity(notifier, 1, CELL_BYTES * (double)cells);
    const int status = failure_of(notifier, error);
    (void)pthread_mutex_unlock(&notifier->lock);
    return status;
}

int gbees_notifier_post(gbees_notifier *notifier, gbees_event *event, gbees_error *error)
{
    if (!notifier->is_concurrent)
        return notify(notifier, event, error);
    (void)pthread_mutex_lock(&notifier->lock);
    wait_for_capacity(notifier, is_record(event), bytes_of(event));
    notifier->queue[(notifier->first + notifier->count) % MAX_EVENTS] = *event;
    notifier->count++;
    notifier->records += is_record(event);
    notifier->bytes += bytes_of(event);
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

int gbees_notifier_checkpoint(gbees_notifier *notifier, gbees_checkpoint *checkpoint, gbees_error *error)
{
    int status = gbees_notifier_finish(notifier, error);

    return status ? status : notifier->observer->checkpoint(notifier->observer->context, checkpoint, error);
}
