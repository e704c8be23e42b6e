/** @file gbees/record.h
 * A record: the density at one time, with its moments, cells and certificate, and the warnings that hold
 * (core/record).
 */
#ifndef GBEES_RECORD_H
#define GBEES_RECORD_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/problem.h>

GBEES_BEGIN

/** Index and probability of the cells with P >= p*, sorted by index. */
typedef struct gbees_cells gbees_cells;

/** Changes of the sum of P: it grows by clipped + normalised - outflow - pruned - entered. See gbees_totals. */
typedef struct gbees_ledger {
    double clipped;    /**< gained by setting negative cells to 0 */
    double outflow;    /**< lost through faces with no neighbour */
    double pruned;     /**< lost by pruning */
    double normalised; /**< gained by normalising */
    double entered;    /**< taken by targets that absorb */
} gbees_ledger;

/** The difference between a quantity of the record and what points or samples have for it, and a bound of the
 * record's error that follows. NAN: they can't tell. */
typedef struct gbees_difference {
    double value; /**< the difference */
    double bound; /**< value + 2 standard errors: the record's error is below it in all but some 2 % of cases */
} gbees_difference;

enum { GBEES_REASON_TEXT = 256 /**< bytes of gbees_certificate.reason */ };

enum { GBEES_COMPARED_CELLS = 1 << 22 /**< the joint density of a record with more cells is not compared */ };

/** Bounds of a record's errors, by comparison with samples of the model's equations (doc/accuracy.md,
 * "Certificates"). */
typedef struct gbees_certificate {
    uint64_t points;  /**< > 0: the bounds are from lattices of so many points, and there are no samples: a bound is
                       * the  difference and what the lattices may be off, no standard errors */
    size_t samples;   /**< number of samples */
    int instead;      /**< 1: samples are in place of points, which would have cost too much. Not in files */
    double effective; /**< effective number of samples, (sum w)^2 / sum w^2 of their weights w, or, after resampling,
                       * as many as have means of the same standard errors. 0: unknown */
    gbees_difference mean[GBEES_MAX_DIM];       /**< of state j, in standard deviations */
    gbees_difference std[GBEES_MAX_DIM];        /**< standard deviation of state j, relative */
    gbees_difference marginal[GBEES_MAX_DIM];   /**< marginal along the grid's axis j, or state j on a moving grid:
                                                 * first Wasserstein distance, in standard deviations */
    gbees_difference kolmogorov[GBEES_MAX_DIM]; /**< the same marginal: Kolmogorov distance, the largest difference of
                                                 * the distribution functions */
    gbees_difference density; /**< joint density: 1 - sum p q / sqrt(sum p^2 sum q^2), p and q the probabilities in
                               * bins about as wide as the initial standard deviations */
    double estimate;  /**< where nothing is certified: an estimate of the largest error of a mean or a standard
                       * deviation, by comparison with a run on wider cells. It is no bound. NAN: none */
    double variation; /**< an estimate of the total variation distance to the true density: of what points deposit in
                       * the record's cells, to its averages over these; of a grid's record, in bins as wide as the
                       * initial standard deviations, by comparison with a run on wider cells; no less than
                       * `variation_least`. It is no bound. 0: none */
    double variation_least; /**< a lower bound of the total variation distance, less a standard error: the samples
                             * show so much of the record's marginals alone. Not in files. 0: none */
    uint64_t uncompared; /**< number of the record's cells if there were too many to compare the joint density; 0: it
                          * was compared */
    char reason[GBEES_REASON_TEXT]; /**< why nothing is certified; else empty */
} gbees_certificate;

/** Returns the difference with the largest bound among list[dimension]; NAN counts as the largest.
 * @param axis receives its index; may be NULL
 */
gbees_difference gbees_certificate_worst(const gbees_difference *list, int dimension, int *axis);
/** Returns 1 if the samples show that a mean or a standard deviation is off by more than a tenth of a standard
 * deviation, or than the accuracy that was asked for if that is more (0: none was), else 0. */
int gbees_certificate_warns(const gbees_certificate *certificate, int dimension, double accuracy);

/** Returns the error that an accuracy limits, of the means and the standard deviations, of the marginals, or of the
 * density, along the axis with the largest bound. NAN: the samples can't tell. */
gbees_difference gbees_certificate_error(const gbees_certificate *certificate, int dimension, gbees_accuracy_of of);

enum { GBEES_CERTIFICATE_TEXT = 384 /**< bytes of a certificate as text */ };
/** Writes a certificate as text: "mean 0.012 std, std 0.018, marginals 0.015 std, density (1 - cosine) 0.03 (100000
 * samples, 41000 effective)", the largest bounds along the axes, and the estimate of the total variation if there is
 * one; or the reason why nothing is certified.
 * @param unicode 1: "σ" in place of "std" after a number
 * @param text receives at most size - 1 bytes and a NUL
 */
