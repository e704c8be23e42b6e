/* solver.c - drives a backend through a problem: legs, updates, records. See gbees/solver.h. */
#include "base/seconds.h"
#include "base/time_tolerance.h"
#include "lagrangian/engine.h"
#include "record/equations.h"
#include "record/warnings.h"
#include "run.h"
#include "solver/grid/next_grid.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRESS_S 0.2
#define ESCAPE_S 1

const gbees_backend *gbees_solver_backend(const gbees_problem *problem, const gbees_backend *backend)
{
    return problem->own_backend ? problem->own_backend : backend;
}

const char *gbees_solver_wants(const gbees_problem *problem)
{
    return problem->numerics.mode == GBEES_MODE_DEFAULT ? NULL : "paper";
}

int gbees_solver_accepts(const gbees_problem *problem, const gbees_backend *backend, gbees_error *error)
{
    static const char *const modes[] = {"default", "paper", "legacy"};
    const int wants_paper = gbees_solver_wants(problem) != NULL;

    if (wants_paper == (strcmp(backend->name, "paper") == 0))
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EUSAGE, "the backend '%s' has no 'mode: %s': leave --backend out, or give %s",
                           backend->name, modes[problem->numerics.mode],
                           wants_paper ? "--backend paper" : "'mode: paper'");
}

const gbees_backend *gbees_solver_points(void)
{
    return &gbees_lagrangian_backend;
}

/* Whether the run is to end: asked within long calls to the backend. */
static int is_cancelled(void *context)
{
    const gbees_observer *observer = ((const gbees_solver *)context)->observer;

    return observer && observer->cancelled && observer->cancelled(observer->context);
}

gbees_engine_options gbees_run_options(gbees_solver *solver, const gbees_backend *backend,
                                       const gbees_engine_options *options)
{
    gbees_engine_options all = options ? *options : (gbees_engine_options){0};

    all.lender = solver->backend != backend ? backend : NULL;
    all.cancelled = is_cancelled;
    all.cancelled_context = solver;
    return all;
}

/* A solver without an engine. */
static int make(const gbees_problem *problem, const gbees_backend *backend, gbees_solver **solver, gbees_error *error)
{
    gbees_solver *made = calloc(1, sizeof *made);
    int status;

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a solver");
    made->problem = problem;
    made->backend = gbees_solver_backend(problem, backend);
    made->now.clock.time = problem->start;
    status = gbees_solver_accepts(problem, backend, error);
    if (!status)
        status = gbees_equations_check(problem, error);
    if (!status)
        status = gbees_schedule_create(problem, &made->schedule, error);
    if (status)
        gbees_solver_destroy(made);
    else
        *solver = made;
    return status;
}

/* Sets *solver if `status` says that its engine has been made, else destroys it. Returns `status`. */
static int hand_out(gbees_solver *made, int status, gbees_solver **solver)
{
    if (status)
        gbees_solver_destroy(made);
    else
        *solver = made;
    return status;
}

/* Whether the backend can do what the options ask for. */
static int check_ranks(const gbees_problem *problem, const gbees_backend *backend,
                       const gbees_engine_options *options, gbees_error *error)
{
    const int status = gbees_run_check_targets(problem, backend, options, error);

    if (status)
        return status;
    if (!options || !options->parallel || backend->serve)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_EUSAGE,
                           "several ranks can't share a density of the backend '%s' (%s): run it without mpirun, or "
                           "give '%s'",
                           backend->name, backend->title, backend->exact ? "frame: fixed" : "mode: default");
}

int gbees_solver_serve(const gbees_problem *problem, const gbees_backend *backend,
                       const gbees_engine_options *options, gbees_error *error)
{
    int status = gbees_equations_check(problem, error);

    if (!status)
        status = check_ranks(problem, gbees_solver_backend(problem, backend), options, error);
    if (status)
        return status;
    /* The run may go on for a failure of a grid: rank 0 tells when it has ended. */
    for (;;) {
        gbees_problem *changed = NULL;
        int is_first = 0;
        const int received = gbees_next_grid_receive(options->parallel, problem, &changed, &is_first, error);

        if (!received && !changed && !is_first)
            return status;
        status = received ? received : backend->serve(is_first ? problem : changed, options, error);
        gbees_grid_free_problem(changed);
    }
}

