/** @file gbees/gbees.h
 * The library for applications: find a model, read a scenario, run it, read the records.
 *
 *     gbees_registry_create -> gbees_registry_model -> gbees_scenario_create -> gbees_problem_create
 *         -> gbees_solver_create -> gbees_solver_run -> records
 *
 * Objects are opaque. The caller owns what a `_create`, `_read` or `_open` returns, and frees it with the `_destroy`
 * of its type, which takes NULL, too. Functions that return int and take a gbees_error return a gbees_status and set
 * their outputs on success only. There is no global state.
 */
#ifndef GBEES_GBEES_H
#define GBEES_GBEES_H

#include <gbees/backend.h>
#include <gbees/error.h>
#include <gbees/model.h>
#include <gbees/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version, "1.2.3". */
const char *gbees_version(void);

/* ---- registry: models and backends found on disk (core/module) ---- */

/** The modules of a list of folders. It owns the models and backends that it loads. */
typedef struct gbees_registry gbees_registry;

/** Makes a registry; loads nothing yet.
 *
 * Folders of plugins, in order of search: plugin_path, $GBEES_PLUGIN_PATH, ~/.local/lib/gbees/plugins, that of the
 * build tree if the program runs from it, the installed one. Of backends: $GBEES_BACKEND_PATH, the build tree's, the
 * installed one.
 * @param plugin_path folders separated by colons, or NULL
 */
int gbees_registry_create(const char *plugin_path, gbees_registry **registry, gbees_error *error);
/** Has the registry load files that belong to other users (than root, the present one, and the owner of this library)
 * and files that others may write to. These are refused as a rule: their code has all rights of the user. */
void gbees_registry_trust(gbees_registry *registry);
/** Frees the registry, its models and its backends. */
void gbees_registry_destroy(gbees_registry *registry);

/** Loads a model. GBEES_EMODEL if it is unknown: the text names the nearest name and the folders searched.
 * @param name the model's name, or the path of a plugin: it contains a '/'
 */
int gbees_registry_model(gbees_registry *registry, const char *name, const gbees_model **model, gbees_error *error);
/** Loads a backend by its name. GBEES_EBACKEND if it is unknown. */
int gbees_registry_backend(gbees_registry *registry, const char *name, const gbees_backend **backend,
                           gbees_error *error);

/** A shared object of the folders: exactly one of model, backend and problem is set. */
typedef struct gbees_module_info {
    const char *path;             /**< its file */
    const gbees_model *model;     /**< what a plugin exports */
    const gbees_backend *backend; /**< what a backend exports */
    const char *problem;          /**< why it can't be used, or the file of the same name that is found before it */
} gbees_module_info;

/** Loads every .so of the folders, in order of search. The registry owns the list. */
int gbees_registry_scan(gbees_registry *registry, const gbees_module_info **list, size_t *count, gbees_error *error);
/** The folders of plugins in order of search, whether or not they exist. The registry owns them. */
int gbees_registry_folders(gbees_registry *registry, const char *const **folders, size_t *count);

/* ---- scenario: a YAML file and the changes made to it (core/io) ---- */

/** Keys and values (doc/scenario.md), each with its source. */
typedef struct gbees_scenario gbees_scenario;

/** Parses YAML and checks each key and value. GBEES_EINPUT names the place, "NAME:LINE: ...".
 * @param name stands for the text in errors
 */
int gbees_scenario_create(const char *text, const char *name, gbees_scenario **scenario, gbees_error *error);
/** The same from a file. */
int gbees_scenario_read(const char *path, gbees_scenario **scenario, gbees_error *error);
/** Frees the scenario. */
void gbees_scenario_destroy(gbees_scenario *scenario);
/** Sets a key, with the same checks.
 * @param assignment KEY=VALUE, the value in YAML; the key "parameters.NAME" sets one parameter
 */
int gbees_scenario_set(gbees_scenario *scenario, const char *assignment, gbees_error *error);
/** Copies from `defaults` the keys that `scenario` lacks; not `accuracy` if `scenario` defines the grid, the threshold,
 * the scheme or the initial density's record itself: what is so defined is run once (doc/scenario.md, "What wins"). */
