/** @file gbees/solver.h
 * A run of a problem on a backend, and the functions that receive its records (core/solver/run).
 */
#ifndef GBEES_SOLVER_H
#define GBEES_SOLVER_H

#include <gbees/audit.h>
#include <gbees/backend.h>
#include <gbees/checkpoint.h>
#include <gbees/record.h>

GBEES_BEGIN

/** One run of a problem on a backend. */
typedef struct gbees_solver gbees_solver;

/** Functions that gbees_solver_run() calls; each may be NULL. A non-zero return stops the run: `cancelled` with
 * GBEES_ECANCELLED, the others with the status that they return and the text that they have written to *error.
 *
 * `record`, `step`, `update`, `jump` and `checkpoint` are called one at a time, in the order of the events. If
 * `concurrent` is set, a thread of the solver calls them while the run continues, up to two records behind; meanwhile
 * another one has `audit` compare the next record, so that these functions must not use it; `idle` is called by that
 * thread while there is no event, also within a step that takes long. The caller's thread calls
 * `progress`, `cancelled` and `checkpoint_due`, possibly at the same time. All calls have returned when
 * gbees_solver_run() returns, also after an error. */
typedef struct gbees_observer {
    void *context; /**< the first argument of each function */
    /** Receives a record, which is valid during the call. */
    int (*record)(void *context, const gbees_record *record, gbees_error *error);
    /** Receives each record once more at the end of a run with problem->smooth: the density at its time given all
     * measurements, also later ones. */
    int (*smoothed)(void *context, const gbees_record *record, gbees_error *error);
    /** Called after measurement `number`, counted from 1, has been applied at model time `time`. */
    int (*update)(void *context, const gbees_problem *problem, int number, double time,
                  const gbees_evidence *evidence, gbees_error *error);
    /** Called after the jump of instant `number`, counted from 1, has been applied at model time `time`. */
    int (*jump)(void *context, const gbees_problem *problem, int number, double time, gbees_error *error);
    /** Receives, after a step, a record without cells, marginals and certificate, whose `number` is that of the next
     * one. If this is set, steps are taken one by one. */
    int (*step)(void *context, const gbees_record *record, gbees_error *error);
    /** Called a few times a second. fraction: how much of the run's model time is done, 0 to 1. */
    int (*progress)(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error);
    /** Called about twice a second while there are no events, if `concurrent` is set: e.g. to write what is not yet on
     * disk. Calls of the functions above may come at the same time if the cells of a record are fetched piece by piece. */
    int (*idle)(void *context, gbees_error *error);
    /** Polled several times a second; non-zero ends the run. */
    int (*cancelled)(void *context);
    /** Polled as often; non-zero: `checkpoint` is called with the current state. */
    int (*checkpoint_due)(void *context);
    /** Receives a checkpoint, after all records and updates before it. It is called when one is due, and when the run
     * is cancelled; not if the backend can't save its state. The function may add to the checkpoint; it is valid
     * during the call. Without memory for a copy of the state it is called while the run waits, and
     * gbees_writer_checkpoint() reads the state from the engine. */
    int (*checkpoint)(void *context, gbees_checkpoint *checkpoint, gbees_error *error);
    int concurrent;         /**< 1: a thread of the solver may call record, step, update and checkpoint */
    int marginals;          /**< 1: records have marginals if the backend computes them */
    int no_cells;           /**< 1: records have no cells; the audit still sees those of small records */
    uint64_t cells_most;    /**< records with more cells than this have none; 0: no such limit */
    gbees_audit *audit;     /**< an audit of the same problem, which certifies the records; NULL: no certificates */
    uint64_t cells_at_once; /**< cells of a record that are in memory together, about: more are fetched slab by slab,
                             * while the run waits (gbees_cells_hold()); 0: all are in memory, always */
} gbees_observer;

enum { GBEES_RANKS_LISTED = 256 /**< ranks of which a summary has totals, at most */ };

/** Totals and times of a run. */
typedef struct gbees_summary {
    const gbees_problem *problem; /**< as given to gbees_solver_create() */
    gbees_totals totals;          /**< since the start */
    unsigned warnings;            /**< gbees_warning bits */
    int updates;                  /**< number of measurements that have been applied */
    gbees_evidence evidence;      /**< of the last of them, if there is one */
    double wall_s;                /**< wall-clock time in gbees_solver_run(), in seconds */
    double propagate_s;           /**< the part of it in steps and updates, in seconds */
    int ranks_listed;             /**< ranks that share the grid, at most GBEES_RANKS_LISTED; 0: one process has it */
    gbees_rank_totals rank[GBEES_RANKS_LISTED]; /**< of each, on the last grid */
} gbees_summary;

/** Returns the backend that a run of the problem has: `backend`; or, for points that go with the flow, one of the
 * library's own, to which `backend` lends what it has. */
const gbees_backend *gbees_solver_backend(const gbees_problem *problem, const gbees_backend *backend);

/** Returns the name of the backend that a problem is for: 'paper' of the modes paper and legacy. NULL: any. */
const char *gbees_solver_wants(const gbees_problem *problem);
/** GBEES_EUSAGE: the backend does not compute the problem's mode. */
int gbees_solver_accepts(const gbees_problem *problem, const gbees_backend *backend, gbees_error *error);

/** Returns the backend of points that go with the flow, for gbees_audit_options. */
const gbees_backend *gbees_solver_points(void);

/** Creates a solver, and the backend's engine with the initial density. `problem` and `backend` must outlive it.
 * @param options NULL: the defaults
 */
int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error);
/** Creates a solver in the state of a checkpoint of the same problem, from which gbees_solver_run() continues.
 * GBEES_EINPUT: the checkpoint is of another problem, or of a backend whose states this one can't load. */
int gbees_solver_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_solver **solver, gbees_error *error);
/** Called in place of the functions above on all ranks but 0 of a run with options->parallel. Returns when rank 0's
 * solver is destroyed, with rank 0's status. */
int gbees_solver_serve(const gbees_problem *problem, const gbees_backend *backend,
                       const gbees_engine_options *options, gbees_error *error);
/** Frees the solver and its engine; NULL is allowed. */
void gbees_solver_destroy(gbees_solver *solver);
/** Runs the problem to its end. A solver runs once. The text of an error names the time, the leg and the step.
 * @param observer NULL: none
 */
int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error);
/** Sets *summary to the totals so far; also after a failed run. */
void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary);

GBEES_END
#endif
