/** @file gbees/audit.h
 * An audit: points that go with the flow, or Monte Carlo samples of the model's equations, beside a run, that bound
 * the error of its records (core/audit; doc/accuracy.md, "Certificates").
 */
#ifndef GBEES_AUDIT_H
#define GBEES_AUDIT_H

#include <gbees/backend.h>
#include <gbees/checkpoint.h>
#include <gbees/record.h>

GBEES_BEGIN

/** An audit of a run: points on lattices (gbees_audit_options.points) or samples with weights, of the initial
 * density, integrated by the model's equations, weighted by the likelihood at each update, and compared with each
 * record. */
typedef struct gbees_audit gbees_audit;

/** How to audit. */
typedef struct gbees_audit_options {
    size_t samples; /**< number of samples, at least 128. 0: it starts at 10,000, and `share` may double it */
    size_t most;    /**< the number of samples to which `share` may double it; 0: it stays if `samples` is given, else
                     * about four million */
    double share;   /**< the largest ratio of the audit's work to the run's. At a record the number of samples is
                     * doubled if, with twice as many, 3 * (sample steps), with noise 6, would still be at most share *
                     * (cell updates of the run so far). 0: the number stays */
    uint64_t seed;  /**< of the random numbers; the same seed gives the same samples */
    int threads;    /**< threads to integrate with; 0: OMP_NUM_THREADS, or as many as the machine has. Results do not
                       depend on it */
    int keep;       /**< 1: keep the samples of each record in memory, for gbees_audit_rewind() */
    int (*cancelled)(void *context); /**< whether to stop within an integration, called by any thread; NULL: never.
                                      * The records that follow are then without a certificate */
    void *context;                   /**< passed to it */
    const gbees_backend *backend; /**< integrates large numbers of samples if it can (integrator_create); must outlive
                                   * the audit. NULL: the threads integrate all */
    const gbees_backend *points;  /**< gbees_solver_points(): where there is no process noise, records are compared
                                   * with points on lattices in place of samples, unless these fail or would cost much
                                   * more than the run. NULL: always with samples */
} gbees_audit_options;

/** Creates an audit with samples drawn from the problem's initial density. They are drawn from the whole of it, also
 * from the part outside of the initial grid, so that certificates tell what the grid cuts off.
 * @param problem must outlive the audit
 */
int gbees_audit_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_audit **audit,
                       gbees_error *error);
/** What samples will cost, and be worth. */
typedef struct gbees_audit_outlook {
    double effective; /**< of the samples' number, (sum w)^2 / sum w^2 with the weights w after the measurements of a
                       * time: nine tenths of the times leave more than this; 1 without measurements */
    double steps;     /**< of each sample, over the run, and what records and updates cost, in steps; 0: not known */
} gbees_audit_outlook;
/** Estimates, with 10,000 samples (a tenth without measurements), what an audit with samples will be like; samples
 * and their growth are not asked of *options. */
int gbees_audit_look_out(const gbees_problem *problem, const gbees_audit_options *options,
                         gbees_audit_outlook *outlook, gbees_error *error);
/** Refuses, with GBEES_ENUMERIC, a problem whose drift leaves every bound in finite time, as x' = x^2 does: by the
 * way of 128 samples most of the initial density, before the first measurement or the end. It takes milliseconds. A
 * run that lasts calls it. A problem with a bound, and a failure, say that it does not. */
int gbees_audit_escape(const gbees_problem *problem, gbees_error *error);
/** Looks for another place than that of a state where the drift comes to rest without noise, as the second well of
 * two, along each axis up to 32 standard deviations away. The drift must not depend on time.
 * @param from a state in the model's axes, such as the density's peak
 * @param spread standard deviations along the axes
 * @param here receives where the state comes to rest
 * @param there receives the other place; of several that which is nearest in standard deviations
 * @return whether there is one
 */
int gbees_audit_wells(const gbees_problem *problem, const double *from, const double *spread, double *here,
                      double *there);
/** Frees the audit; NULL is allowed. */
void gbees_audit_destroy(gbees_audit *audit);
/** Integrates the samples to the time of a record, which is not before that of the last one, and compares the record
 * with them. Only the moments of a record without cells or marginals are compared. If the samples can't tell, because
 * one is not finite or none fits a measurement, the certificate says so and the call succeeds. GBEES_ENOMEM is the
 * only failure. */
int gbees_audit_record(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                       gbees_error *error);
/** Sets the bounds of the targets' probabilities at the last record: how far they are from what the points or samples
 * have, and the error of that. NAN: unknown. */
void gbees_audit_targets(gbees_audit *audit, const gbees_problem *problem, gbees_target_state *state);
/** Returns a thousand samples of equal weight at the last record, drawn from the audit's by their weights, so that a
 * heavy one occurs more than once. The audit owns the list, which is valid until the next record. NULL: none. */
const gbees_sample_list *gbees_audit_samples(gbees_audit *audit);
/** Prepares the audit for another run of the same equations on another grid: the next record is that run's first. At
 * times of which the samples were kept they are not integrated again. */
void gbees_audit_rewind(gbees_audit *audit);
/** Multiplies the samples' weights by the likelihood of measurement `number` of the problem, counted from 1, which
 * must be the next one. Sets sampled, sampled_error, total_sampled and total_error of *evidence; log_evidence and
 * total, which the caller has set, are compared with them (gbees_audit_warnings()). */
void gbees_audit_update(gbees_audit *audit, int number, gbees_evidence *evidence);
/** Passes the audit's state to the sink of a checkpoint, without the samples kept of earlier records (options.keep).
 */
int gbees_audit_save(const gbees_audit *audit, gbees_state_sink *sink, void *to, gbees_error *error);
/** Sets an audit that gbees_audit_create() has made for the same problem to the state in a checkpoint. GBEES_EINPUT:
 * the checkpoint has no such state. */
int gbees_audit_load(gbees_audit *audit, const gbees_checkpoint *checkpoint, gbees_error *error);
/** Sets total_sampled and total_error of *evidence: the logarithm of the evidence of all measurements so far by the
 * samples, and its standard error. */
void gbees_audit_evidence(const gbees_audit *audit, gbees_evidence *evidence);
/** Returns bits of gbees_warning: GBEES_WARNING_AUDIT if gbees_certificate_warns() holds for any record so far;
 * GBEES_WARNING_AUDIT_LOST if the samples have failed, for lack of memory or as one is no longer finite;
 * GBEES_WARNING_EVIDENCE if the log evidence of an update, or of all updates, differs from the samples' by more than
 * 0.1 and by more than three of its standard errors. */
unsigned gbees_audit_warnings(const gbees_audit *audit);

GBEES_END
#endif
