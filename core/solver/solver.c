/* solver.c - drives a backend through a problem: legs, updates, records. See gbees/gbees.h. */
#include "cells.h"
#include "equations.h"
#include "frame.h"
#include "notifier.h"
#include "refine.h"
#include "regrid.h"
#include "resolve.h"
#include "schedule.h"
#include "tail.h"
#include "warnings.h"
#include <gbees/gbees.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A slice: the steps of one call to the backend. It lasts about SLICE_S seconds, so that a cancellation is noticed
 * soon. */
#define SLICE_S 0.15
#define SLICE_MOST 100000     /* steps of a slice, at most */
#define SLICE_FIRST 100       /* of the first one, at most */
#define SLICE_CELLS_PER_S 4e6 /* assumed of the backend for the first one */
#define PROGRESS_S 0.2
#define AUDIT_CELLS (1u << 18) /* of a record, at most, that are collected for the audit alone */

struct gbees_solver {
    const gbees_problem *problem;
    const gbees_backend *backend;
    gbees_grid grid; /* has the engine */
    int regrids;     /* of the problem's, that have been done */
    gbees_schedule *schedule;
    gbees_clock clock;
    gbees_totals recorded; /* at the last record */
    int ran;
    int leg;
    uint64_t slice; /* steps of the next slice */
    const gbees_observer *observer;
    gbees_notifier *notifier;
    unsigned record_warnings, audit_warnings; /* of all records so far */
    int updates;
    gbees_evidence evidence; /* of the last update */
    struct {
        gbees_statistics statistics; /* of the last record, in the grid's axes */
        double evidence;             /* the logarithm of that of all updates */
    } before;                        /* the leg's measurements */
    double began_s, next_progress_s;
    double wall_s, propagate_s;
};

static double now_s(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static gbees_totals totals_of(const gbees_solver *solver)
{
    return gbees_grid_totals(&solver->grid);
}

/* Adds the time, the leg and the step to a backend's error. */
static int fail(const gbees_solver *solver, int status, const gbees_error *cause, gbees_error *error)
{
    return gbees_error_set(error, (gbees_status)status, "at t = %.6g (leg %d, step %llu): %s", solver->clock.time,
                           solver->leg, (unsigned long long)totals_of(solver).steps,
                           cause->text[0] ? cause->text : "the backend failed and did not say why");
}

static uint64_t whole_slice(double steps, uint64_t most)
{
    return steps < 1 ? 1 : steps > (double)most ? most : (uint64_t)steps;
}

/* Steps of the first slice, from the number of initial cells; 1 if the backend does not count them. */
static uint64_t first_slice(const gbees_solver *solver)
{
    const double cells = (double)totals_of(solver).max_cells;

    return cells > 0 ? whole_slice(SLICE_S * SLICE_CELLS_PER_S / cells, SLICE_FIRST) : 1;
}

int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error)
{
    const gbees_engine_options none = {0};
    gbees_solver *made = calloc(1, sizeof *made);
    int status;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a solver");
    made->problem = problem;
    made->backend = backend;
    made->clock.time = problem->start;
    made->grid = (gbees_grid){.backend = backend, .options = options ? *options : none, .problem = problem};
    status = gbees_equations_check(problem, error);
    if (!status)
        status = gbees_schedule_create(problem, &made->schedule, error);
    if (!status)
        status = gbees_grid_open(&made->grid, error);
    if (status) {
        gbees_solver_destroy(made);
        return status;
    }
    made->slice = first_slice(made);
    made->record_warnings = gbees_warnings(problem, NULL);
    *solver = made;
    return GBEES_OK;
}

void gbees_solver_destroy(gbees_solver *solver)
{
    if (!solver)
        return;
    gbees_grid_close(&solver->grid);
    gbees_schedule_destroy(solver->schedule);
    free(solver);
}