void gbees_certificate_text(const gbees_certificate *certificate, int dimension, int unicode, char *text,
                            size_t size);

/** The figures of a certificate's text, in its order. */
enum {
    GBEES_FIGURE_MEAN,
    GBEES_FIGURE_STD,
    GBEES_FIGURE_MARGINAL,
    GBEES_FIGURE_DENSITY,
    GBEES_FIGURE_VARIATION,
    GBEES_FIGURES
};

/** The worst of each figure over several records, which need not be of one record. */
typedef struct gbees_worst {
    int count;                     /**< number of records; 0: all else is unknown */
    gbees_certificate certificate; /**< the worst of each figure, the fewest effective samples; or that of the first
                                    * record of which nothing is certified */
    double time[GBEES_FIGURES];    /**< model time of the record that each figure is of */
} gbees_worst;
/** Adds a record. */
void gbees_worst_add(gbees_worst *worst, const gbees_certificate *certificate, int dimension, double time);
/** Writes them as gbees_certificate_text() does, with the time of each: "worst: mean 0.012 std at t = 2, ...", or
 * "worst, at t = 1: " and the reason. */
void gbees_worst_text(const gbees_worst *worst, int dimension, int unicode, char *text, size_t size);

/** Samples of equal weight of the model's equations at the time of a record, to be drawn over the density. */
typedef struct gbees_sample_list {
    size_t count;                  /**< samples */
    const float *x[GBEES_MAX_DIM]; /**< x[j][i]: state j of sample i, in the model's axes */
} gbees_sample_list;

/** How well a moving frame fits the density (gbees_record.frame). */
typedef struct gbees_record_frame {
    /** Product of the square roots of the eigenvalues of C^1/2 J C^1/2, C the covariance and J the Fisher
     * information: 1 for a Gaussian, larger the less an affine frame can follow (doc/method.md). */
    double bend;
    double growth; /**< number of cells of a grid that fits the density, over the number of cells of this one */
    int limited;   /**< number of directions along which `frame_cells` allows fewer cells than the density needs */
    int replaced;  /**< number of regrids since the start */
    double rate;   /**< 1 / the step of Courant number 1, with the drift relative to the frame */
    double rate_at_rest; /**< the same with the drift itself, on the same cells */
} gbees_record_frame;

/** Marginals along the model's states of a density on a moving grid, whose axes are no states. */
typedef struct gbees_projection {
    double origin[GBEES_MAX_DIM]; /**< centre of entry 0 along each state */
    double width[GBEES_MAX_DIM];  /**< width of an entry along each state */
    size_t length[GBEES_MAX_DIM]; /**< number of entries along each state */
    double *p[GBEES_MAX_DIM];     /**< p[j][length[j]]: probabilities along state j */
} gbees_projection;

/** The comparison of a record with a known truth (gbees/truth.h). */
typedef struct gbees_score gbees_score;

/** A record, as the observer receives it. All pointers are valid during the call only. */
typedef struct gbees_record {
    const gbees_problem *problem;     /**< the run's problem with the grid at this time */
    int leg;                          /**< counted from 0 */
    int smoothed;                     /**< 1: the density given all measurements, also later ones */
    int number;                       /**< in the leg. 0: the density at its start, after the measurements there */
    double time;                      /**< model time */
    double wall_s;                    /**< wall-clock time since the run began, in seconds */
    gbees_statistics statistics;      /**< of the density, in the model's axes */
    gbees_totals totals;              /**< since the start */
    gbees_ledger since;               /**< since the previous record, or, for the first, since the start */
    unsigned warnings;                /**< gbees_warning bits */
    gbees_record_frame frame;         /**< of a moving grid, when its shape was last measured; else 0 */
    const gbees_cells *cells;         /**< NULL: the observer wants none */
    const gbees_marginals *marginals; /**< NULL: not computed by the backend; compute them from the cells */
    const gbees_certificate *certificate;          /**< NULL: the run has no audit */
    const gbees_sample_list *samples;              /**< the audit's; NULL: none */
    const gbees_projection *projection;            /**< for the audit of a moving grid; else NULL */
    const gbees_score *score;                      /**< set by an observer that knows the truth; else NULL */
    gbees_target_state targets[GBEES_MAX_TARGETS]; /**< of each target of the problem */
} gbees_record;

enum { GBEES_LARGEST_PLANE = 1 << 25 /**< the most entries of a 2-D marginal of a record: 256 MiB */ };

/** Returns the number of cells. */
size_t gbees_cells_count(const gbees_cells *cells);
/** Whether all cells are in memory. Those of a record of more than gbees_observer's cells_at_once are not: then only
 * gbees_cells_count(), gbees_cells_range(), gbees_cells_hold() and gbees_cells_copy() may be called, by the thread
 * that calls the observer. */
