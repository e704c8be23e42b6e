/** @file gbees/refinement.h
 * Runs on finer and finer grids, until an accuracy is reached (core/accuracy).
 */
#ifndef GBEES_REFINEMENT_H
#define GBEES_REFINEMENT_H

#include <gbees/scenario.h>
#include <gbees/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Plans runs of one problem, each with a finer grid, until the certificate of every record is within the accuracy
 * that the problem asks for:
 *
 *     gbees_refinement_create -> (gbees_refinement_scenario -> gbees_problem_create -> gbees_solver_run, whose
 *         observer calls gbees_refinement_record -> gbees_refinement_finish) as long as it has a `next`
 */
typedef struct gbees_refinement gbees_refinement;

/** What a run has shown, and what the next one would take. */
typedef struct gbees_refinement_step {
    int run;                  /**< that has ended, counted from 1 */
    int met;                  /**< 1: all certificates are within the accuracy, 0: not all, -1: it can't be told */
    int best;                 /**< 1: no run before was better */
    double error;             /**< the largest bound of a record; NAN: it can't be told */
    double time;              /**< that record's */
    double estimate;          /**< where it can't be told: the largest estimate of such a record, which is no bound */
    double evidence_estimate; /**< the same of the logarithm of all measurements' evidence; NAN: the samples can tell
                               * it, or no run before had wider cells */
    double updates;           /**< cell updates of the run */
    double seconds;           /**< that it took */
    size_t samples;           /**< of its audit */
    int samples_few;          /**< 1: as many as gbees_refinement_fix() has said certify the accuracy on no grid */
    int next;                 /**< 1: another run is planned */
    double next_updates;      /**< that it would take */
    double next_seconds;      /**< that it would take */
    double next_bytes;        /**< of memory that it would take */
} gbees_refinement_step;

/** Makes a plan for a problem with an `accuracy`, which must outlive it. */
int gbees_refinement_create(const gbees_problem *problem, gbees_refinement **refinement, gbees_error *error);
/** Frees it. */
void gbees_refinement_destroy(gbees_refinement *refinement);
/** Has it plan for measurements that leave this share of samples effective (gbees_audit_effective()). */
void gbees_refinement_expect(gbees_refinement *refinement, double share);
/** Has the audits of all runs have so many samples, before the first run. */
void gbees_refinement_fix(gbees_refinement *refinement, size_t samples);
/** How many samples the next run's audit is to have. */
size_t gbees_refinement_samples(const gbees_refinement *refinement);
/** Sets the keys of the next run in a scenario: factor, regrid, extent and mass_budget_total. */
int gbees_refinement_scenario(const gbees_refinement *refinement, gbees_scenario *scenario, gbees_error *error);
/** Estimates the error of a record without a certificate: the largest difference of a mean, in standard deviations,
 * or of a standard deviation, relative, to the run before on coarser cells, for an error in proportion to their
 * width. It is no bound. NAN: there is no such run. */
double gbees_refinement_estimate(const gbees_refinement *refinement, const gbees_record *record);
/** Estimates the total variation between a record's density and the true one, half the integral of the difference, on
 * bins as wide as the initial standard deviations: the distance to the run before on coarser cells, for an error in
 * proportion to their width. It is no bound. Keeps what the next run needs. Called once for a record, before
 * gbees_refinement_record().
 * @param variation receives it; 0: there is no such run, or it has no cells that can be compared
 */
int gbees_refinement_variation(gbees_refinement *refinement, const gbees_record *record, double *variation,
                               gbees_error *error);
/** Takes a record of the run, with its certificate and, as far as there are, its cells. */
int gbees_refinement_record(gbees_refinement *refinement, const gbees_record *record, gbees_error *error);
/** Ends a run and plans the next. */
int gbees_refinement_finish(gbees_refinement *refinement, const gbees_summary *summary, gbees_refinement_step *step,
                            gbees_error *error);

#ifdef __cplusplus
}
#endif
#endif