int gbees_scenario_merge(gbees_scenario *scenario, const gbees_scenario *defaults, gbees_error *error);
/** Takes measurements from a folder or a file.
 *
 * A folder of the reference codes is read at once: measurement0.txt is the initial Gaussian, measurement1.txt ... the
 * measurements; the T of each file is the length of a leg. Of a file, which is a table (doc/scenario.md, "Measurements
 * in a table"), `measurements` keeps the name.
 * @param function the model's function that was measured; NULL: of a folder its first, of a table what its columns say
 */
int gbees_scenario_measurements(gbees_scenario *scenario, const char *path, const char *function, gbees_error *error);
/** Reads the table that `measurements: {file: ...}` names, if it names one, so that the scenario has its rows in its
 * place. Where the scenario has no `end` yet, the last row is it. */
int gbees_scenario_load(gbees_scenario *scenario, const gbees_model *model, gbees_error *error);
/** The scenario as YAML. It is valid until the scenario is changed or destroyed; NULL without memory. */
const char *gbees_scenario_text(gbees_scenario *scenario);

/* ---- problem (core/solver) ---- */

/** Makes a problem of a model and a scenario; checks what depends on several keys or on the model. `model` must
 * outlive the problem. */
int gbees_problem_create(const gbees_model *model, const gbees_scenario *scenario, gbees_problem **problem,
                         gbees_error *error);
/** Frees the problem. */
void gbees_problem_destroy(gbees_problem *problem);

/* ---- record: the density at one time (core/solver) ---- */

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
    uint64_t uncompared; /**< cells of a record whose joint density was not compared, as the audit does not see so many;
                          * 0: it was */
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

/** Writes "mean 0.012 std, std 0.018, marginals 0.015 std, density 0.03 (100000 samples, 41000 effective)", the largest
 * bounds along the axes; or the reason why nothing is certified.
 * @param unicode 1: a sigma in place of the "std" behind a number
 * @param text receives at most size - 1 bytes
 */
void gbees_certificate_text(const gbees_certificate *certificate, int dimension, int unicode, char *text, size_t size);

/** Samples of the model's equations at the time of a record, all of one weight: a picture of what is true. */
typedef struct gbees_sample_list {
    size_t count;                  /**< samples */
    const float *x[GBEES_MAX_DIM]; /**< x[j][i]: state j of sample i, in the model's axes */
} gbees_sample_list;

/** How well a frame that moves fits the density (gbees_record.frame). */
typedef struct gbees_record_frame {
    double bend;   /**< product of sqrt(lambda), lambda the eigenvalues of C^1/2 J C^1/2 of the covariance and the Fisher
                    * information: 1 for a Gaussian; the more, the less an affine frame can follow (doc/method.md) */
    double growth; /**< cells that would fit the density, over those that there are */
    int limited;   /**< directions along which `frame_cells` leaves fewer cells than the density asks for */
    int replaced;  /**< how often the cells have been replaced since the start */
    double rate;   /**< 1 / the step of Courant number 1: of the drift relative to the frame */
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
    double origin[GBEES_MAX_DIM];   /**< the middle of entry 0 along each state */
    double width[GBEES_MAX_DIM];    /**< of an entry */
    size_t length[GBEES_MAX_DIM];   /**< entries */
    double *p[GBEES_MAX_DIM];       /**< the probability of each */
} gbees_projection;

/** A record beside a truth (below, "truth"). */
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
    const gbees_record_mode *modes;       /**< `problem` has the grid and `frame` the shape of the first one; NULL: all
                                           * of the density is in the record's own cells */
    const gbees_score *score;             /**< beside a truth; NULL: there is none. The observer sets it */
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

/* ---- warnings (core/solver) ---- */

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

/* ---- checkpoint ---- */

/** A run's state at one time: what another process needs to go on as if the run had never stopped. It is made by
 * gbees_solver_run(), written by gbees_writer_checkpoint(), and read by gbees_checkpoint_read(). */
typedef struct gbees_checkpoint gbees_checkpoint;

/* ---- audit (core/audit) ---- */

/** Samples of the model's own equations that are carried along with a run, weighted at its updates, and compared with
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
    const gbees_backend *backend; /**< carries many samples, if it can; it outlives the audit. NULL: the threads do */
} gbees_audit_options;