void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary)
{
    *summary = (gbees_summary){.problem = solver->problem,
                               .totals = totals_of(solver),
                               .updates = solver->updates,
                               .evidence = solver->evidence,
                               .wall_s = solver->wall_s,
                               .propagate_s = solver->propagate_s};
    summary->warnings =
        gbees_warnings(solver->problem, &summary->totals) | solver->record_warnings | solver->audit_warnings;
}

/* In paper and legacy mode the time is the sum of the steps, as in the reference codes; else it is set to the exact
 * times of legs and records. */
static int keeps_exact_time(const gbees_problem *problem)
{
    return problem->numerics.mode == GBEES_MODE_DEFAULT;
}

static double fraction_done(const gbees_solver *solver)
{
    const double length = solver->problem->end - solver->problem->start;
    const double done = length > 0 ? (solver->clock.time - solver->problem->start) / length : 1.0;

    return done < 0 ? 0 : done > 1 ? 1 : done;
}

static int report_progress(gbees_solver *solver, double fraction, gbees_error *error)
{
    const gbees_observer *observer = solver->observer;
    const double now = now_s();

    if (!observer->progress || now < solver->next_progress_s)
        return GBEES_OK;
    solver->next_progress_s = now + PROGRESS_S;

    const gbees_totals totals = totals_of(solver);
    return observer->progress(observer->context, solver->clock.time, fraction, &totals, error);
}

static int check_cancelled(const gbees_solver *solver, gbees_error *error)
{
    const gbees_observer *observer = solver->observer;

    if (!observer->cancelled || !observer->cancelled(observer->context))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_ECANCELLED, "stopped at t = %.6g (leg %d, step %llu)", solver->clock.time,
                           solver->leg, (unsigned long long)totals_of(solver).steps);
}

/* Sets the length of the next slice from the time that this one took. It grows by at most 4, or, if the slice was
 * very short, to what would take SLICE_S / 16: starting a slice costs a GPU some time, but steps get slower as the
 * grid grows. */
static void adapt_slice(gbees_solver *solver, double took_s)
{
    const double steps = (double)solver->slice, times = SLICE_S / took_s;

    solver->slice = whole_slice(steps * (times < 4 ? times : times < 4 * 16 ? 4 : times / 16), SLICE_MOST);
}

static int advance_slice(gbees_solver *solver, gbees_error *error)
{
    const double elapsed = solver->clock.elapsed, began = now_s();
    gbees_error cause = {0};
    int status;

    status = solver->backend->advance(solver->grid.engine, &solver->clock, solver->slice, &cause);
    const double took = now_s() - began;
    solver->propagate_s += took;
    if (!status && !(solver->clock.elapsed > elapsed))
        status =
            gbees_error_set(&cause, GBEES_ENUMERIC, "time stands still; the time step has become too small for it");
    if (status)
        return fail(solver, status, &cause, error);
    adapt_slice(solver, took);
    return GBEES_OK;
}

/* Advances by `length` units of time, from one record to the next. */
static int advance_interval(gbees_solver *solver, double length, gbees_error *error)
{
    int status = GBEES_OK;

    solver->clock.length = length;
    solver->clock.elapsed = 0;
    while (!status && solver->clock.elapsed < length) {
        status = check_cancelled(solver, error);
        if (!status)
            status = gbees_notifier_status(solver->notifier, error);
        if (!status)
            status = advance_slice(solver, error);
        if (!status)
            status = report_progress(solver, fraction_done(solver), error);
    }
    return status;
}

/* Lets the backend copy the cells, so that the notifier can fetch them while the run goes on. *capture stays NULL if
 * the backend can't. */
static int capture_cells(gbees_solver *solver, gbees_capture **capture, gbees_error *error)
{
    gbees_error cause = {0};
    int status = GBEES_OK;

    if (solver->backend->capture && gbees_notifier_is_concurrent(solver->notifier))
        status = solver->backend->capture(solver->grid.engine, capture, &cause);
    return status ? fail(solver, status, &cause, error) : GBEES_OK;
}

