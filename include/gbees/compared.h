/** @file gbees/compared.h
 * The results of other filters at the records of a run, as compare.h5 of a results folder holds them (core/io;
 * doc/results.md).
 */
#ifndef GBEES_COMPARED_H
#define GBEES_COMPARED_H

#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GBEES_COMPARED_BINS = 256,    /**< bins of a marginal */
    GBEES_COMPARED_ERRORS = 4,    /**< e_m, e_s, Kolmogorov's distance, BC (gbees_rival_error) */
    GBEES_COMPARED_FILTERS = 16,  /**< filters, at most */
    GBEES_COMPARED_NAME = 32,     /**< bytes of a filter's name */
    GBEES_COMPARED_FAILURE = 256, /**< bytes of a failure's text */
    GBEES_COMPARED_ANSWER = 512   /**< bytes of gbees_compared.answer */
};

/** A filter's results at the records of a run; NAN at records that it has not reached. Arrays are row-major, in the
 * model's units. */
typedef struct gbees_compared_filter {
    char name[GBEES_COMPARED_NAME];       /**< such as "ekf"; the second one of a kind is "pf_2" */
    char failure[GBEES_COMPARED_FAILURE]; /**< why it has failed; "" if it has not */
    double samples;                       /**< number of its samples; 0: its densities are Gaussian */
    double seconds;                       /**< wall-clock time that it took */
    double log_evidence;                  /**< of all measurements; NAN: it has failed */
    double log_evidence_error;            /**< standard error of log_evidence; NAN: unknown */
    double *mean;                         /**< [count][n] */
    double *covariance;                   /**< [count][n][n] */
    double *effective;                    /**< [count]: effective samples; resampled copies count as one */
    double *error[GBEES_COMPARED_ERRORS]; /**< [count] each */
    double *first;                        /**< [binned][n]: centre of bin 0 along each state; NULL without samples */
    double *width;                        /**< [binned][n]: width of a bin */
    float *p; /**< [binned][n][GBEES_COMPARED_BINS]: probability of each bin; samples beyond the bins are in none */
} gbees_compared_filter;

/** The records of a run and the filters' results there. Marginals take at most 32 MiB: they are kept of the last
 * record and of each `every`-th one before it. */
typedef struct gbees_compared {
    int dimension;                                        /**< n */
    int filters;                                          /**< number of entries of `filter` */
    size_t count;                                         /**< number of records */
    size_t every;                                         /**< 1: marginals are kept of all records */
    size_t binned;                                        /**< number of records whose marginals are kept */
    int64_t *leg;                                         /**< [count] */
    int64_t *record;                                      /**< [count]: number of the record in its leg */
    double *time;                                         /**< [count]: model time */
    gbees_compared_filter filter[GBEES_COMPARED_FILTERS]; /**< in the order in which they were asked for */
    double ratio[GBEES_COMPARED_FILTERS]; /**< of each filter: its largest error over the limit; only where written */
    char answer[GBEES_COMPARED_ANSWER];   /**< whether the grid is needed, in one sentence; only where written */
} gbees_compared;

/** Allocates the results of `filters` filters for a run of n = dimension states and `count` records, all NAN.
 * GBEES_ENOMEM.
 * @param samples samples[filters]: whether filter k has samples, and so marginals
 */
int gbees_compared_create(int dimension, size_t count, int filters, const int *samples, gbees_compared **compared,
                          gbees_error *error);
/** Frees them; NULL is allowed. */
void gbees_compared_destroy(gbees_compared *compared);
/** Sets *row to the index of record i in first, width and p. Returns 1, or 0 if its marginals are not kept. */
int gbees_compared_row(const gbees_compared *compared, size_t i, size_t *row);
/** Reads compare.h5 of a results folder, in a child process, as the file may be damaged. *compared is NULL if the
 * folder has none; else the caller destroys it. */
int gbees_compared_read(const char *folder, int dimension, gbees_compared **compared, gbees_error *error);

#ifdef __cplusplus
}
#endif
#endif
