/** @file gbees/solver.h
 * A run of a problem on a backend, and the functions that receive its records (core/solver).
 */
#ifndef GBEES_SOLVER_H
#define GBEES_SOLVER_H

#include <gbees/audit.h>
#include <gbees/backend.h>
#include <gbees/checkpoint.h>
#include <gbees/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One run of a problem on a backend. */
typedef struct gbees_solver gbees_solver;

/** Functions that gbees_solver_run() calls; each may be NULL. A non-zero return stops the run: that of `cancelled`
 * with GBEES_ECANCELLED, others with that status and the text that they wrote to error.
 *
 * Records and updates come in their order, one at a time. If `concurrent` is set, a thread of the solver calls
 * `record`, `step`, `update` and `checkpoint` while the run goes on. The caller's thread calls `progress`,
 * `cancelled` and `checkpoint_due`, possibly at the same time, and up to two records ahead. All calls have returned
 * when gbees_solver_run() returns, whatever it returns. */
typedef struct gbees_observer {
    void *context; /**< the first argument of each function */
    /** A record is made. */
    int (*record)(void *context, const gbees_record *record, gbees_error *error);
    /** Measurement `number`, counted from 1, has been applied. */
    int (*update)(void *context, const gbees_problem *problem, int number, double time,
                  const gbees_evidence *evidence, gbees_error *error);
    /** A step has been taken: a record without cells, marginals and certificate, whose `number` is that of the next
     * one. If this is set, steps are taken one by one. Not called while a density is in several modes, whose steps
     * are apart in time. */
    int (*step)(void *context, const gbees_record *record, gbees_error *error);
    /** A few times a second; fraction: the part of the run's model time that is done. */
    int (*progress)(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error);
    /** Polled several times a second; non-zero ends the run. */
    int (*cancelled)(void *context);
    /** Polled as `cancelled` is; non-zero: `checkpoint` is called with the state of now. */
    int (*checkpoint_due)(void *context);
    /** A checkpoint is made, also when the run is cancelled; all records and updates before it have been received.
     * The function may add to it, but not keep it. Never called with a backend that can't save its state, or without
     * memory for it. */
    int (*checkpoint)(void *context, gbees_checkpoint *checkpoint, gbees_error *error);
    int concurrent;      /**< 1: another thread may call record, step and update */
    int marginals;       /**< 1: records have marginals if the backend makes them */
    int no_cells;        /**< 1: records have no cells; an audit sees those of small ones */
    uint64_t cells_most; /**< records of more cells have none; 0: all that `no_cells` lets have them */
    gbees_audit *audit;  /**< of the same problem: records have certificates. NULL: they have none */
} gbees_observer;

/** What a run did and took. */
typedef struct gbees_summary {
    const gbees_problem *problem; /**< that of the run */
    gbees_totals totals;          /**< since the start */
    unsigned warnings;            /**< gbees_warning bits */
    int updates;                  /**< measurements that have been applied */
    gbees_evidence evidence;      /**< of the last of them, if there is one */
    double wall_s;                /**< seconds in gbees_solver_run() */
    double propagate_s;           /**< seconds in steps and updates alone */
} gbees_summary;

/** Makes a solver, and the backend's engine with the initial density. `problem` and `backend` must outlive it.
 * @param options NULL: the defaults
 */
int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error);
/** The same, in the state of a checkpoint of the same problem: gbees_solver_run() goes on from there. GBEES_EINPUT:
 * it is one of another problem, or of another backend. */
int gbees_solver_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_solver **solver, gbees_error *error);
/** On the ranks but 0 of a run with options->parallel, in place of a solver: returns when rank 0's solver is
 * destroyed. Failures are those of rank 0. */
int gbees_solver_serve(const gbees_problem *problem, const gbees_backend *backend,
                       const gbees_engine_options *options, gbees_error *error);
/** Frees the solver and its engine. */
void gbees_solver_destroy(gbees_solver *solver);
/** Runs the problem to its end; a solver runs once. Errors name the time, leg and step.
 * @param observer NULL: none
 */
int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error);
/** The summary so far, also after a failed run. */
void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