/** Draws the samples from the problem's whole initial density, what its grid cuts off included. `problem` must
 * outlive the audit. */
int gbees_audit_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_audit **audit,
                       gbees_error *error);
/** Estimates, with 10,000 samples, what share of samples the problem's measurements leave effective.
 * @param share receives the least share after a measurement, 1 without any
 */
int gbees_audit_effective(const gbees_problem *problem, int threads, double *share, gbees_error *error);
/** Frees the audit. */
void gbees_audit_destroy(gbees_audit *audit);
/** Carries the samples to a record, which is no earlier than the one before, and compares. A record without cells or
 * marginals has its moments certified only. When samples are lost (one is no longer finite, none fits a measurement)
 * certificates say so; only a lack of memory is a failure. */
int gbees_audit_record(gbees_audit *audit, const gbees_record *record, gbees_certificate *certificate,
                       gbees_error *error);
/** A thousand of the samples at the last record, chosen by their weights: heavy ones more than once. They are the
 * audit's, until the next record. NULL: there are none. */
const gbees_sample_list *gbees_audit_samples(gbees_audit *audit);
/** Begins again, with the first record of another run of the same equations on another grid: samples that were kept
 * are not carried again. */
void gbees_audit_rewind(gbees_audit *audit);
/** Weights the samples by measurement `number`, the next one, counted from 1, and sets what they know of its
 * evidence. log_evidence and total are the run's. */
void gbees_audit_update(gbees_audit *audit, int number, gbees_evidence *evidence);
/** Adds the samples, and what the audit knows of the run, to a checkpoint. Not for one that keeps samples. */
int gbees_audit_save(const gbees_audit *audit, gbees_checkpoint *checkpoint, gbees_error *error);
/** Takes them from a checkpoint of the same problem; the audit is as gbees_audit_create() has made it. */
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

/* ---- truth: what a run is to find, where that is known (core/audit, core/io) ---- */

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

/* ---- solver (core/solver) ---- */

/** One run of a problem on a backend. */
typedef struct gbees_solver gbees_solver;

/** Functions that gbees_solver_run() calls; each may be NULL. A non-zero return stops the run: that of `cancelled`
 * with GBEES_ECANCELLED, others with that status and the text that they wrote to error.
 *
 * Records and updates come in their order, one at a time. If `concurrent` is set, a thread of the solver calls
 * `record`, `update` and `checkpoint` while the run goes on. The caller's thread calls `progress`, `cancelled` and
 * `checkpoint_due`, possibly at the same time, and up to two records ahead. All calls have returned when
 * gbees_solver_run() returns, whatever it returns. */
typedef struct gbees_observer {
    void *context; /**< the first argument of each function */
    /** A record is made. */
    int (*record)(void *context, const gbees_record *record, gbees_error *error);
    /** Measurement `number`, counted from 1, has been applied. */
    int (*update)(void *context, const gbees_problem *problem, int number, double time,
                  const gbees_evidence *evidence, gbees_error *error);
    /** A few times a second; fraction: the part of the run's model time that is done. */
    int (*progress)(void *context, double time, double fraction, const gbees_totals *totals, gbees_error *error);
    /** Polled several times a second; non-zero ends the run. */
    int (*cancelled)(void *context);
    /** Polled as `cancelled` is; non-zero: `checkpoint` is called with the state of now. */
    int (*checkpoint_due)(void *context);
    /** A checkpoint is made, also when the run is cancelled; all records and updates before it have been received.
     * The function may add to it, but not keep it. Never called with a backend that can't save its state, or without
     * memory for it. */
    int (*checkpoint)(void *context, gbees_checkpoint *checkpoint, gbees_error *error);
    int concurrent;     /**< 1: another thread may call record and update */
    int marginals;      /**< 1: records have marginals if the backend makes them */
    int no_cells;       /**< 1: records have no cells; an audit sees those of small ones */
    uint64_t cells_most; /**< records of more cells have none; 0: all that `no_cells` lets have them */
    gbees_audit *audit; /**< of the same problem: records have certificates. NULL: they have none */
} gbees_observer;

