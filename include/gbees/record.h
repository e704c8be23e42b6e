/** @file gbees/record.h
 * A record: the density at one time, with its moments, cells and certificate, and the warnings that hold
 * (core/solver).
 */
#ifndef GBEES_RECORD_H
#define GBEES_RECORD_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Index and probability of the cells with P >= p*, sorted by index. */
typedef struct gbees_cells gbees_cells;

/** Changes of the sum of P: it grows by clipped + normalised - outflow - pruned. See gbees_totals. */
typedef struct gbees_ledger {
    double clipped;    /**< gained by setting negative cells to 0 */
    double outflow;    /**< lost through faces with no neighbour */
    double pruned;     /**< lost by pruning */
    double normalised; /**< gained by normalising */
} gbees_ledger;

/** How far a figure of the grid lies from that of samples, and a bound of its error: the value and twice its standard
 * error. NAN: the samples can't tell. */
typedef struct gbees_difference {
    double value; /**< what was found */
    double bound; /**< what the error is below, in all but some 2 % of cases */
} gbees_difference;

enum { GBEES_REASON_TEXT = 256 /**< bytes that hold the reason of a certificate */ };

enum { GBEES_COMPARED_CELLS = 1 << 22 /**< of a record, at most, whose joint density is compared with samples */ };

/** How wrong a record may be (doc/accuracy.md, "Certificates"). */
typedef struct gbees_certificate {
    size_t samples;                       /**< carried along with the run */
    double effective;                     /**< of them, by their weights: (sum w)^2 / sum w^2; where they have been
                                           * resampled no more than their means tell; 0: no longer known */
    gbees_difference mean[GBEES_MAX_DIM]; /**< of state j, in standard deviations */
    gbees_difference std[GBEES_MAX_DIM];  /**< of state j, relative */
    gbees_difference marginal[GBEES_MAX_DIM];   /**< along the grid's axis j, or, if it moves, state j: Wasserstein's
                                                 * first distance of the marginals, in standard deviations */
    gbees_difference kolmogorov[GBEES_MAX_DIM]; /**< along the same: the largest difference of the marginals'
                                                 * distribution functions */
    gbees_difference density; /**< of the joint density: 1 - sum p q / sqrt(sum p^2 sum q^2) on bins about as wide as
                               * the initial standard deviations */
    double estimate; /**< of the largest error of a mean or a standard deviation, by a run on coarser cells: no bound,
                      * and only where nothing is certified; NAN: there is none */
    double variation; /**< an estimate of the total variation between the density and the true one, on bins as wide as
                       * the initial standard deviations, by a run on coarser cells: no bound; 0: there is none */
    uint64_t uncompared; /**< cells of a record whose joint density was not compared, as the audit does not see so
                          * many; 0: it was */
    char reason[GBEES_REASON_TEXT]; /**< why nothing is certified, else empty */
} gbees_certificate;

/** The difference with the largest bound of `dimension` ones; one that can't be told is the largest.
 * @param axis receives its number; may be NULL
 */
gbees_difference gbees_certificate_worst(const gbees_difference *list, int dimension, int *axis);
/** Whether a mean or a standard deviation is certainly off by more than a tenth of a standard deviation. */
int gbees_certificate_warns(const gbees_certificate *certificate, int dimension);

/** The error that an accuracy limits: of the means and the standard deviations, of the marginals, or of the density;
 * the axis with the largest bound. NAN: it can't be told. */
gbees_difference gbees_certificate_error(const gbees_certificate *certificate, int dimension, gbees_accuracy_of of);

/** Writes "mean 0.012 std, std 0.018, marginals 0.015 std, density 0.03 (100000 samples, 41000 effective)", the
 * largest bounds along the axes, and the estimate of the total variation, if there is one; or the reason why nothing
 * is certified.
 * @param unicode 1: a sigma in place of the "std" behind a number
 * @param text receives at most size - 1 bytes
 */
void gbees_certificate_text(const gbees_certificate *certificate, int dimension, int unicode, char *text,
                            size_t size);

/** Samples of the model's equations at the time of a record, all of one weight: a picture of what is true. */
typedef struct gbees_sample_list {
    size_t count;                  /**< samples */
    const float *x[GBEES_MAX_DIM]; /**< x[j][i]: state j of sample i, in the model's axes */
} gbees_sample_list;

/** How well a frame that moves fits the density (gbees_record.frame). */
typedef struct gbees_record_frame {
    double
        bend; /**< product of sqrt(lambda), lambda the eigenvalues of C^1/2 J C^1/2 of the covariance and the Fisher
               * information: 1 for a Gaussian; the more, the less an affine frame can follow (doc/method.md) */
    double growth;       /**< cells that would fit the density, over those that there are */
    int limited;         /**< directions along which `frame_cells` leaves fewer cells than the density asks for */
    int replaced;        /**< how often the cells have been replaced since the start */
    double rate;         /**< 1 / the step of Courant number 1: of the drift relative to the frame */
    double rate_at_rest; /**< of the drift itself, on the same cells */
} gbees_record_frame;

