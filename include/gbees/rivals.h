/** @file gbees/rivals.h
 * Compares a run on the grid with other filters, on the same plugin, scenario and measurements (doc/gbees-run.md,
 * "Rivals").
 *
 *     gbees_comparison_create -> gbees_solver_run, whose observer calls gbees_comparison_record and _update
 *         -> gbees_comparison_run -> gbees_comparison_result for each filter, gbees_comparison_answer
 */
#ifndef GBEES_RIVALS_H
#define GBEES_RIVALS_H

#include <gbees/gbees.h>

GBEES_BEGIN

/** A kind of filter. */
typedef enum gbees_rival {
    GBEES_RIVAL_MC,   /**< samples with weights, never resampled */
    GBEES_RIVAL_EKF,  /**< extended Kalman filter */
    GBEES_RIVAL_UKF,  /**< unscented Kalman filter */
    GBEES_RIVAL_ENKF, /**< ensemble Kalman filter with perturbed observations */
    GBEES_RIVAL_PF    /**< bootstrap particle filter */
} gbees_rival;
enum { GBEES_RIVALS_MOST = 16 /**< entries of a list */ };

/** Returns the name of a kind, such as "ekf". */
const char *gbees_rival_name(gbees_rival rival);

/** A list of filters. */
typedef struct gbees_rivals {
    int count;                            /**< number of filters */
    gbees_rival rival[GBEES_RIVALS_MOST]; /**< kind of each */
    size_t samples[GBEES_RIVALS_MOST];    /**< number of samples of each; 0: a Kalman filter, which has none */
} gbees_rivals;
/** Parses a list such as "mc,ekf,pf:100000": names, each optionally with a number of samples. GBEES_EUSAGE. */
int gbees_rivals_parse(const char *text, gbees_rivals *rivals, gbees_error *error);

/** How to compare. */
typedef struct gbees_comparison_options {
    gbees_rivals rivals;      /**< the filters */
    int threads;              /**< 0: OMP_NUM_THREADS, or as many as the machine has; results do not depend on it */
    const gbees_truth *truth; /**< must outlive the comparison; NULL: the truth is unknown */
    int keeps_densities;      /**< 1: the results have the filters' densities */
    int (*cancelled)(void *context); /**< polled between records; non-zero ends gbees_comparison_run(). May be NULL */
    void *context;                   /**< argument of `cancelled` */
} gbees_comparison_options;

/** Errors of a filter with respect to the grid at one record. NAN: unknown. */
typedef struct gbees_rival_error {
    double mean;       /**< e_m: the largest |difference of a mean| over the grid's standard deviation */
    double std;        /**< e_s: the largest |standard deviation over the grid's - 1| */
    double kolmogorov; /**< the largest difference of the distribution functions of a marginal */
    double bc;         /**< the Bhattacharyya coefficient of the joint densities in bins: 1 if they are equal */
} gbees_rival_error;

enum { GBEES_RIVAL_BINS = 256 /**< bins of a marginal */ };

/** A filter's densities at `count` records of n states, row-major, in the model's units; NAN at records that it has
 * not reached. All are NULL if they were not asked for. */
typedef struct gbees_rival_densities {
    double *mean;       /**< [count][n] */
    double *covariance; /**< [count][n][n] */
    double *first;      /**< [count][n]: centre of bin 0 along each state */
    double *width;      /**< [count][n]: width of a bin */
    float *p; /**< [count][n][GBEES_RIVAL_BINS]: probability of each bin; NULL: the densities are Gaussian */
} gbees_rival_densities;

/** The result of a filter. */
typedef struct gbees_rival_result {
    gbees_rival rival;                /**< its kind */
    size_t samples;                   /**< number of its samples; 0: none */
    double seconds;                   /**< wall-clock time that it took */
    size_t count;                     /**< number of records that it has reached: all unless it has failed */
    const gbees_rival_error *records; /**< [count]: errors at each record */
    gbees_rival_error worst;          /**< over the records reached: the largest of each error, the smallest bc */
    double ratio;              /**< largest error over its limit (gbees_comparison_answer()); up to 1 it suffices */
    double ratio_time;         /**< model time of the record of that error */
    double log_evidence;       /**< of all measurements; NAN: the filter has failed */
    double log_evidence_error; /**< standard error of log_evidence; NAN: unknown */
    gbees_rival_densities densities; /**< at all records of the run */
    gbees_scores scores;             /**< comparison with the truth */
    gbees_error failure;             /**< why it has failed; status GBEES_OK: it has not */
} gbees_rival_result;

/** The records of a run, and the filters that are compared with them. */
typedef struct gbees_comparison gbees_comparison;

/** Creates a comparison for a problem, which must outlive it. */
int gbees_comparison_create(const gbees_problem *problem, const gbees_comparison_options *options,
                            gbees_comparison **comparison, gbees_error *error);
/** Frees the comparison; NULL is allowed. */
void gbees_comparison_destroy(gbees_comparison *comparison);
/** Stores a record's moments, marginals, joint density in bins, and certificate. The marginals are those of its
 * projection, or else its own, or else are computed from its cells; without any of these Kolmogorov's distance is
 * NAN. For a record without cells, or with more than GBEES_COMPARED_CELLS, bc is NAN. */
int gbees_comparison_record(gbees_comparison *comparison, const gbees_record *record, gbees_error *error);
/** To be called for each update: the next record follows one more measurement. */
void gbees_comparison_update(gbees_comparison *comparison);
/** Runs the filters, one after the other. A filter's failure is in its result and does not end the others;
 * GBEES_ECANCELLED and GBEES_ENOMEM end the call.
 * @param grid_seconds wall-clock time of the grid's run, for gbees_comparison_answer()
 */
int gbees_comparison_run(gbees_comparison *comparison, double grid_seconds, gbees_error *error);

/** Returns the number of filters. */
int gbees_comparison_count(const gbees_comparison *comparison);
/** Returns the result of filter k, in the order of the list. The comparison owns it. */
const gbees_rival_result *gbees_comparison_result(const gbees_comparison *comparison, int k);
/** Returns the number of records. */
size_t gbees_comparison_records(const gbees_comparison *comparison);
/** Sets leg, number and model time of record i; each pointer may be NULL. */
void gbees_comparison_when(const gbees_comparison *comparison, size_t i, int *leg, int *number, double *time);
/** Returns the grid_seconds that gbees_comparison_run() was given. */
double gbees_comparison_grid_seconds(const gbees_comparison *comparison);
enum { GBEES_ANSWER_TEXT = 512 /**< bytes of an answer */ };
/** Writes one sentence on whether the grid is needed. It is not if a filter that takes less time suffices: if none of
 * its errors exceeds its limit at any record. The limit is the bound in the grid's own certificate for the same
 * error, but at least 0.05 and at most 0.1, or the accuracy that was asked for if that is more. Where the certificate
 * shows that the grid's marginals are off by more, Kolmogorov's distance does not count, and the answer says so.
 * @param text receives at most size - 1 bytes and a NUL
 */
void gbees_comparison_answer(const gbees_comparison *comparison, char *text, size_t size);

GBEES_END
#endif