static int collect_cells(gbees_solver *solver, gbees_cells **cells, gbees_error *error)
{
    gbees_error cause = {0}, full = {0};
    gbees_cells *made = gbees_cells_create(solver->problem->dimension);
    int status;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the cells of a record");
    status = solver->backend->cells(solver->grid.engine, 1, gbees_cells_add, made, &cause);
    if (status) {
        if (gbees_cells_finish(made, &full)) { /* the visit ended for lack of memory */
            cause = full;
            status = (int)full.status;
        }
        gbees_cells_destroy(made);
        return fail(solver, status, &cause, error);
    }
    *cells = made;
    return GBEES_OK;
}

/* *marginals stays NULL if the observer is to compute them from the cells. */
static int make_marginals(gbees_solver *solver, gbees_marginals **marginals, gbees_error *error)
{
    gbees_error cause = {0};
    int status = GBEES_OK;

    if (solver->backend->marginals && (solver->observer->marginals || solver->observer->audit))
        status = solver->backend->marginals(solver->grid.engine, solver->observer->no_cells ? 0 : GBEES_LARGEST_PLANE,
                                            marginals, &cause);
    return status ? fail(solver, status, &cause, error) : GBEES_OK;
}

static gbees_ledger ledger_since(const gbees_totals *then, const gbees_totals *now)
{
    return (gbees_ledger){.clipped = now->mass_clipped - then->mass_clipped,
                          .outflow = now->mass_outflow - then->mass_outflow,
                          .pruned = now->mass_pruned - then->mass_pruned,
                          .normalised = now->mass_normalised - then->mass_normalised};
}

/* Whether the observer wants the cells, or the audit and they are few. */
static int wants_cells(const gbees_solver *solver, const gbees_record *record)
{
    const gbees_observer *observer = solver->observer;

    return !observer->no_cells || (observer->audit && record->statistics.cells_above <= AUDIT_CELLS);
}

/* Fills the event's cells (or capture) and marginals; waits for capacity in the queue first. */
static int collect(gbees_solver *solver, gbees_event *event, gbees_error *error)
{
    const int with_cells = wants_cells(solver, &event->record);
    int status;

    if (!with_cells && !solver->observer->audit)
        return GBEES_OK;
    status = gbees_notifier_wait(solver->notifier, with_cells ? event->record.statistics.cells_above : 0, error);
    if (!status)
        status = make_marginals(solver, &event->marginals, error);
    if (!status && with_cells)
        status = capture_cells(solver, &event->capture, error);
    if (!status && with_cells && !event->capture)
        status = collect_cells(solver, &event->cells, error);
    return status;
}

/* A backend without captures computes on the threads that the audit takes, too: the run waits, as two who share a
 * processor are slower than one after the other. */
static int waits_for_audit(const gbees_solver *solver)
{
    return solver->observer->audit && !solver->backend->capture;
}

static int check_mass(const gbees_solver *solver, const gbees_record *record, gbees_error *error)
{
    gbees_error cause = {0};
    int status = gbees_warnings_mass(solver->problem, record, &cause);

    return status ? fail(solver, status, &cause, error) : GBEES_OK;
}

/* After the measurements that a leg begins with: whether they have selected what is hardly resolved. */
static int check_tail(gbees_solver *solver, const gbees_record *record, gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->leg];
    const gbees_selection selection = {.problem = record->problem,
                                       .before = &solver->before.statistics,
                                       .after = &record->statistics,
                                       .measurements = &solver->problem->measurements[leg->first],
                                       .count = leg->count,
                                       .is_first = solver->updates == leg->count,
                                       .threshold = totals_of(solver).threshold,
                                       .evidence = solver->evidence.total - solver->before.evidence};
    int found = 0, status = gbees_tail_find(&selection, &found, error);

    if (found)
        solver->record_warnings |= GBEES_WARNING_TAIL;
    return status;
}

