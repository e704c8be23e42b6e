/* event.c - fetches, sorts and audits the cells of an event's record, passes it to the observer, and frees it. */
#include "event.h"
#include "base/checkpoint.h"
#include "base/workers.h"
#include "record/cells.h"
#include "record/cells_marginals.h"
#include "solver/grid/projection.h"
#include <stdlib.h>
#include <string.h>

int gbees_event_is_record(const gbees_event *event)
{
    return event->record.problem != NULL && !event->is_step;
}

double gbees_event_bytes(const gbees_event *event)
{
    return event->cells || event->capture ? GBEES_EVENT_CELL_BYTES * (double)event->record.statistics.cells_above : 0;
}

void gbees_event_drop(const gbees_event_target *target, gbees_event *event)
{
    gbees_cells_destroy(event->cells);
    if (event->capture)
        target->backend->capture_free(event->capture);
    free(event->marginals);
    free(event->moved);
    free(event->states);
    if (event->checkpoint)
        gbees_checkpoint_clear(event->checkpoint);
    free(event->checkpoint);
    memset(event, 0, sizeof *event);
}

/* ---- a record's cells ---- */

static int fail_record(const gbees_record *record, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", record->time,
                           record->leg, (unsigned long long)record->totals.steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

/* Copies the cells out of the capture, on up to so many threads, and frees it. */
static int fetch_cells(const gbees_event_target *target, gbees_event *event, int threads, gbees_error *error)
{
    gbees_cells *cells = gbees_cells_create(target->problem->dimension);
    gbees_error cause = {0}, full = {0};

    if (!cells)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    gbees_cells_use_threads(cells, threads);
    gbees_cells_expect(cells, (size_t)event->record.statistics.cells_above);
    int status = target->backend->capture_cells(event->capture, gbees_cells_add, cells, &cause);
    target->backend->capture_free(event->capture);
    event->capture = NULL;
    event->cells = cells;
    if (status && gbees_cells_finish(cells, 1, &full)) /* the visit ended for lack of memory */
        return fail_record(&event->record, (int)full.status, &full, error);
    return status ? fail_record(&event->record, status, &cause, error) : GBEES_OK;
}

/* Computes the marginals that the file and the audit need and the backend has not computed, unless they are many:
 * the file then takes them one by one. */
static int make_marginals(const gbees_event_target *target, gbees_event *event, gbees_error *error)
{
    const uint64_t most = target->observer->marginals ? GBEES_LARGEST_PLANE : 0;
    const int wanted = target->observer->marginals || (target->observer->audit && !event->record.problem->moving);

    return wanted && event->cells && !event->marginals && gbees_cells_marginals_are_small(event->cells, most)
               ? gbees_cells_marginals(event->cells, most, &event->marginals, error)
               : GBEES_OK;
}

/* Fetches and sorts the cells, and points the record to them. */
static int take_cells(const gbees_event_target *target, gbees_event *event, gbees_error *error)
{
    gbees_error cause = {0};
    const int threads =
        gbees_workers_beside(event->record.totals.threads, event->record.time >= target->problem->end);
    int status = event->capture ? fetch_cells(target, event, threads, error) : GBEES_OK;

    if (status)
        return status;
    if (event->cells)
        status = gbees_cells_finish(event->cells, threads, &cause);
    if (!status)
        status = make_marginals(target, event, &cause);
    if (status)
        return fail_record(&event->record, status, &cause, error);
    event->record.cells = event->cells;
    event->record.marginals = event->marginals;
    return GBEES_OK;
}

/* ---- its audit ---- */

/* Has the audit compare a record. Its marginals on a grid that moves are those along the states: the grid's own axes
 * mean nothing to a reader. */
static int compare(gbees_audit *audit, gbees_event *event, gbees_error *error)
{
    gbees_record *record = &event->record;
    gbees_projection *projection = NULL;
    int status = GBEES_OK;

    if (record->problem->moving && record->cells)
        status = gbees_projection_create(record->problem, record->cells, &projection, error);
    record->projection = projection;
    if (!status)
        status = gbees_audit_record(audit, record, &event->certificate, error);
    record->projection = NULL;
    gbees_projection_destroy(projection);
    return status;
}

/* Copies the samples that the audit lists, which it replaces at the next record. */
static int copy_samples(gbees_audit *audit, gbees_event *event, int n, gbees_error *error)
{
    const gbees_sample_list *list = gbees_audit_samples(audit);

    if (!list)
        return GBEES_OK;
    event->states = malloc((size_t)n * list->count * sizeof *event->states);
    if (!event->states)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the samples of a record");
    event->samples.count = list->count;
    for (int j = 0; j < n; j++) {
        float *x = event->states + (size_t)j * list->count;

        memcpy(x, list->x[j], list->count * sizeof *x);
        event->samples.x[j] = x;
    }
    return GBEES_OK;
}

/* Sets the record's certificate, samples and the audit's warnings. */
static int audit_record(gbees_audit *audit, gbees_event *event, gbees_error *error)
{
    int status = compare(audit, event, error);

    if (!status)
        status = copy_samples(audit, event, event->record.problem->dimension, error);
    if (!status)
        gbees_audit_targets(audit, event->record.problem, event->record.targets);
    event->record.warnings |= gbees_audit_warnings(audit);
    return status;
}

/* ---- what is done with an event ---- */

int gbees_event_prepare(const gbees_event_target *target, gbees_event *event, gbees_error *error)
{
    gbees_audit *audit = target->observer->audit;

    if (gbees_event_is_record(event)) {
        const int status = take_cells(target, event, error);

        return status || !audit || event->record.smoothed ? status : audit_record(audit, event, error);
    }
    if (!audit || event->is_step || event->jump > 0)
        return GBEES_OK;
    if (event->checkpoint)
        return gbees_audit_save(audit, gbees_checkpoint_add, event->checkpoint, error);
    gbees_audit_update(audit, event->number, &event->evidence);
    return GBEES_OK;
}

/* Calls the observer with the record. */
static int observe_record(const gbees_observer *observer, gbees_event *event, gbees_error *error)
{
    gbees_record *record = &event->record;

    if (observer->audit || event->is_certified) {
        record->certificate = &event->certificate;
        record->samples = event->states ? &event->samples : NULL;
    }
    if (observer->no_cells) /* the cells were for the audit alone */
        record->cells = NULL;
    return event->record.smoothed ? observer->smoothed(observer->context, record, error)
                                  : observer->record(observer->context, record, error);
}

int gbees_event_observe(const gbees_event_target *target, gbees_event *event, gbees_error *error)
{
    const gbees_observer *observer = target->observer;

    if (gbees_event_is_record(event))
        return observe_record(observer, event, error);
    if (event->is_step)
        return observer->step(observer->context, &event->record, error);
    if (event->checkpoint)
        return observer->checkpoint(observer->context, event->checkpoint, error);
    if (event->jump > 0)
        return observer->jump(observer->context, target->problem, event->jump, event->time, error);
    return observer->update ? observer->update(observer->context, target->problem, event->number, event->time,
                                               &event->evidence, error)
                            : GBEES_OK;
}
