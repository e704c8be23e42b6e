/* records.c - makes a run's records: statistics, cells, marginals and warnings, for the observer. */
#include "base/seconds.h"
#include "record/cells.h"
#include "record/cells_marginals.h"
#include "record/slabs.h"
#include "record/warnings.h"
#include "run.h"
#include "solver/problem/frame.h"
#include "tail.h"
#include <stdlib.h>

#define AUDIT_CELLS (1u << 18) /* of a record, at most, that are collected for the audit alone */

/* Lets the backend copy the cells, so that the notifier can fetch them while the run goes on. *capture stays NULL if
 * the backend can't. */
static int capture_cells(gbees_solver *solver, gbees_capture **capture, gbees_error *error)
{
    gbees_error cause = {0};
    int status = GBEES_OK;

    if (solver->backend->capture && gbees_notifier_is_concurrent(solver->notifier))
        status = solver->backend->capture(solver->grid.engine, capture, &cause);
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

static int collect_cells(gbees_solver *solver, uint64_t count, gbees_cells **cells, gbees_error *error)
{
    gbees_error cause = {0};
    const int status = gbees_cells_collect(solver->backend, solver->grid.engine, 1, solver->problem->dimension, count,
                                           "the cells of a record", cells, &cause);

    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

/* Whether the cells of a record are fetched slab by slab. A grid that moves needs them for its marginals, too. */
static int is_in_slabs(const gbees_solver *solver, const gbees_record *record)
{
    const uint64_t most = solver->observer->cells_at_once;

    return most > 0 && record->statistics.cells_above > most && !solver->problem->moving;
}

/* Divides the cells into slabs, and computes the marginals that the backend has not: the observer would have to fetch
 * all slabs for each. */
static int divide_cells(gbees_solver *solver, gbees_event *event, gbees_error *error)
{
    const gbees_observer *observer = solver->observer;
    const gbees_slab_source source = {.backend = solver->backend,
                                      .engine = solver->grid.engine,
                                      .fraction = 1,
                                      .dimension = solver->problem->dimension,
                                      .threads = event->record.totals.threads,
                                      .most = (size_t)observer->cells_at_once};
    gbees_error cause = {0};
    int status = gbees_slabs_create(&source, &event->cells, &cause);

    if (!status && !event->marginals && (observer->marginals || observer->audit))
        status = gbees_cells_marginals(event->cells, observer->marginals ? GBEES_LARGEST_PLANE : 0, &event->marginals,
                                       &cause);
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

/* *marginals stays NULL if the observer is to compute them from the cells. */
static int make_marginals(gbees_solver *solver, gbees_marginals **marginals, gbees_error *error)
{
    gbees_error cause = {0};
    int status = GBEES_OK;

    if (solver->backend->marginals && (solver->observer->marginals || solver->observer->audit))
        status = solver->backend->marginals(
            solver->grid.engine, solver->observer->marginals && !solver->observer->no_cells ? GBEES_LARGEST_PLANE : 0,
            marginals, &cause);
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

static gbees_ledger ledger_since(const gbees_totals *then, const gbees_totals *now)
{
    return (gbees_ledger){.clipped = now->mass_clipped - then->mass_clipped,
                          .outflow = now->mass_outflow - then->mass_outflow,
                          .pruned = now->mass_pruned - then->mass_pruned,
                          .normalised = now->mass_normalised - then->mass_normalised,
                          .entered = gbees_totals_entered(now) - gbees_totals_entered(then)};
}

/* Whether the observer wants the cells, or the audit and they are few. How many points make is not known before. */
static int wants_cells(const gbees_solver *solver, const gbees_record *record)
{
    const gbees_observer *observer = solver->observer;
    const uint64_t cells = record->statistics.cells_above;

    if (observer->no_cells)
        return observer->audit && cells <= AUDIT_CELLS && !solver->problem->own_backend;
    return observer->cells_most == 0 || cells <= observer->cells_most;
}

/* Fills the event's cells (or capture) and marginals; waits for capacity in the queue first. */
static int collect(gbees_solver *solver, gbees_event *event, gbees_error *error)
{
    const int with_cells = wants_cells(solver, &event->record);
    const int in_slabs = with_cells && is_in_slabs(solver, &event->record);
    int status;

    if (!with_cells && !solver->observer->audit)
        return GBEES_OK;
    if (in_slabs) /* and for events before this one */
        status = gbees_notifier_finish(solver->notifier, error);
    else
        status = gbees_notifier_wait(solver->notifier, with_cells ? event->record.statistics.cells_above : 0, error);
    if (!status)
        status = make_marginals(solver, &event->marginals, error);
    if (!status && in_slabs)
        return divide_cells(solver, event, error);
    if (!status && with_cells)
        status = capture_cells(solver, &event->capture, error);
    if (!status && with_cells && !event->capture)
        status = collect_cells(solver, event->record.statistics.cells_above, &event->cells, error);
    return status;
}

/* Whether steps wait until the audit has compared a record; its file is written meanwhile. A backend without captures
 * computes on the processors that the audit takes, and both at once would be slower than one after the other. */
static int waits_for_audit(const gbees_solver *solver)
{
    return solver->observer->audit && !solver->backend->capture;
}

static int check_mass(const gbees_solver *solver, const gbees_record *record, gbees_error *error)
{
    gbees_error cause = {0};
    int status = gbees_warnings_mass(solver->problem, record, &cause);

    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

/* After the measurements that a leg begins with: warns if they have selected a part of the density that is hardly
 * resolved (tail.h). */
static int check_tail(gbees_solver *solver, const gbees_record *record, const gbees_statistics *after,
                      gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->now.leg];
    const gbees_selection selection = {.problem = record->problem,
                                       .before = &solver->now.statistics,
                                       .after = after,
                                       .measurements = &solver->problem->measurements[leg->first],
                                       .count = leg->count,
                                       .is_first = solver->now.updates == leg->count,
                                       .threshold = gbees_run_totals(solver).threshold,
                                       .evidence = solver->now.evidence.total - solver->now.evidence_before};
    int found = 0, status = gbees_tail_find(&selection, &found, error);

    if (found)
        solver->now.record_warnings |= GBEES_WARNING_TAIL;
    if (gbees_tail_lost_part(&selection))
        solver->now.record_warnings |= GBEES_WARNING_PART;
    return status;
}

/* Finds the rates of a moving grid at a record, and adds its warnings. */
static int note_frame(gbees_solver *solver, gbees_error *error)
{
    gbees_error cause = {0};
    const int status = gbees_moving_note(&solver->now.moving, &solver->grid, solver->now.clock.time, &cause);

    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    solver->now.record_warnings |= gbees_moving_warnings(&solver->now.moving);
    return GBEES_OK;
}

/* Gives the record a problem of its own, with the grid where it is now. Returns 1 if there is no memory. */
static int take_place(const gbees_solver *solver, gbees_event *event)
{
    const gbees_moving *moving = &solver->now.moving;

    event->moved = malloc(sizeof *event->moved);
    if (!event->moved)
        return 1;
    *event->moved = *gbees_grid_problem(&solver->grid);
    gbees_frame_place(&moving->frame, event->moved);
    event->record.problem = event->moved;
    event->record.frame = (gbees_record_frame){.bend = moving->shape.bend,
                                               .growth = moving->shape.growth,
                                               .limited = moving->shape.limited,
                                               .replaced = moving->replaced,
                                               .rate = moving->rate,
                                               .rate_at_rest = moving->rate_at_rest};
    return 0;
}

/* Computes the statistics of the event's record, in the model's axes. *found receives those that check_tail() takes:
 * in the grid's axes, or on a grid that moves, whose axes differ before and after, in the model's. */
static int find_statistics(gbees_solver *solver, gbees_event *event, gbees_statistics *found, gbees_error *error)
{
    gbees_record *record = &event->record;
    const int status = gbees_grid_statistics(&solver->grid, &solver->now.clock, &record->statistics, error);

    if (status)
        return status;
    const int with_cells = !solver->backend->exact || wants_cells(solver, record);
    solver->now.record_warnings |= gbees_warnings_record(record->problem, &record->statistics, with_cells);
    *found = record->statistics;
    gbees_frame_statistics(record->problem, &record->statistics);
    if (solver->problem->moving)
        *found = record->statistics;
    return GBEES_OK;
}

/* Warns of cells that points have been made into and that are wider than parts of the density. */
static int check_parts(gbees_solver *solver, const gbees_event *event, gbees_error *error)
{
    gbees_marginals *own = NULL;
    gbees_error cause = {0};
    int status = GBEES_OK;

    if (!solver->backend->exact || !event->cells)
        return GBEES_OK;
    if (!event->marginals)
        status = gbees_cells_marginals(event->cells, 0, &own, &cause);
    if (!status)
        solver->now.record_warnings |= gbees_warnings_marginals(event->record.problem, own ? own : event->marginals);
    free(own);
    return status ? gbees_run_fail(solver, status, &cause, error) : GBEES_OK;
}

/* Computes the statistics of the event's record, and collects its cells and marginals. */
static int fill(gbees_solver *solver, gbees_event *event, gbees_error *error)
{
    gbees_record *record = &event->record;
    gbees_error cause = {0};
    gbees_statistics found;
    int status = find_statistics(solver, event, &found, &cause);

    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    if (record->number == 0 && solver->schedule->legs[solver->now.leg].count > 0 && !solver->backend->exact &&
        solver->problem->functions) /* an application's backend may need none */
        status = check_tail(solver, record, &found, error);
    if (status)
        return status;
    solver->now.statistics = found;
    if (record->problem->target_count > 0 && gbees_run_targets(solver, record, &cause))
        return gbees_run_fail(solver, (int)cause.status, &cause, error);
    if (gbees_run_wells(solver, record, &cause))
        return gbees_run_fail(solver, (int)cause.status, &cause, error);
    status = collect(solver, event, error);
    if (!status)
        status = check_parts(solver, event, error);
    if (status || !solver->backend->certify || solver->observer->audit)
        return status;
    status = solver->backend->certify(solver->grid.engine, &event->certificate, &cause);
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    event->is_certified = 1;
    solver->now.record_warnings |= gbees_warnings_certificate(record->problem, &event->certificate);
    return GBEES_OK;
}

/* Where there is no memory for a record, makes a checkpoint: a run with more memory goes on with this record. Not
 * before a leg's first record, as the leg's measurements would be applied again; nor on a grid that moves, whose
 * rates have been found for the record. */
static void keep_for_record(gbees_solver *solver, int number)
{
    if (number > 0 && !solver->problem->moving)
        (void)gbees_run_checkpoint(solver, NULL);
}

/* Sets what a record has of the run: time, totals, and what has changed since the record before. */
static void set_totals(const gbees_solver *solver, gbees_record *record)
{
    record->time = solver->now.clock.time;
    record->totals = gbees_run_totals(solver);
    record->since = ledger_since(&solver->now.recorded, &record->totals);
    record->wall_s = gbees_seconds_now() - solver->began_s;
}

int gbees_run_step(gbees_solver *solver, gbees_error *error)
{
    gbees_event event = {.record = {.problem = gbees_grid_problem(&solver->grid),
                                    .leg = solver->now.leg,
                                    .number = solver->now.number},
                         .is_step = 1};
    gbees_statistics found;
    gbees_error cause = {0};
    const unsigned warnings = solver->now.record_warnings; /* those of records alone */
    int status;

    if (solver->problem->moving && take_place(solver, &event))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the grid of a step");
    status = find_statistics(solver, &event, &found, &cause);
    solver->now.record_warnings = warnings;
    if (status) {
        free(event.moved);
        return gbees_run_fail(solver, status, &cause, error);
    }
    set_totals(solver, &event.record);
    return gbees_notifier_post(solver->notifier, &event, error);
}

int gbees_run_record(gbees_solver *solver, int number, gbees_error *error)
{
    gbees_event event = {.record = {.problem = gbees_grid_problem(&solver->grid),
                                    .leg = solver->now.leg,
                                    .number = number,
                                    .smoothed = solver->smoothed}};
    gbees_record *record = &event.record;
    int status;

    if (!solver->observer->record)
        return GBEES_OK;
    if (solver->problem->moving && note_frame(solver, error))
        return (int)error->status;
    if (solver->problem->moving && take_place(solver, &event))
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the grid of a record");
    status = fill(solver, &event, error);
    if (status) {
        gbees_cells_destroy(event.cells);
        free(event.marginals);
        free(event.moved);
        if (status == GBEES_ENOMEM)
            keep_for_record(solver, number);
        return status;
    }
    set_totals(solver, record);
    solver->now.record_warnings |= gbees_warnings_ledger(solver->problem, record);
    record->warnings = gbees_warnings(solver->problem, &record->totals) | solver->now.record_warnings;
    solver->now.record_warnings |=
        record->warnings & GBEES_WARNING_MASS_LOST; /* the next update makes up for the loss */
    solver->now.recorded = record->totals;
    gbees_record posted = *record; /* the notifier takes the event, with its problem */
    posted.problem = gbees_grid_problem(&solver->grid);
    if (event.cells &&
        !gbees_cells_are_whole(event.cells)) /* the engine has to stay as it is until they are written */
        status = gbees_notifier_call(solver->notifier, &event, error);
    else
        status = gbees_notifier_post(solver->notifier, &event, error);
    if (!status && waits_for_audit(solver))
        status = gbees_notifier_wait_prepared(solver->notifier, error);
    return status ? status : check_mass(solver, &posted, error);
}