static int make_record(gbees_solver *solver, int number, gbees_error *error)
{
    gbees_event event = {
        .record = {.problem = gbees_grid_problem(&solver->grid), .leg = solver->leg, .number = number}};
    gbees_record *record = &event.record;
    gbees_error cause = {0};
    int status;

    if (!solver->observer->record)
        return GBEES_OK;
    status = solver->backend->statistics(solver->grid.engine, &solver->clock, &record->statistics, &cause);
    if (status)
        return fail(solver, status, &cause, error);
    solver->record_warnings |= gbees_warnings_record(record->problem, &record->statistics);
    if (number == 0 && solver->leg > 0 && solver->problem->functions) /* an application's backend may need none */
        status = check_tail(solver, record, error);
    if (status)
        return status;
    solver->before.statistics = record->statistics;
    gbees_frame_statistics(record->problem, &record->statistics);
    status = collect(solver, &event, error);
    if (status) {
        free(event.marginals);
        return status;
    }
    record->time = solver->clock.time;
    record->totals = totals_of(solver);
    record->since = ledger_since(&solver->recorded, &record->totals);
    record->warnings = gbees_warnings(solver->problem, &record->totals) | solver->record_warnings;
    solver->recorded = record->totals;
    record->wall_s = now_s() - solver->began_s;
    const gbees_record posted = *record; /* the notifier takes the event */
    status = gbees_notifier_post(solver->notifier, &event, error);
    if (!status && waits_for_audit(solver))
        status = gbees_notifier_finish(solver->notifier, error);
    return status ? status : check_mass(solver, &posted, error);
}

/* "measurement 2 (z) at t = 1": numbers count from 1, as the files measurement1.txt ... do. */
static int fail_update(const gbees_solver *solver, int number, int status, const gbees_error *cause,
                       gbees_error *error)
{
    const gbees_measurement *measurement = &solver->problem->measurements[number - 1];
    const char *name = solver->problem->model->measurements[measurement->function].name;

    if (status != GBEES_EUNSUPPORTED)
        return fail(solver, status, cause, error);
    return gbees_error_set(error, GBEES_EUNSUPPORTED, "measurement %d (%s) at t = %.6g (leg %d, step %llu): %s",
                           number, name, measurement->time, solver->leg, (unsigned long long)totals_of(solver).steps,
                           cause->text);
}

/* Takes the density to a grid of these levels. */
static int change_grid(gbees_solver *solver, const int *level, gbees_error *error)
{
    const double began = now_s();
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error); /* it may still use the grid */

    if (status)
        return status;
    status = gbees_grid_replace(&solver->grid, &solver->clock, level, &cause);
    solver->propagate_s += now_s() - began;
    if (status)
        return fail(solver, status, &cause, error);
    solver->slice = first_slice(solver); /* steps of the new grid may take far longer */
    return GBEES_OK;
}

/* Makes the grid finer if it would not resolve the density after this measurement, and the problem asks for that. */
static int resolve_update(gbees_solver *solver, const gbees_measurement *measurement, gbees_error *error)
{
    const gbees_problem *problem = gbees_grid_problem(&solver->grid);
    const int most = GBEES_REFINE_MOST / 2;
    int level[GBEES_MAX_DIM], finer[GBEES_MAX_DIM];
    gbees_statistics prior;
    gbees_error cause = {0};

    if (!problem->regrid_auto)
        return GBEES_OK;
    const int status = solver->backend->statistics(solver->grid.engine, &solver->clock, &prior, &cause);
    if (status)
        return fail(solver, status, &cause, error);
    if (!gbees_resolve(problem, &prior, measurement, solver->clock.time, gbees_resolve_cells_most(problem), finer))
        return GBEES_OK;
    for (int j = 0; j < problem->dimension; j++) {
        level[j] = solver->grid.level[j] + finer[j];
        level[j] = level[j] < most ? level[j] : most;
    }
    return change_grid(solver, level, error);
}