int gbees_run_make(const gbees_problem *problem, const gbees_backend *backend, const gbees_engine_options *options,
                   gbees_solver **solver, gbees_error *error)
{
    int status = make(problem, backend, solver, error);

    if (status)
        return status;
    status = check_ranks(problem, (*solver)->backend, options, error);
    if (status)
        gbees_solver_destroy(*solver);
    else if (options)
        (*solver)->parallel = options->parallel;
    return status;
}

int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error)
{
    gbees_solver *made = NULL;
    int status = gbees_run_make(problem, backend, options, &made, error);

    if (status)
        return status;
    if (made->parallel)
        gbees_next_grid_send_first(made->parallel);
    const gbees_engine_options all = gbees_run_options(made, backend, options);
    made->grid = (gbees_grid){.backend = made->backend, .options = all, .problem = problem};
    status = gbees_grid_open(&made->grid, error);
    if (!status && problem->moving)
        status = gbees_moving_start(&made->now.moving, &made->grid, error);
    made->now.record_warnings = gbees_warnings(problem, NULL);
    return hand_out(made, status, solver);
}

int gbees_solver_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_solver **solver, gbees_error *error)
{
    gbees_solver *made = NULL;
    const int status = gbees_run_make(problem, backend, options, &made, error);

    if (status)
        return status;
    const gbees_engine_options all = gbees_run_options(made, backend, options);
    return hand_out(made, gbees_run_load(made, &all, checkpoint, error), solver);
}

void gbees_solver_destroy(gbees_solver *solver)
{
    if (!solver)
        return;
    gbees_grid_close(&solver->grid);
    if (solver->parallel)
        gbees_next_grid_send_end(solver->parallel);
    gbees_schedule_destroy(solver->schedule);
    gbees_rough_times_clear(&solver->rough);
    free(solver);
}

/* Sets the totals of each rank, where ranks share a grid. */
static void list_ranks(const gbees_solver *solver, gbees_summary *summary)
{
    const gbees_engine *engine = solver->grid.engine;
    const int ranks = summary->totals.ranks;

    if (ranks == 0 || !engine || !solver->backend->rank_totals)
        return;
    summary->ranks_listed = ranks < GBEES_RANKS_LISTED ? ranks : GBEES_RANKS_LISTED;
    solver->backend->rank_totals(engine, summary->ranks_listed, summary->rank);
}

void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary)
{
    *summary = (gbees_summary){.problem = solver->problem,
                               .totals = gbees_run_totals(solver),
                               .updates = solver->now.updates,
                               .evidence = solver->now.evidence,
                               .wall_s = solver->now.wall_s,
                               .propagate_s = solver->now.propagate_s};
    summary->warnings =
        gbees_warnings(solver->problem, &summary->totals) | solver->now.record_warnings | solver->audit_warnings;
    list_ranks(solver, summary);
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
    const double done = length > 0 ? (solver->now.clock.time - solver->problem->start) / length : 1.0;

    return done < 0 ? 0 : done > 1 ? 1 : done;
}

static int report_progress(gbees_solver *solver, double fraction, gbees_error *error)
{
    const gbees_observer *observer = solver->observer;
    const double now = gbees_seconds_now();

    if (!observer->progress || now < solver->next_progress_s)
        return GBEES_OK;
    solver->next_progress_s = now + PROGRESS_S;

    const gbees_totals totals = gbees_run_totals(solver);
    return observer->progress(observer->context, solver->now.clock.time, fraction, &totals, error);
}

/* Makes a checkpoint if one is due or the observer has cancelled the run. Returns GBEES_ECANCELLED if it has. */
static int check_cancelled(gbees_solver *solver, gbees_error *error)
{
    const gbees_observer *observer = solver->observer;
    const int cancelled = observer->cancelled && observer->cancelled(observer->context);
    const int due =
        solver->smoothed ? 0 : cancelled || (observer->checkpoint_due && observer->checkpoint_due(observer->context));
    int status = due ? gbees_run_checkpoint(solver, error) : GBEES_OK;

    if (status || !cancelled)
        return status;
    return gbees_error_set(error, GBEES_ECANCELLED, "stopped at t = %.6g (leg %d, step %llu)", solver->now.clock.time,
                           solver->now.leg, (unsigned long long)gbees_run_totals(solver).steps);
}

