/** @file gbees/truth.h
 * What a run is to find, where that is known, and how far it is from it (core/audit, core/io).
 */
#ifndef GBEES_TRUTH_H
#define GBEES_TRUTH_H

#include <gbees/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The states of a truth at some times. */
typedef struct gbees_truth {
    int dimension; /**< n */
    size_t count;  /**< times */
    double *time;  /**< [count], not decreasing */
    double *x;     /**< [count][n], in the model's axes */
} gbees_truth;

/** Makes a truth of zeros. */
int gbees_truth_create(int dimension, size_t count, gbees_truth **truth, gbees_error *error);
/** Frees it. */
void gbees_truth_destroy(gbees_truth *truth);
/** Draws a truth from the problem's initial density, and carries it along the model's own equations, noise included.
 * @param time [count], not decreasing and not before the problem's start
 * @param seed another truth for another seed; no sample of an audit is one of them
 */
int gbees_truth_simulate(const gbees_problem *problem, size_t count, const double *time, uint64_t seed,
                         gbees_truth **truth, gbees_error *error);
/** Sets the value of a measurement to what may have been measured at the state x: function, noise and all else of it
 * are given.
 * @param number other noise for another number
 */
int gbees_measurement_draw(const gbees_problem *problem, gbees_measurement *measurement, const double *x,
                           uint64_t seed, uint64_t number, gbees_error *error);
/** A truth and its measurements, to be written. */
typedef struct gbees_simulation {
    const gbees_problem *problem;          /**< that it is of */
    const gbees_truth *truth;              /**< the truth */
    const gbees_measurement *measurements; /**< of it */
    size_t count;                          /**< of them */
    const char *remark;                    /**< one line for both files */
} gbees_simulation;
/** Writes truth.csv and measurements.csv, as gbees_truth_read() and gbees_scenario_measurements() take them, to a new
 * or empty folder. */
int gbees_simulation_write(const gbees_simulation *simulation, const char *folder, gbees_error *error);
/** Reads a table of the columns `time` and the model's states (doc/gbees-run.md, "A known truth"). */
int gbees_truth_read(const char *path, const gbees_model *model, int dimension, gbees_truth **truth,
                     gbees_error *error);
/** The state at a time; NULL if the truth has none there. */
const double *gbees_truth_at(const gbees_truth *truth, double time);

/** A record beside a truth. */
struct gbees_score {
    int leg;                     /**< the record's */
    int number;                  /**< the record's, in its leg */
    double state[GBEES_MAX_DIM]; /**< the truth */
    double off[GBEES_MAX_DIM];   /**< mean less truth */
    double rmse;                 /**< the root of the mean square of `off` over the states */
    double nees; /**< off' C^-1 off with the record's covariance: n on average if that is right; NAN: the
                  * covariance is not positive definite */
    double rank[GBEES_MAX_DIM]; /**< probability that state j is less than the truth: even from 0 to 1 if the density
                                 * is right; NAN: the record has no cells */
};
/** Holds a record against a truth. Returns 0 if this has no state at its time. */
int gbees_truth_score(const gbees_truth *truth, const gbees_record *record, gbees_score *score);

/** Sums of scores; starts as {0}. */
typedef struct gbees_scores {
    int dimension; /**< n */
    /** Of some scores. */
    struct gbees_score_sum {
        size_t count;               /**< scores */
        double rmse;                /**< sum */
        double rmse_squares;        /**< sum of squares */
        double nees;                /**< sum */
        double rank[GBEES_MAX_DIM]; /**< sums */
    } sum[2];                       /**< [1]: of records right after measurements */
} gbees_scores;
/** Adds a score. */
void gbees_scores_add(gbees_scores *scores, int dimension, const gbees_score *score);

/** A mean and two bounds. */
typedef struct gbees_bounded {
    double value; /**< the mean */
    double low;   /**< of the range that holds 95 % */
    double high;  /**< of the same */
} gbees_bounded;

/** What many scores tell. Bounds are for independent scores. */
typedef struct gbees_score_summary {
    size_t records;     /**< that it is of: those right after measurements, if there are any, else all */
    int updates_only;   /**< 1: of the former */
    gbees_bounded rmse; /**< the range is that of the mean */
    gbees_bounded nees; /**< the range is that of a density which is right */
    gbees_bounded rank[GBEES_MAX_DIM]; /**< of state j; the range is that of a density which is right */
} gbees_score_summary;
/** Sums up. Returns the number of records. */
size_t gbees_scores_summary(const gbees_scores *scores, gbees_score_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
