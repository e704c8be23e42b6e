/** @file gbees/refinement.h
 * The search for an accuracy: runs on finer and finer grids until every record is within it (core/accuracy;
 * doc/accuracy.md).
 */
#ifndef GBEES_REFINEMENT_H
#define GBEES_REFINEMENT_H

#include <gbees/checkpoint.h>
#include <gbees/scenario.h>
#include <gbees/solver.h>

GBEES_BEGIN

/** A plan of runs of one problem, each with a finer grid, until the certificate of every record is within the
 * problem's `accuracy`. The calls are, as long as a step has a `next`:
 *
 *     gbees_refinement_create -> (gbees_refinement_scenario -> gbees_problem_create -> gbees_solver_run, whose
 *         observer calls gbees_refinement_record -> gbees_refinement_finish) -> (...) -> ...
 */
typedef struct gbees_refinement gbees_refinement;

enum { GBEES_UNSURE_LISTED = 8 };

/** The result of a run, and the predicted cost of the next one. */
typedef struct gbees_refinement_step {
    int run;         /**< the run's number, counted from 1 */
    int met;         /**< 1: all certificates are within the accuracy; 0: not all; -1: the samples can't tell */
    int best;        /**< 1: the best run so far */
    double error;    /**< largest bound of any record; NAN: the samples can't tell */
    double time;     /**< model time of that record */
    double estimate; /**< largest gbees_refinement_estimate() of the records without a certificate */
    double evidence_estimate; /**< the same kind of estimate for the log evidence of all measurements; NAN: not
                               * needed, as the samples tell it, or no earlier run had wider cells */
    double updates;           /**< cell updates of the run */
    double seconds;           /**< wall-clock time of the run */
    size_t samples;           /**< number of samples of its audit; 0: it had points */
    int unsure; /**< records that so few samples can't certify, and that do not count: a tenth at most */
    double unsure_time[GBEES_UNSURE_LISTED]; /**< model times of the first of them */
    int samples_few; /**< 1: with as few samples as gbees_refinement_fix() was given, or as a run may have, no grid
                      * can be certified */
    size_t samples_needed; /**< number of samples that the accuracy takes */
    int next;              /**< 1: another run is planned */
    double next_updates;   /**< its predicted cell updates */
    double next_seconds;   /**< its predicted wall-clock time */
    double next_bytes;     /**< its predicted memory */
} gbees_refinement_step;

/** Creates a plan for a problem with an `accuracy`. The problem must outlive the plan. */
int gbees_refinement_create(const gbees_problem *problem, gbees_refinement **refinement, gbees_error *error);
/** Frees the plan; NULL is allowed. */
void gbees_refinement_destroy(gbees_refinement *refinement);
/** Tells the plan, before its first run, what samples will be like (gbees_audit_look_out()); it then plans for as
 * many more as measurements leave less effective. */
void gbees_refinement_expect(gbees_refinement *refinement, const gbees_audit_outlook *outlook);
/** Sets the number of samples of all runs' audits, before the first run; otherwise the plan chooses it. */
void gbees_refinement_fix(gbees_refinement *refinement, size_t samples);
/** Sets the samples of the next run's audit: their number at the start, to which it may grow, and which part of the
 * grid's work they may take, a tenth, or as much again where only samples are missing. Returns whether it is to be
 * another audit than that of the run before. */
int gbees_refinement_audit(gbees_refinement *refinement, gbees_audit_options *options);
/** After a first run that has failed with GBEES_EUNSUPPORTED, as no cell of its grid supports a measurement: plans
 * one with cells four times narrower, and a hundredth of its losses, in its place. Returns 1; or 0 after any other
 * failure, of a later run, or for the third time. */
int gbees_refinement_retry(gbees_refinement *refinement, int status);
/** Sets the keys `factor`, `regrid` or, of a grid that moves, `frame_cells`, `extent`, and `mass_budget_total` or
 * `threshold` of a scenario for the next run, and `scheme` if the scenario has none. */
int gbees_refinement_scenario(const gbees_refinement *refinement, gbees_scenario *scenario, gbees_error *error);
/** Estimates the error of a record without a certificate: the largest difference of a mean, in standard deviations,
 * or of a standard deviation, relative, from the previous run on wider cells, scaled on the assumption that the error
 * is proportional to the cells' width. It is no bound. NAN: there is no such run. */
double gbees_refinement_estimate(const gbees_refinement *refinement, const gbees_record *record);
/** Estimates the total variation distance between a record's density and the true one, half the integral of their
 * absolute difference, in bins as wide as the initial standard deviations, from the distance to the previous run as
 * above. It is no bound. It also stores the record's bins for the next run, so it must be called once for each
 * record, before gbees_refinement_record().
 * @param variation receives the estimate; 0: no such run, or one of the records has no cells to compare
 */
int gbees_refinement_variation(gbees_refinement *refinement, const gbees_record *record, double *variation,
                               gbees_error *error);
/** Adds what measurement `number`, counted from 1, of the current run has shown, before the record that follows it:
 * the share of the density that it has selected, whose tail a next run may have to keep. */
int gbees_refinement_update(gbees_refinement *refinement, int number, const gbees_evidence *evidence,
                            gbees_error *error);
/** Adds a record of the current run to the plan's data: its certificate, and its cells if it has some. */
int gbees_refinement_record(gbees_refinement *refinement, const gbees_record *record, gbees_error *error);
/** Ends the current run and plans the next one; sets *step. */
int gbees_refinement_finish(gbees_refinement *refinement, const gbees_summary *summary, gbees_refinement_step *step,
                            gbees_error *error);

GBEES_END
#endif