/** What a run did and took. */
typedef struct gbees_summary {
    const gbees_problem *problem; /**< that of the run */
    gbees_totals totals;          /**< since the start */
    unsigned warnings;            /**< gbees_warning bits */
    int updates;                  /**< measurements that have been applied */
    gbees_evidence evidence;      /**< of the last of them, if there is one */
    double wall_s;                /**< seconds in gbees_solver_run() */
    double propagate_s;           /**< seconds in steps and updates alone */
} gbees_summary;

/** Makes a solver, and the backend's engine with the initial density. `problem` and `backend` must outlive it.
 * @param options NULL: the defaults
 */
int gbees_solver_create(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, gbees_solver **solver, gbees_error *error);
/** The same, in the state of a checkpoint of the same problem: gbees_solver_run() goes on from there. GBEES_EINPUT:
 * it is one of another problem, or of another backend. */
int gbees_solver_resume(const gbees_problem *problem, const gbees_backend *backend,
                        const gbees_engine_options *options, const gbees_checkpoint *checkpoint,
                        gbees_solver **solver, gbees_error *error);
/** Frees the solver and its engine. */
void gbees_solver_destroy(gbees_solver *solver);
/** Runs the problem to its end; a solver runs once. Errors name the time, leg and step.
 * @param observer NULL: none
 */
int gbees_solver_run(gbees_solver *solver, const gbees_observer *observer, gbees_error *error);
/** The summary so far, also after a failed run. */
void gbees_solver_summary(const gbees_solver *solver, gbees_summary *summary);

/* ---- an accuracy (core/accuracy) ---- */

/** Plans runs of one problem, each with a finer grid, until the certificate of every record is within the accuracy
 * that the problem asks for:
 *
 *     gbees_refinement_create -> (gbees_refinement_scenario -> gbees_problem_create -> gbees_solver_run, whose
 *         observer calls gbees_refinement_record -> gbees_refinement_finish) as long as it has a `next`
 */
typedef struct gbees_refinement gbees_refinement;

/** What a run has shown, and what the next one would take. */
typedef struct gbees_refinement_step {
    int run;             /**< that has ended, counted from 1 */
    int met;             /**< 1: all certificates are within the accuracy, 0: not all, -1: it can't be told */
    int best;            /**< 1: no run before was better */
    double error;        /**< the largest bound of a record; NAN: it can't be told */
    double time;         /**< that record's */
    double estimate;     /**< where it can't be told: the largest estimate of such a record, which is no bound */
    double evidence_estimate; /**< the same of the logarithm of all measurements' evidence; NAN: the samples can tell it,
                               * or no run before had wider cells */
    double updates;      /**< cell updates of the run */
    double seconds;      /**< that it took */
    size_t samples;      /**< of its audit */
    int next;            /**< 1: another run is planned */
    double next_updates; /**< that it would take */
    double next_seconds; /**< that it would take */
    double next_bytes;   /**< of memory that it would take */
} gbees_refinement_step;

/** Makes a plan for a problem with an `accuracy`, which must outlive it. */
int gbees_refinement_create(const gbees_problem *problem, gbees_refinement **refinement, gbees_error *error);
/** Frees it. */
void gbees_refinement_destroy(gbees_refinement *refinement);
/** Has it plan for measurements that leave this share of samples effective (gbees_audit_effective()). */
void gbees_refinement_expect(gbees_refinement *refinement, double share);
/** How many samples the next run's audit is to have. */
size_t gbees_refinement_samples(const gbees_refinement *refinement);
/** Sets the keys of the next run in a scenario: factor, regrid, extent and mass_budget_total. */
int gbees_refinement_scenario(const gbees_refinement *refinement, gbees_scenario *scenario, gbees_error *error);
/** Estimates the error of a record without a certificate: the largest difference of a mean, in standard deviations, or
 * of a standard deviation, relative, to the run before on coarser cells, for an error in proportion to their width. It
 * is no bound. NAN: there is no such run. */
double gbees_refinement_estimate(const gbees_refinement *refinement, const gbees_record *record);
/** Takes a record of the run, with its certificate and, as far as there are, its cells. */
int gbees_refinement_record(gbees_refinement *refinement, const gbees_record *record, gbees_error *error);
/** Ends a run and plans the next. */
int gbees_refinement_finish(gbees_refinement *refinement, const gbees_summary *summary, gbees_refinement_step *step,
                            gbees_error *error);

