/** @file gbees/compared.h
 * What other filters have found beside a run: compare.h5 of a results folder (core/io; doc/results.md).
 */
#ifndef GBEES_COMPARED_H
#define GBEES_COMPARED_H

#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GBEES_COMPARED_BINS = 256,   /**< bins of a marginal */
    GBEES_COMPARED_ERRORS = 4,   /**< e_m, e_s, Kolmogorov's distance, BC (gbees_rival_error) */
    GBEES_COMPARED_FILTERS = 16, /**< filters, at most */
    GBEES_COMPARED_NAME = 32,    /**< bytes of a filter's name */
    GBEES_COMPARED_FAILURE = 256 /**< bytes of a failure's text */
};

/** A filter's densities at the records of a run. Of records that it has not reached there are NANs. */
typedef struct gbees_compared_filter {
    char name[GBEES_COMPARED_NAME];       /**< "ekf"; of a second of its kind "pf_2" */
    char failure[GBEES_COMPARED_FAILURE]; /**< why it has failed; "" if it has not */
    double samples;                       /**< that it had; 0: its densities are the Gaussians of its moments */
    double seconds;                       /**< that it took */
    double log_evidence;                  /**< of all measurements; NAN: it has failed */
    double log_evidence_error;            /**< its standard error; NAN: not known */
    double *mean;                         /**< [count][n] */
    double *covariance;                   /**< [count][n][n] */
    double *effective;                    /**< [count]: effective samples, copies counted as one */
    double *error[GBEES_COMPARED_ERRORS]; /**< [count] each */
    double *first;                        /**< [binned][n]: the centre of bin 0 along a state; NULL without samples */
    double *width;                        /**< [binned][n]: of a bin */
    float *p; /**< [binned][n][GBEES_COMPARED_BINS]: probabilities; what is beyond the bins is in none */
} gbees_compared_filter;

/** Filters beside the records of a run. Marginals of samples are kept of each record whose place, counted from the
 * last, is a multiple of `every`: they take 32 MiB at most. */
typedef struct gbees_compared {
    int dimension;                                        /**< n */
    int filters;                                          /**< entries of `filter` */
    size_t count;                                         /**< records */
    size_t every;                                         /**< 1: marginals are kept of each record */
    size_t binned;                                        /**< records of which they are kept */
    int64_t *leg;                                         /**< [count] */
    int64_t *record;                                      /**< [count]: the number in its leg */
    double *time;                                         /**< [count] */
    gbees_compared_filter filter[GBEES_COMPARED_FILTERS]; /**< in the order of the list */
} gbees_compared;

/** Makes one of a run of n states, with NANs; samples[k]: whether filter k has some. GBEES_ENOMEM. */
int gbees_compared_create(int dimension, size_t count, int filters, const int *samples, gbees_compared **compared,
                          gbees_error *error);
/** Frees it; takes NULL. */
void gbees_compared_destroy(gbees_compared *compared);
/** Finds the marginals of record i: sets its row in first, width and p. 0 if they are not kept. */
int gbees_compared_row(const gbees_compared *compared, size_t i, size_t *row);
/** Reads it from a results folder, in a child process. *compared is NULL if the run had none. */
int gbees_compared_read(const char *folder, int dimension, gbees_compared **compared, gbees_error *error);

#ifdef __cplusplus
}
#endif
#endif