int gbees_cells_are_whole(const gbees_cells *cells);
/** Has a cell in memory, with others behind it; what was in memory before may be no longer.
 * @param end receives the number of the first cell after it that is not in memory */
int gbees_cells_hold(const gbees_cells *cells, size_t cell, size_t *end, gbees_error *error);
/** Copies the cells first ... first + count - 1, which must be in memory.
 * @param index index[j][count] receives the indices along axis j; index[j] may be NULL
 * @param p p[count] receives the probabilities; may be NULL
 */
void gbees_cells_copy(const gbees_cells *cells, size_t first, size_t count, int32_t *const *index, double *p);
/** Copies all cells to new arrays of `list`, which is all zero before; gbees_initial_cells_clear() frees them. */
int gbees_cells_list(const gbees_cells *cells, gbees_initial_cells *list, gbees_error *error);
/** Sets *lo and *hi to the smallest and the largest index of a cell along an axis. */
void gbees_cells_range(const gbees_cells *cells, int axis, int32_t *lo, int32_t *hi);
/** Computes the marginal along axis a. (*p)[i] is the sum of P over the cells whose index along it is lo + i, where
 * lo is that of gbees_cells_range(). The caller free()s *p. */
int gbees_cells_marginal_1d(const gbees_cells *cells, int a, double **p, gbees_error *error);
/** Computes the marginal in the plane of axes a and b, a dense row-major array: entry [i][k] is of the indices lo_a +
 * i and lo_b + k. The caller free()s *p. */
int gbees_cells_marginal_2d(const gbees_cells *cells, int a, int b, double **p, gbees_error *error);

/* ---- measurements ---- */

/** The likelihood of a measurement as a function of its residual r[size], of the components that were measured. */
typedef struct gbees_residual_law {
    int size;
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< size x size, A: of r's covariance, or scale matrix */
    double period[GBEES_MAX_DIM];                  /**< of a component, or 0 */
    double log_peak;                               /**< the logarithm of the likelihood of r = 0 */
} gbees_residual_law;

/** Computes the residuals of a measurement, within half a period of 0, at points x in the model's axes; not of one
 * that has the model's own likelihood.
 * @param x x[j][i]: state j of point i
 * @param r receives r[count][size]; the caller has count times the measurement's size
 * @param law receives what their likelihood follows */
int gbees_measurement_residuals(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                size_t count, const double *const *x, double *r, gbees_residual_law *law,
                                gbees_error *error);

/** Computes log p(y | x), the logarithm of the likelihood of a measurement y, at points x in the model's axes. It is
 * normalised as a density of y; a model's own log_likelihood() is as the model has it.
 * @param time model time
 * @param x x[j][i]: state j of point i
 * @param out receives out[count]
 */
int gbees_measurement_log_likelihood(const gbees_problem *problem, const gbees_measurement *measurement, double time,
                                     size_t count, const double *const *x, double *out, gbees_error *error);
/** Computes the largest value that log p(y | x) can have: that of a residual of 0. NAN for a model's own
 * log_likelihood(), whose largest value only the model knows. */
int gbees_measurement_log_peak(const gbees_problem *problem, const gbees_measurement *measurement, double *log_peak,
                               gbees_error *error);

/* ---- targets ---- */

/** Evaluates the function g of target k of a problem at points in the model's axes.
 * @param time model time
 * @param x x[j][i]: state j of point i
 * @param out receives out[count]
 */
void gbees_target_values(const gbees_problem *problem, int k, double time, size_t count, const double *const *x,
                         double *out);
/** GBEES_ENUMERIC, with what to do: the function of target k is not a number somewhere in the density. */
int gbees_target_fail(const gbees_problem *problem, int k, double time, gbees_error *error);

/* ---- instants ---- */

/** "shift", "linear", or the name of the model's function. */
const char *gbees_instant_name(const gbees_problem *problem, const gbees_instant *instant);
/** Takes points in the model's axes through the jump of an instant, without its error.
 * @param time model time
 * @param x x[j][i]: state j of point i; where the model's function is not finite they become what it gives
 */
void gbees_instant_points(const gbees_problem *problem, const gbees_instant *instant, double time, size_t count,
                          double *const *x);

/* ---- warnings ---- */

/** Returns the gbees_warning bits that follow from a problem and its run's totals.
 * @param totals NULL before the run
 */
unsigned gbees_warnings(const gbees_problem *problem, const gbees_totals *totals);
enum { GBEES_WARNING_TEXT = 256 /**< bytes of a warning's text */ };
/** Writes one line that describes a warning and its remedy, cut to `size` bytes.
 * @param totals may be NULL for a warning that holds before the run
 */
void gbees_warning_text(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals, char *text,
                        size_t size);

GBEES_END
#endif
