/** @file gbees/audit.h
 * Samples that are integrated beside a run and bound the error of its records (core/audit).
 */
#ifndef GBEES_AUDIT_H
#define GBEES_AUDIT_H

#include <gbees/backend.h>
#include <gbees/checkpoint.h>
#include <gbees/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Samples of the model's own equations that are integrated beside a run, weighted at its updates, and compared with
 * its records. */
typedef struct gbees_audit gbees_audit;

/** How to audit. */
typedef struct gbees_audit_options {
    size_t samples; /**< at least 128; 0: 10,000 */
    double share;   /**< with samples = 0: they are doubled at a record as long as their steps, counted as three cell
                     * updates each, are at most this share of the run's cell updates so far; 0: never */
    uint64_t seed;  /**< other samples for another seed */
    int threads;    /**< 0: as many as the machine has; results do not depend on it */
    int keep;       /**< 1: the samples of each record are kept, for gbees_audit_rewind() */
    const gbees_backend *backend; /**< integrates many samples, if it can; outlives the audit. NULL: the threads do */
} gbees_audit_options;

/** Draws the samples from the problem's whole initial density, what its grid cuts off included. `problem` must
 * outlive the audit. */
int gbees_audit_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_audit **audit,
                       gbees_error *error);
/** Estimates, with 10,000 samples, the share of samples that are effective after the problem's measurements.
 * @param share receives the least share after a measurement, 1 without any
 */
int gbees_audit_effective(const gbees_problem *problem, int threads, double *share, gbees_error *error);
/** Frees the audit. */
void gbees_audit_destroy(gbees_audit *audit);
/** Integrates the samples to a record, which is no earlier than the one before, and compares. Of a record without
 * cells or marginals only the moments are certified. When samples are lost (one is no longer finite, none fits a
 * measurement) certificates say so; only a lack of memory is a failure. */
int gbees_audit_record(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                       gbees_error *error);
/** A thousand of the samples at the last record, chosen by their weights: heavy ones more than once. They are the
 * audit's, until the next record. NULL: there are none. */
const gbees_sample_list *gbees_audit_samples(gbees_audit *audit);
/** Begins again with the first record of another run of the same equations on another grid. Samples that were kept
 * are not integrated again. */
void gbees_audit_rewind(gbees_audit *audit);
/** Weights the samples by measurement `number`, the next one, counted from 1, and sets the evidence by samples with
 * its errors. log_evidence and total are the run's, and stay. */
void gbees_audit_update(gbees_audit *audit, int number, gbees_evidence *evidence);
/** Passes the samples, and what the audit knows of the run, to the sink of a checkpoint. Not for an audit that keeps
 * samples. */
int gbees_audit_save(const gbees_audit *audit, gbees_state_sink *sink, void *to, gbees_error *error);
/** Loads them from a checkpoint of the same problem, into an audit that gbees_audit_create() has just made. */
int gbees_audit_load(gbees_audit *audit, const gbees_checkpoint *checkpoint, gbees_error *error);
/** Sets the evidence of all updates so far by the samples: total_sampled and total_error. */
void gbees_audit_evidence(const gbees_audit *audit, gbees_evidence *evidence);
/** GBEES_WARNING_AUDIT if gbees_certificate_warns() of any record so far; GBEES_WARNING_EVIDENCE if an update's
 * evidence, or that of all so far, is off by more than .1 and three standard errors of the samples'. */
unsigned gbees_audit_warnings(const gbees_audit *audit);

/** The logarithm of the likelihood of a measurement at points in the model's axes, x[j][i] state j of point i: as a
 * density of what is measured, with all constants that are known.
 * @param out out[count]
 */
int gbees_measurement_log_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                     size_t count, const double *const *x, double *out, gbees_error *error);

#ifdef __cplusplus
}
#endif
#endif