enum { GBEES_MODES_MOST = 16 /**< parts of a density, at most */ };

/** A part of a density that is in several, each on a grid that moves by itself (doc/method.md, "Modes"). */
typedef struct gbees_record_mode {
    const gbees_problem *problem; /**< that of the run, with this mode's grid of this time */
    double weight;                /**< its part of the mass */
    gbees_statistics statistics;  /**< of it alone, in the model's axes */
    const gbees_cells *cells;     /**< of it alone, its P normalised by itself; NULL: the observer wants none */
} gbees_record_mode;

/** Marginals along the model's states of a density on grids that move, whose own axes are no states. */
typedef struct gbees_projection {
    double origin[GBEES_MAX_DIM]; /**< the middle of entry 0 along each state */
    double width[GBEES_MAX_DIM];  /**< of an entry */
    size_t length[GBEES_MAX_DIM]; /**< entries */
    double *p[GBEES_MAX_DIM];     /**< the probability of each */
} gbees_projection;

/** A record beside a truth (gbees/truth.h). */
typedef struct gbees_score gbees_score;

/** What the observer receives at the time of a record. All pointers are valid during the call only. */
typedef struct gbees_record {
    const gbees_problem *problem;         /**< that of the run, with the grid of this time */
    int leg;                              /**< counted from 0 */
    int number;                           /**< 0: the density at the start of the leg, after its measurements */
    double time;                          /**< model time */
    double wall_s;                        /**< seconds since the run began */
    gbees_statistics statistics;          /**< of the density, in the model's axes */
    gbees_totals totals;                  /**< since the start */
    gbees_ledger since;                   /**< since the record before; of the first, since the start */
    unsigned warnings;                    /**< gbees_warning bits */
    gbees_record_frame frame;             /**< of a grid that moves: as its shape was seen last; else 0 */
    const gbees_cells *cells;             /**< NULL: the observer wants none, or there are several modes */
    const gbees_marginals *marginals;     /**< NULL: the backend made none, compute them from the cells */
    const gbees_certificate *certificate; /**< NULL: the run has no audit */
    const gbees_sample_list *samples;     /**< of the audit; NULL: it has none */
    const gbees_projection *projection;   /**< of a grid that moves, for the audit; else NULL */
    int mode_count;                       /**< entries of `modes`: 0 or at least 2 */
    const gbees_record_mode *modes; /**< `problem` has the grid and `frame` the shape of the first one; NULL: all
                                     * of the density is in the record's own cells */
    const gbees_score *score;       /**< beside a truth; NULL: there is none. The observer sets it */
} gbees_record;

enum { GBEES_LARGEST_PLANE = 1 << 25 /**< most entries of a 2-D marginal of a record: 256 MiB */ };

/** The number of cells. */
size_t gbees_cells_count(const gbees_cells *cells);
/** Copies the cells first ... first + count - 1.
 * @param index index[j][count] receives the indices along axis j; index[j] may be NULL
 * @param p p[count] receives the probabilities; may be NULL
 */
void gbees_cells_copy(const gbees_cells *cells, size_t first, size_t count, int32_t *const *index, double *p);
/** Copies all cells to the arrays of a list, of which all fields are 0; gbees_initial_cells_clear() frees them. */
int gbees_cells_list(const gbees_cells *cells, gbees_initial_cells *list, gbees_error *error);
/** Frees the arrays of a list, and sets its count to 0. */
void gbees_initial_cells_clear(gbees_initial_cells *cells);
/** The smallest and the largest index along an axis. */
void gbees_cells_range(const gbees_cells *cells, int axis, int32_t *lo, int32_t *hi);
/** The marginal along axis a: (*p)[i] is the sum of P over the cells with index lo_a + i. The caller free()s *p. */
int gbees_cells_marginal_1d(const gbees_cells *cells, int a, double **p, gbees_error *error);
/** The marginal in the plane of axes a and b, dense and row-major: [i][k] has the indices lo_a + i and lo_b + k. The
 * caller free()s *p. */
int gbees_cells_marginal_2d(const gbees_cells *cells, int a, int b, double **p, gbees_error *error);

/* ---- warnings ---- */

/** The gbees_warning bits that hold.
 * @param totals NULL before the run
 */
unsigned gbees_warnings(const gbees_problem *problem, const gbees_totals *totals);
enum { GBEES_WARNING_TEXT = 256 /**< bytes that hold a warning's text */ };
/** Writes one line that describes a warning, and how to remedy it, cut to `size`.
 * @param totals may be NULL for a warning that holds before the run
 */
void gbees_warning_text(gbees_warning warning, const gbees_problem *problem, const gbees_totals *totals, char *text,
                        size_t size);

#ifdef __cplusplus
}
#endif
#endif