/* After a second, once: whether the run can come to its end at all. */
static int check_escape(gbees_solver *solver, gbees_error *error)
{
    if (solver->backend->exact || solver->escape_checked || gbees_seconds_now() - solver->began_s < ESCAPE_S)
        return GBEES_OK;
    solver->escape_checked = 1;
    return gbees_audit_escape(solver->problem, error);
}

/* Points of the initial density, in the model's axes, and its spread: the mean, and on either side of it. */
static void choose_points(const gbees_problem *problem, double x[][GBEES_ROUGH_POINTS], double *scale)
{
    const int n = problem->dimension;

    for (int i = 0; i < GBEES_ROUGH_POINTS; i++) {
        double y[GBEES_MAX_DIM], at[GBEES_MAX_DIM];

        for (int j = 0; j < n; j++) {
            const double off = sqrt(problem->covariance[j * n + j]);

            y[j] = problem->mean[j] + (i == 0 ? 0 : i == 1 || (i + j) % 2 ? off : -off);
        }
        gbees_problem_point(problem, y, at);
        for (int j = 0; j < n; j++)
            x[j][i] = at[j];
    }
    for (int j = 0; j < n; j++) {
        double square = problem->rotated ? 0 : problem->covariance[j * n + j];

        for (int k = 0; k < n && problem->rotated; k++)
            square += pow(problem->rotation[j * n + k], 2) * problem->covariance[k * n + k];
        scale[j] = sqrt(square);
    }
}

/* Finds the times from `from` to `to` at which the equations change fast, at points of the initial density: a run
 * that is resumed finds the same. Points that go with the flow look by themselves. */
static int find_rough_times(gbees_solver *solver, double from, double to, gbees_error *error)
{
    double x[GBEES_MAX_DIM][GBEES_ROUGH_POINTS];
    gbees_rough_look look = {.problem = solver->problem, .from = from, .to = to, .points = GBEES_ROUGH_POINTS};

    solver->rough.count = 0;
    if (solver->backend->exact || !keeps_exact_time(solver->problem))
        return GBEES_OK;
    choose_points(solver->problem, x, look.scale);
    for (int j = 0; j < solver->problem->dimension; j++)
        look.x[j] = x[j];
    return gbees_rough_times_find(&look, &solver->rough, error);
}

/* Takes a slice of steps towards the next rough time or the interval's end. */
static int take_slice(gbees_solver *solver, double begin, double length, gbees_error *error)
{
    gbees_checkpoint *kept = gbees_run_keep(solver);

    solver->now.clock.length = gbees_rough_times_next(&solver->rough, begin, solver->now.clock.elapsed, length);
    return gbees_run_release(solver, kept, gbees_run_slice(solver, error));
}

/* Advances by `length` units of time, from one record to the next, which is at `end`. */
static int advance_interval(gbees_solver *solver, double length, double end, gbees_error *error)
{
    int status = find_rough_times(solver, end - length, end, error);

    if (!solver->resumed)
        solver->now.clock.elapsed = 0;
    solver->resumed = 0;
    while (!status && solver->now.clock.elapsed < length) {
        status = check_cancelled(solver, error);
        if (!status)
            status = gbees_notifier_status(solver->notifier, error);
        if (!status)
            status = take_slice(solver, end - length, length, error);
        if (!status)
            status = check_escape(solver, error);
        if (!status && solver->observer->step)
            status = gbees_run_step(solver, error);
        if (!status)
            status = report_progress(solver, fraction_done(solver), error);
    }
    return status;
}

/* Changes the grid if the problem wants another one from now on. */
static int regrid(gbees_solver *solver, gbees_error *error)
{
    const gbees_problem *problem = solver->problem;
    const int *level = NULL;
    const double now = solver->now.clock.time + gbees_time_tolerance(problem->start, problem->end);

    for (; solver->now.regrids < problem->regrid_count && problem->regrids[solver->now.regrids].time <= now;
         solver->now.regrids++)
        level = problem->regrids[solver->now.regrids].level;
    return level ? gbees_run_change_grid(solver, level, error) : GBEES_OK;
}

