/* run.h - the solver's private struct, and functions that drive a run: solver.c calls records.c and updates.c, which
 * call run.c. */
#ifndef GBEES_SOLVER_RUN_RUN_H
#define GBEES_SOLVER_RUN_RUN_H

#include "base/rough_times.h"
#include "notifier.h"
#include "solver/grid/grid_state.h"
#include "solver/grid/moving.h"
#include "solver/grid/regrid.h"
#include "solver/problem/schedule.h"
#include <gbees/gbees.h>

/* Where a run stands, as plain data: a checkpoint has it as it is. */
typedef struct gbees_solver_state {
    gbees_grid_state grid; /* of a checkpoint */
    gbees_moving moving;   /* of a grid that moves */
    gbees_clock clock;
    gbees_totals recorded;                         /* at the last record */
    gbees_target_state targets[GBEES_MAX_TARGETS]; /* at the last record, */
    double targets_time;                           /* whose time this is */
    double entered_before[GBEES_MAX_TARGETS];      /* gbees_totals.mass_entered at the last update */
    gbees_statistics statistics;                   /* of the last record, in the grid's axes */
    gbees_evidence evidence;                       /* of the last update */
    double evidence_before;     /* log of the evidence of all updates before the leg's measurements */
    double wall_s, propagate_s; /* including the time before the run was resumed */
    int leg;
    int number;  /* of the next record; 0: the leg has not begun */
    int regrids; /* how many of the problem's regrids have been done */
    int updates;
    int jumps;                /* instants whose jumps the density has made */
    unsigned record_warnings; /* of all records so far */
} gbees_solver_state;

struct gbees_solver {
    const gbees_problem *problem;
    const gbees_backend *backend;
    gbees_grid grid; /* has the engine */
    gbees_solver_state now;
    uint64_t slice; /* steps of the next call to the backend; 0: not known */
    gbees_schedule *schedule;
    gbees_rough_times rough;        /* of the interval: its steps end there */
    const gbees_parallel *parallel; /* the ranks that serve this solver; NULL: none */
    int ran;
    int smoothed; /* the run goes through its records once more, given all measurements */
    int resumed;  /* the run goes on within the interval before that record */
    const gbees_observer *observer;
    gbees_notifier *notifier;
    unsigned audit_warnings; /* of all records so far */
    double began_s, next_progress_s;
    int escape_checked; /* whether gbees_audit_escape() has been called */
};

/* What the run has done since its start. */
gbees_totals gbees_run_totals(const gbees_solver *solver);
/* Adds the time, the leg and the step to a backend's error. */
int gbees_run_fail(const gbees_solver *solver, int status, const gbees_error *cause, gbees_error *error);

/* ---- solver.c ---- */
/* A solver without an engine, whose other ranks wait for what gbees_next_grid_send_first() and its like tell. */
int gbees_run_make(const gbees_problem *problem, const gbees_backend *backend, const gbees_engine_options *options,
                   gbees_solver **solver, gbees_error *error);
/* The options of the run's engine; `backend` as given to gbees_run_make(). */
gbees_engine_options gbees_run_options(gbees_solver *solver, const gbees_backend *backend,
                                       const gbees_engine_options *options);
/* Begins to tell an observer, which must outlive the run; NULL: none. */
int gbees_run_begin(gbees_solver *solver, const gbees_observer *observer, gbees_error *error);
/* Waits until the observer has received all. To be called after a failure, too, whose status is `status`; returns
 * that, or that of an observer who has failed. */
int gbees_run_end(gbees_solver *solver, int status, gbees_error *error);
/* Applies the jumps and the measurements that a leg begins with, and makes its first record. */
int gbees_run_begin_leg(gbees_solver *solver, gbees_error *error);
/* Advances by `length` to `time`, and makes the record there. */
int gbees_run_go_on(gbees_solver *solver, double length, double time, gbees_error *error);
/* Goes through all legs once more, with the density at each record given all measurements. */
int gbees_run_smooth(gbees_solver *solver, gbees_error *error);

/* ---- slice.c ---- */
/* Advances by a slice, some tenths of a second, so that a cancellation is noticed soon. */
int gbees_run_slice(gbees_solver *solver, gbees_error *error);

/* ---- */
/* Makes record `number` of the leg, and posts it to the observer. */
int gbees_run_record(gbees_solver *solver, int number, gbees_error *error);
/* targets.c: whether the backend and the ranks can do what the targets ask for. */
int gbees_run_check_targets(const gbees_problem *problem, const gbees_backend *backend,
                            const gbees_engine_options *options, gbees_error *error);
/* targets.c: sets what a record says of the problem's targets, at the clock's time. */
int gbees_run_targets(gbees_solver *solver, gbees_record *record, gbees_error *error);
/* wells.c: at the run's last record, warns where more has been lost than a tenth of what is beyond a saddle. */
int gbees_run_wells(gbees_solver *solver, const gbees_record *record, gbees_error *error);
/* Posts the moments of now to an observer of steps. */
int gbees_run_step(gbees_solver *solver, gbees_error *error);
/* Applies measurement `number`, counted from 1, on a finer grid if the problem asks for one that resolves it. */
int gbees_run_update(gbees_solver *solver, int number, gbees_error *error);
/* Takes the density through those jumps of its leg that it has not made. */
int gbees_run_jumps(gbees_solver *solver, gbees_error *error);
/* ---- checkpoint.c ---- */
/* Makes a checkpoint, and posts it to the observer. Without memory for a copy of the state the steps wait until it
 * has been written. */
int gbees_run_checkpoint(gbees_solver *solver, gbees_error *error);
/* Passes the run's state to a sink. */
int gbees_run_pass(gbees_solver *solver, gbees_state_sink *sink, void *to, gbees_error *error);
/* Copies the run's state. *copy is NULL without memory; the caller clears and frees it. */
int gbees_run_copy(gbees_solver *solver, gbees_checkpoint **copy, gbees_error *error);
/* Clears and frees a copy; NULL is allowed. */
void gbees_run_drop(gbees_checkpoint *copy);
/* Copies the state before a call that may be cancelled half way. NULL: it can't be, or not copied. */
gbees_checkpoint *gbees_run_keep(gbees_solver *solver);
/* Posts the copy to the observer if the call was cancelled, else frees it; returns the call's status. */
int gbees_run_release(gbees_solver *solver, gbees_checkpoint *kept, int status);
/* Makes the engine, and sets the solver to the state of a checkpoint. */
int gbees_run_load(gbees_solver *solver, const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                   gbees_error *error);
/* Takes the density to a grid of these levels. */
int gbees_run_change_grid(gbees_solver *solver, const int *level, gbees_error *error);

#endif