/* ---- results on disk (core/io; doc/results.md) ---- */

/** What a results folder stores about its run beside the problem. */
typedef struct gbees_provenance {
    const char *plugin_path; /**< the plugin's file */
    const char *scenario;    /**< YAML */
    const char *backend;     /**< its name */
    const char *device;      /**< the processor */
    const char *command;     /**< the command line */
} gbees_provenance;

/** A results folder that is being written. */
typedef struct gbees_writer gbees_writer;

/** Makes the folder at once, so that an error is found before the run. It must not exist, or be empty. `problem` must
 * outlive the writer; `provenance` is copied. */
int gbees_writer_create(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        gbees_writer **writer, gbees_error *error);
/** Writes a record's file, and its row of the time series. The time series (moments.h5) is on disk within a second, if
 * gbees_writer_sync() is called meanwhile, and all files are synced as often. */
int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error);
/** Writes an update's row; the arguments are those of gbees_observer.update. */
int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error);
/** Which records' densities a writer writes; the time series has all records. */
typedef enum gbees_densities {
    GBEES_DENSITIES_ALL,  /**< each */
    GBEES_DENSITIES_LAST, /**< those at the end of the run */
    GBEES_DENSITIES_NONE  /**< none */
} gbees_densities;
/** Sets that; every: with GBEES_DENSITIES_ALL only each record whose number, counted from 0 over the whole run, is a
 * multiple of it. 0: each. */
void gbees_writer_densities(gbees_writer *writer, gbees_densities densities, int every);
/** Has what was written more than a second ago on disk, time series included; call it a few times a second. It may be
 * called by another thread than the functions above. */
int gbees_writer_sync(gbees_writer *writer, gbees_error *error);
/** Takes the folder of a run that has been stopped, to go on from a checkpoint: records that were made after it are
 * written anew. run.json lists when and how the run was resumed.
 * @param forced 1: although something differs, which run.json then tells
 */
int gbees_writer_resume(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        const gbees_checkpoint *checkpoint, int forced, gbees_writer **writer, gbees_error *error);
/** Writes a checkpoint to the folder, in place of the older of two. */
int gbees_writer_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error);
/** Has gbees_writer_finish() list the runs that an accuracy took; they are copied. */
int gbees_writer_runs(gbees_writer *writer, const gbees_refinement_step *runs, int count, gbees_error *error);
/** Marks the run as ended. It may be called again.
 * @param state "complete", "failed" or "cancelled"
 */
int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error);
/** Removes the checkpoints: the run has reached its end. */
void gbees_writer_remove_checkpoints(gbees_writer *writer);
/** Frees the writer; the folder stays. */
void gbees_writer_destroy(gbees_writer *writer);

/** Reads the newest checkpoint of a results folder that is whole.
 * @param note receives why a newer one is not used, one line, or nothing
 */
int gbees_checkpoint_read(const char *folder, gbees_checkpoint **checkpoint, gbees_error *note, gbees_error *error);
/** Refuses a checkpoint of a plugin, of parameters or of a scenario that differ: GBEES_EINPUT, with what differs. */
int gbees_checkpoint_check(const gbees_checkpoint *checkpoint, const gbees_problem *problem, const char *scenario,
                           gbees_error *error);
/** Frees a checkpoint that was read. */
void gbees_checkpoint_destroy(gbees_checkpoint *checkpoint);

/** A part of a snapshot's density, on a grid of its own: cells first ... first + count - 1. */
typedef struct gbees_snapshot_mode {
    size_t first, count;                      /**< its cells */
    double weight;                            /**< its part of the mass, cells below p* included */
    double origin[GBEES_MAX_DIM];             /**< the centre of cell 0 */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major: as that of the snapshot */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];  /**< of it */
} gbees_snapshot_mode;