int gbees_run_begin_leg(gbees_solver *solver, gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->now.leg];
    int status = GBEES_OK;

    solver->now.clock.leg_step = 0;
    solver->now.clock.elapsed = solver->now.clock.length = 0;
    if (keeps_exact_time(solver->problem))
        solver->now.clock.time = leg->start;
    solver->now.evidence_before = solver->now.evidence.total;
    status = gbees_run_jumps(solver, error);
    for (int i = 0; !status && i < leg->count && !solver->smoothed; i++) {
        gbees_checkpoint *kept = i == 0 ? gbees_run_keep(solver) : NULL; /* a run goes on with the leg's first */

        status = gbees_run_release(solver, kept, gbees_run_update(solver, leg->first + i + 1, error));
        /* A grid is as it was before the call: the run goes on with the leg. */
        if (status == GBEES_ECANCELLED && i == 0 && !kept && !solver->problem->moving &&
            !solver->problem->regrid_auto)
            (void)gbees_run_checkpoint(solver, NULL);
    }
    if (!status)
        status = gbees_run_record(solver, 0, error);
    if (!status)
        solver->now.number = 1;
    return status;
}

int gbees_run_go_on(gbees_solver *solver, double length, double time, gbees_error *error)
{
    int status = solver->resumed ? GBEES_OK : regrid(solver, error);

    if (!status)
        status = advance_interval(solver, length, time, error);
    if (!status && keeps_exact_time(solver->problem))
        solver->now.clock.time = time;
    if (!status)
        status = gbees_run_record(solver, solver->now.number, error);
    solver->now.number += !status;
    return status;
}

/* Runs a leg, or what is left of it when the run is resumed. */
static int run_leg(gbees_solver *solver, gbees_error *error)
{
    const gbees_leg *leg = &solver->schedule->legs[solver->now.leg];
    const int records = gbees_leg_records(leg, solver->problem->records);
    int status = solver->now.number == 0 ? gbees_run_begin_leg(solver, error) : GBEES_OK;

    while (!status && solver->now.number <= records)
        status = gbees_run_go_on(solver, (leg->end - leg->start) / records,
                                 gbees_leg_time(leg, records, solver->now.number), error);
    if (!status)
        solver->now.number = 0;
    return status;
}

static int run_legs(gbees_solver *solver, gbees_error *error)
{
    int status = GBEES_OK;

    for (; !status && solver->now.leg < solver->schedule->leg_count; solver->now.leg++) {
        status = solver->resumed ? GBEES_OK : check_cancelled(solver, error);
        if (!status)
            status = run_leg(solver, error);
    }
    return status;
}

int gbees_run_smooth(gbees_solver *solver, gbees_error *error)
{
    gbees_error cause = {0};
    int status = gbees_notifier_finish(solver->notifier, error);

    if (status)
        return status;
    status = solver->backend->rewind(solver->grid.engine, &cause);
    if (status)
        return gbees_run_fail(solver, status, &cause, error);
    solver->smoothed = 1;
    solver->now.leg = solver->now.number = solver->now.jumps = 0;
    solver->now.clock = (gbees_clock){.time = gbees_problem_initial_time(solver->problem)};
    return run_legs(solver, error);
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
    if (solver->observer->audit && solver->now.updates > 0)
        gbees_audit_evidence(solver->observer->audit, &solver->now.evidence);
    if (!late_status || (status && status != GBEES_ECANCELLED))
        return status;
    return gbees_error_set(error, (gbees_status)late_status, "%s", late.text);
}

int gbees_run_begin(gbees_solver *solver, const gbees_observer *observer, gbees_error *error)
{
    static const gbees_observer no_observer = {0};

    solver->observer = observer ? observer : &no_observer;
    solver->began_s = gbees_seconds_now() - solver->now.wall_s;
    return gbees_notifier_create(solver->problem, solver->backend, solver->observer, &solver->notifier, error);
}

int gbees_run_end(gbees_solver *solver, int status, gbees_error *error)
{
    if (solver->notifier)
        status = finish_notifying(solver, status, error);
    if (!status) {
        solver->next_progress_s = 0; /* the last report is always made */
        status = report_progress(solver, 1.0, error);
    }
    solver->now.wall_s = gbees_seconds_now() - solver->began_s;
    solver->observer = NULL;
    return status;
}

int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error)
{
    if (solver->ran)
        return gbees_error_set(error, GBEES_EUSAGE, "this solver has run already; create another one");
    solver->ran = 1;
    int status = gbees_run_begin(solver, observer, error);
    if (!status)
        status = run_legs(solver, error);
    if (!status && solver->problem->smooth && solver->observer->smoothed)
        status = gbees_run_smooth(solver, error);
    return gbees_run_end(solver, status, error);
}
