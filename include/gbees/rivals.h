/** @file gbees/rivals.h
 * Other filters beside a run of the grid: the same plugin, scenario and measurements (doc/gbees-run.md, "Rivals").
 *
 *     gbees_comparison_create -> gbees_solver_run, whose observer calls gbees_comparison_record and _update
 *         -> gbees_comparison_run -> gbees_comparison_result of each filter, gbees_comparison_answer
 */
#ifndef GBEES_RIVALS_H
#define GBEES_RIVALS_H

#include <gbees/gbees.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A filter. */
typedef enum gbees_rival {
    GBEES_RIVAL_MC,   /**< samples with weights, never resampled */
    GBEES_RIVAL_EKF,  /**< extended Kalman filter */
    GBEES_RIVAL_UKF,  /**< unscented Kalman filter */
    GBEES_RIVAL_ENKF, /**< ensemble Kalman filter with perturbed observations */
    GBEES_RIVAL_PF    /**< bootstrap particle filter */
} gbees_rival;
enum { GBEES_RIVALS_MOST = 16 /**< entries of a list */ };

/** The name of a filter, "ekf". */
const char *gbees_rival_name(gbees_rival rival);

/** A list of filters. */
typedef struct gbees_rivals {
    int count;                            /**< of them */
    gbees_rival rival[GBEES_RIVALS_MOST]; /**< which */
    size_t samples[GBEES_RIVALS_MOST];    /**< of each; 0: it has none */
} gbees_rivals;
/** Reads a list such as "mc,ekf,pf:100000": names, each with a number of samples if wanted. GBEES_EUSAGE. */
int gbees_rivals_parse(const char *text, gbees_rivals *rivals, gbees_error *error);

/** How to compare. */
typedef struct gbees_comparison_options {
    gbees_rivals rivals;             /**< the filters */
    int threads;                     /**< 0: as many as the machine has; results do not depend on it */
    const gbees_truth *truth;        /**< outlives the comparison; NULL: none is known */
    int (*cancelled)(void *context); /**< polled between records; non-zero ends gbees_comparison_run(). May be NULL */
    void *context;                   /**< of `cancelled` */
} gbees_comparison_options;

/** How far a filter is from the grid at one record. NAN: not known. */
typedef struct gbees_rival_error {
    double mean;       /**< e_m: the largest |difference of a mean| over the grid's standard deviation */
    double std;        /**< e_s: the largest |standard deviation over the grid's - 1| */
    double kolmogorov; /**< the largest difference of the distribution functions of a marginal */
    double bc;         /**< the Bhattacharyya coefficient of the joint densities on bins: 1 if they are equal */
} gbees_rival_error;

/** What a filter has found. */
typedef struct gbees_rival_result {
    gbees_rival rival;                /**< which */
    size_t samples;                   /**< that it had; 0: none */
    double seconds;                   /**< that it took */
    size_t count;                     /**< records that it has reached: all unless it has failed */
    const gbees_rival_error *records; /**< [count], each beside the grid */
    gbees_rival_error worst;   /**< the largest of each, the smallest bc; of a filter that has failed, so far */
    double ratio;              /**< the largest error over its limit; at most 1: the filter is enough */
    double ratio_time;         /**< of the record that has it */
    double log_evidence;       /**< of all measurements; NAN: it has failed */
    double log_evidence_error; /**< its standard error; NAN: not known */
    gbees_scores scores;       /**< beside the truth */
    gbees_error failure;       /**< status GBEES_OK: none */
} gbees_rival_result;

/** A run's records, and filters that are compared with them. */
typedef struct gbees_comparison gbees_comparison;

/** Makes a comparison of a problem, which must outlive it. */
int gbees_comparison_create(const gbees_problem *problem, const gbees_comparison_options *options,
                            gbees_comparison **comparison, gbees_error *error);
/** Frees it. */
void gbees_comparison_destroy(gbees_comparison *comparison);
/** Keeps a record's moments, marginals and joint density on bins, and what its certificate tells. The marginals are
 * those of its projection, else its own, else those of its cells; without any Kolmogorov's distance is not known.
 * Without cells, or with more than GBEES_COMPARED_CELLS, or several modes, bc is not known. */
int gbees_comparison_record(gbees_comparison *comparison, const gbees_record *record, gbees_error *error);
/** Notes that one more measurement comes before the next record. */
void gbees_comparison_update(gbees_comparison *comparison);
/** Adds the records so far to a checkpoint. */
int gbees_comparison_save(const gbees_comparison *comparison, gbees_checkpoint *checkpoint, gbees_error *error);
/** Loads them into a comparison that has just been made, of the same problem. */
int gbees_comparison_load(gbees_comparison *comparison, const gbees_checkpoint *checkpoint, gbees_error *error);
/** Runs the filters, one after the other. One that fails says so in its result; GBEES_ECANCELLED and GBEES_ENOMEM end
 * it.
 * @param grid_seconds that the grid took, for the answer
 */
int gbees_comparison_run(gbees_comparison *comparison, double grid_seconds, gbees_error *error);

/** The number of filters. */
int gbees_comparison_count(const gbees_comparison *comparison);
/** The result of filter k, in the order of the list. */
const gbees_rival_result *gbees_comparison_result(const gbees_comparison *comparison, int k);
/** The number of records. */
size_t gbees_comparison_records(const gbees_comparison *comparison);
/** Leg, number and model time of record i; each may be NULL. */
void gbees_comparison_when(const gbees_comparison *comparison, size_t i, int *leg, int *number, double *time);
/** The filters' densities at the records, for gbees_writer_comparison(); NULL before gbees_comparison_run(). */
const gbees_compared *gbees_comparison_compared(const gbees_comparison *comparison);
/** What the grid took, as given to gbees_comparison_run(). */
double gbees_comparison_grid_seconds(const gbees_comparison *comparison);
enum { GBEES_ANSWER_TEXT = 512 /**< bytes that hold an answer */ };
/** Answers in one sentence whether a grid is needed: not if a filter that takes less time is enough. A filter is
 * enough if none of its errors exceeds its limit at any record: 0.05, or what the grid's own certificate bounds the
 * same error of the grid by, if that is more, but never more than 0.1.
 * @param text receives at most size - 1 bytes
 */
void gbees_comparison_answer(const gbees_comparison *comparison, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