/** One record, read back. */
typedef struct gbees_snapshot {
    int leg;                      /**< counted from 0 */
    int number;                   /**< in its leg, counted from 0 */
    int dimension;                /**< n: entries per axis below */
    double time;                  /**< model time */
    uint64_t step;                /**< steps of this run and of those that it continues */
    double origin[GBEES_MAX_DIM]; /**< the centre of cell 0 */
    double width[GBEES_MAX_DIM];  /**< of a cell */
    int rotated; /**< 1: the centre of cell i is origin + rotation (width * i); 0: rotation is the identity */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major; of a grid that moves any matrix */
    double inverse[GBEES_MAX_DIM * GBEES_MAX_DIM];  /**< of it */
    char name[GBEES_MAX_DIM][64];                   /**< of the states */
    char unit[GBEES_MAX_DIM][64];                   /**< of the states */
    char model[64];                                 /**< name of the model */
    double mass;        /**< sum of P before normalisation; not a number in files of old versions */
    gbees_ledger total; /**< since the start; not numbers in files of old versions */
    gbees_ledger since; /**< since the record before; not numbers in files of old versions */
    int warning_count;  /**< entries of `warning` */
    char warning[GBEES_WARNING_COUNT][GBEES_WARNING_TEXT]; /**< texts */
    size_t count;                                          /**< cells */
    int32_t *index[GBEES_MAX_DIM];                         /**< index[j][i]: of cell i along axis j */
    double *p;                                             /**< p[i]: its probability */
    int certified;                 /**< 1: `certificate` is set; 0: the run had no audit, or the file is older */
    gbees_certificate certificate; /**< of the record's error */
    gbees_sample_list samples;     /**< of the audit; empty: there are none */
    int mode_count;                /**< entries of `mode`: 0, or at least 2: origin and rotation are then the first's */
    gbees_snapshot_mode mode[GBEES_MODES_MOST]; /**< parts of the density, in order of their cells */
} gbees_snapshot;

/** A results folder that is being read. */
typedef struct gbees_results gbees_results;
/** Opens a results folder, also of a run that goes on or has failed. */
int gbees_results_open(const char *folder, gbees_results **results, gbees_error *error);
/** The number of records, at least 1. */
size_t gbees_results_count(const gbees_results *results);
/** Reads record `number`, counted from 0 in order of leg and number. The caller destroys the snapshot. A child process
 * reads the file: one that is damaged is an error, whatever it does to the libraries that read it. */
int gbees_results_read(const gbees_results *results, size_t number, gbees_snapshot **snapshot, gbees_error *error);
/** Takes what gbees_results_verify() finds of a file.
 * @param file its name in the folder
 * @param summed whether it has checksums
 * @param problem how it is damaged, or NULL
 */
typedef void gbees_file_report(void *context, const char *file, int summed, const gbees_error *problem);
/** Reads all records and the time series, and reports on each file, and on gaps between records, in order. */
void gbees_results_verify(const gbees_results *results, gbees_file_report *report, void *context);
/** Points of one state. */
typedef struct gbees_points {
    size_t count;  /**< of them, in order of time */
    double *time;  /**< model time */
    double *value; /**< of the state */
    double *std;   /**< standard deviation of its noise; NAN where there is none */
} gbees_points;
/** What was measured and what is true of each state, as far as a results folder has it. */
typedef struct gbees_series {
    size_t measurements;                  /**< of the run */
    gbees_points measured[GBEES_MAX_DIM]; /**< by components with the name of state j */
    gbees_points truth[GBEES_MAX_DIM];    /**< of state j */
} gbees_series;
/** Reads them, in a child process; all are empty if there is no moments.h5 yet.
 * @param name of the states, as in a snapshot
 */
int gbees_series_read(const char *folder, int dimension, const char (*name)[64], gbees_series **series,
                      gbees_error *error);
/** Frees them. */
void gbees_series_destroy(gbees_series *series);
/** Frees the snapshot. */
void gbees_snapshot_destroy(gbees_snapshot *snapshot);
/** The mode that a cell belongs to; NULL: the density is in one part. */
const gbees_snapshot_mode *gbees_snapshot_mode_of(const gbees_snapshot *snapshot, size_t cell);
/** The centre of a cell along state j, in the model's axes. */
double gbees_snapshot_centre(const gbees_snapshot *snapshot, int j, size_t cell);
/** Frees the reader; the folder stays. */
void gbees_results_destroy(gbees_results *results);

#ifdef __cplusplus
}
#endif
#endif
