/** @file gbees/truth.h
 * A known truth: states of the system at some times, given or simulated, and scores of a run's records against it
 * (core/record, core/scenario).
 */
#ifndef GBEES_TRUTH_H
#define GBEES_TRUTH_H

#include <gbees/record.h>

GBEES_BEGIN

/** The true states at some times. */
typedef struct gbees_truth {
    int dimension; /**< n */
    size_t count;  /**< times */
    double *time;  /**< [count], not decreasing */
    double *x;     /**< [count][n], in the model's axes */
} gbees_truth;

/** Creates a truth whose times and states are 0. GBEES_ENOMEM. */
int gbees_truth_create(int dimension, size_t count, gbees_truth **truth, gbees_error *error);
/** Frees the truth; NULL is allowed. */
void gbees_truth_destroy(gbees_truth *truth);
/** Simulates a truth: draws a state from the problem's initial density and integrates the model's equations, noise
 * included.
 * @param time time[count], not decreasing and not before the problem's start
 * @param seed of the random numbers, which differ from those of an audit with the same seed
 */
int gbees_truth_simulate(const gbees_problem *problem, size_t count, const double *time, uint64_t seed,
                         gbees_truth **truth, gbees_error *error);
/** Simulates a measurement of the state x: sets its `value`. The other members, function and noise among them, are
 * given.
 * @param number with `seed` it determines the noise: use another one for each measurement
 */
int gbees_measurement_draw(const gbees_problem *problem, gbees_measurement *measurement, const double *x,
                           uint64_t seed, uint64_t number, gbees_error *error);
/** A simulated truth and its measurements, for gbees_simulation_write(). */
typedef struct gbees_simulation {
    const gbees_problem *problem;          /**< the problem that was simulated */
    const gbees_truth *truth;              /**< the truth */
    const gbees_measurement *measurements; /**< [count]: measurements of the truth */
    size_t count;                          /**< number of measurements */
    const char *remark;                    /**< one line, the first of both files */
} gbees_simulation;
/** Writes truth.csv and measurements.csv to a new or empty folder, in the formats that gbees_truth_read() and
 * gbees_scenario_measurements() read. */
int gbees_simulation_write(const gbees_simulation *simulation, const char *folder, gbees_error *error);
/** Reads a CSV table with the columns `time` and the names of the model's states (doc/gbees-run.md, "A known truth").
 * GBEES_EINPUT or GBEES_EIO. */
int gbees_truth_read(const char *path, const gbees_model *model, int dimension, gbees_truth **truth,
                     gbees_error *error);
/** Returns the state x[n] at a time; NULL if the truth has none at that time. */
const double *gbees_truth_at(const gbees_truth *truth, double time);

/** Score of a record: how far its density is from the truth at that time. */
struct gbees_score {
    int leg;                     /**< the record's leg */
    int number;                  /**< the record's number in its leg */
    double state[GBEES_MAX_DIM]; /**< the true state, of axes that are circles within the record's range */
    double off[GBEES_MAX_DIM];   /**< mean minus true state */
    double rmse;                 /**< root of the mean square of `off` over the states */
    double nees; /**< normalised estimation error squared, off^T C^-1 off with the record's covariance C: n on average
                  * if the density is right; NAN: C is not positive definite */
    double rank[GBEES_MAX_DIM]; /**< probability that state j is less than the true one: uniform in [0, 1] if the
                                 * density is right; NAN: the record has no cells */
};
/** Scores a record. Returns 1, or 0 if the truth has no state at the record's time. */
int gbees_truth_score(const gbees_truth *truth, const gbees_record *record, gbees_score *score);

/** Sums of scores; all zero at first. */
typedef struct gbees_scores {
    int dimension; /**< n */
    /** Sums over some records. */
    struct gbees_score_sum {
        size_t count;               /**< number of records */
        double rmse;                /**< sum of gbees_score.rmse */
        double rmse_squares;        /**< sum of its squares */
        double nees;                /**< sum of gbees_score.nees */
        double rank[GBEES_MAX_DIM]; /**< sums of gbees_score.rank */
    } sum[2];                       /**< [1]: over records right after measurements; [0]: over the others */
} gbees_scores;
/** Adds a score to the sums. */
void gbees_scores_add(gbees_scores *scores, int dimension, const gbees_score *score);

/** A mean and a 95 % interval. */
typedef struct gbees_bounded {
    double value; /**< the mean */
    double low;   /**< lower end of the interval */
    double high;  /**< upper end of the interval */
} gbees_bounded;

/** Means of scores. Intervals assume that scores are independent. */
typedef struct gbees_score_summary {
    size_t records;     /**< number of records: those right after measurements if there are any, else all */
    int updates_only;   /**< 1: records right after measurements */
    gbees_bounded rmse; /**< with the confidence interval of the mean */
    gbees_bounded nees; /**< with the interval in which the mean lies if the density is right */
    gbees_bounded rank[GBEES_MAX_DIM]; /**< of state j, with the interval in which it lies if the density is right */
} gbees_score_summary;
/** Computes the means of all scores. Returns the number of records. */
size_t gbees_scores_summary(const gbees_scores *scores, gbees_score_summary *summary);

GBEES_END
#endif