static int apply_measurement(gbees_solver *solver, int number, gbees_error *error)
{
    const gbees_measurement *measurement = &solver->problem->measurements[number - 1];
    gbees_event event = {.number = number, .time = solver->clock.time};
    gbees_error cause = {0};
    int status = resolve_update(solver, measurement, error);

    if (status)
        return status;
    const double began = now_s(), total = solver->evidence.total;
    status = solver->backend->update(solver->grid.engine, &solver->clock, measurement, &event.evidence, &cause);
    solver->propagate_s += now_s() - began;
    if (status)
        return fail_update(solver, number, status, &cause, error);
    event.evidence.total = total + event.evidence.log_evidence;
    event.evidence.sampled = event.evidence.sampled_error = NAN;
    event.evidence.total_sampled = event.evidence.total_error = NAN;
    solver->evidence = event.evidence;
    solver->updates++;
    return solver->observer->update || solver->observer->audit ? gbees_notifier_post(solver->notifier, &event, error)
                                                               : GBEES_OK;
}

/* Changes the grid if the problem wants another one from now on. */
static int regrid(gbees_solver *solver, gbees_error *error)
{
    const gbees_problem *problem = solver->problem;
    const int *level = NULL;

    /* A record's time may differ in its last digits from what a scenario has. */
    const double now = solver->clock.time + 1e-9 * (problem->end - problem->start);

    for (; solver->regrids < problem->regrid_count && problem->regrids[solver->regrids].time <= now;
         solver->regrids++)
        level = problem->regrids[solver->regrids].level;
    return level ? change_grid(solver, level, error) : GBEES_OK;
}

static int run_leg(gbees_solver *solver, gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->leg];
    const int records = gbees_leg_records(leg, solver->problem->records);
    int status = GBEES_OK;

    solver->clock.leg_step = 0;
    solver->clock.elapsed = solver->clock.length = 0;
    if (keeps_exact_time(solver->problem))
        solver->clock.time = leg->start;
    solver->before.evidence = solver->evidence.total;
    for (int i = 0; !status && i < leg->count; i++)
        status = apply_measurement(solver, leg->first + i + 1, error);
    if (!status)
        status = make_record(solver, 0, error);
    for (int number = 1; !status && number <= records; number++) {
        status = regrid(solver, error);
        if (!status)
            status = advance_interval(solver, (leg->end - leg->start) / records, error);
        if (!status && keeps_exact_time(solver->problem))
            solver->clock.time = gbees_leg_time(leg, records, number);
        if (!status)
            status = make_record(solver, number, error);
    }
    return status;
}

static int run_legs(gbees_solver *solver, gbees_error *error)
{
    int status = GBEES_OK;

    for (solver->leg = 0; !status && solver->leg < solver->schedule->leg_count; solver->leg++) {
        status = check_cancelled(solver, error);
        if (!status)
            status = run_leg(solver, error);
    }
    return status;
}

/* Waits until the observer has received all events, however the run ended. Returns `status` if that is a failure,
 * else the observer's. */
static int finish_notifying(gbees_solver *solver, int status, gbees_error *error)
{
    gbees_error late = {0};
    int late_status = gbees_notifier_finish(solver->notifier, &late);

    gbees_notifier_destroy(solver->notifier);
    solver->notifier = NULL;
    if (solver->observer->audit)
        solver->audit_warnings = gbees_audit_warnings(solver->observer->audit);
    if (solver->observer->audit && solver->updates > 0)
        gbees_audit_evidence(solver->observer->audit, &solver->evidence);
    if (!late_status || (status && status != GBEES_ECANCELLED))
        return status;
    return gbees_error_set(error, (gbees_status)late_status, "%s", late.text);
}

int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error)
{
    const gbees_observer no_observer = {0};
    int status;

    if (solver->ran)
        return gbees_error_set(error, GBEES_EUSAGE, "this solver has run already; create another one");
    solver->ran = 1;
    solver->observer = observer ? observer : &no_observer;
    solver->began_s = now_s();
    status = gbees_notifier_create(solver->problem, solver->backend, solver->observer, &solver->notifier, error);
    if (!status) {
        status = run_legs(solver, error);
        status = finish_notifying(solver, status, error);
    }
    if (!status) {
        solver->next_progress_s = 0; /* the last report is always made */
        status = report_progress(solver, 1.0, error);
    }
    solver->wall_s = now_s() - solver->began_s;
    solver->observer = NULL;
    return status;
}
