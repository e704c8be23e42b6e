/** @file gbees/backend.h
 * The contract between the solver and a backend: for authors of backends.
 *
 * A backend is a module that holds the grid and the density in the memory of a processor and advances them there. It
 * exports one const struct, its descriptor (card), named gbees_backend_card. The solver calls its functions; the
 * backend has no notion of files, legs or records.
 *
 * The density is not normalised between updates: the sum of P over all cells starts at 1 and changes by clipping,
 * outflow and pruning. Comparisons with p* are made with p* times that sum. Results (statistics, cells) are
 * normalised to 1. In paper and legacy mode the density is normalised in each step. Each change of the sum is an
 * entry of the ledger (gbees_totals).
 */
#ifndef GBEES_BACKEND_H
#define GBEES_BACKEND_H

#include <gbees/error.h>
#include <gbees/parallel.h>
#include <gbees/problem.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GBEES_BACKEND_ABI = 11 /**< raised whenever the layout below changes */ };

typedef struct gbees_engine gbees_engine;         /**< a backend's state of a run */
typedef struct gbees_capture gbees_capture;       /**< a backend's copy of the cells of one time */
typedef struct gbees_hold gbees_hold;             /**< what a backend's engines share, kept between two of them */
typedef struct gbees_integrator gbees_integrator; /**< what a backend needs to carry samples of a model */

/** Options of a run. */
typedef struct gbees_engine_options {
    int threads;       /**< 0: as many as the machine has */
    int deterministic; /**< 1: all backends give the same bits up to the first update, if the model uses only + - * /
                        * and sqrt, which round the same everywhere */
    double memory_bytes; /**< that the grid may take: from half of it on a mass budget raises p*. 0: 0.8 of the
                          * machine's, 0.9 of the GPU's */
    const gbees_parallel *parallel; /**< the ranks that share the grid; it outlives the engine. NULL: one process */
} gbees_engine_options;

/** The time of the run; owned by the solver, advanced by the backend. An interval is the time between two records. */
typedef struct gbees_clock {
    double time;       /**< model time */
    double elapsed;    /**< since the start of the interval; at its end exactly `length` */
    double length;     /**< of the interval */
    uint64_t leg_step; /**< steps taken in this leg; prunes are counted from its start */
} gbees_clock;

/** Warnings, one bit each. A backend sets GBEES_WARNING_BUDGET_MEMORY and _FLOOR; gbees_warnings() (gbees.h) derives
 * the others from the problem and the ledger. */
typedef enum gbees_warning {
    GBEES_WARNING_BOX = 1,            /**< the initial box cuts off more than 1.5 % of its Gaussian */
    GBEES_WARNING_WIDTH = 2,          /**< cells wider than 1.5 standard deviations */
    GBEES_WARNING_MASS_LOST = 4,      /**< more than a tenth of the mass has been lost since the start */
    GBEES_WARNING_BUDGET_MEMORY = 8,  /**< by a backend: memory did not allow the p* of the mass budget */
    GBEES_WARNING_BUDGET_FLOOR = 16,  /**< by a backend: the budget is exceeded though p* was lowered */
    GBEES_WARNING_BUDGET_SPENT = 32,  /**< more than 1.6 times the whole run's budget has been lost */
    GBEES_WARNING_NARROW = 128,       /**< a marginal's standard deviation is below 1.5 cells at a record */
    GBEES_WARNING_ACCURACY = 256,     /**< a record has no certificate within the accuracy that was asked for */
    GBEES_WARNING_AUDIT = 64,         /**< the audit's samples have another mean or another standard deviation */
    GBEES_WARNING_JUMP = 512,         /**< the drift is not continuous in the initial density */
    GBEES_WARNING_TAIL = 1024,        /**< a measurement has selected a part of the density that is hardly resolved */
    GBEES_WARNING_EVIDENCE = 2048,    /**< the audit's samples have another evidence */
    GBEES_WARNING_FRAME_CELLS = 4096, /**< `frame_cells` keeps the cells of a grid that moves too wide */
    GBEES_WARNING_FRAME_COST = 8192   /**< a grid at rest would have taken longer steps than one that moves */
} gbees_warning;
enum { GBEES_WARNING_COUNT = 14 /**< kinds of warnings */ };

/** Running totals since gbees_backend.create(). The ledger holds at any time:
 *
 *     sum of P = 1 + mass_clipped + mass_normalised - mass_outflow - mass_pruned
 */
typedef struct gbees_totals {
    uint64_t steps;          /**< taken */
    double cell_updates;     /**< needed cells (see gbees_statistics.cells), summed over steps */
    double raw_cell_updates; /**< all cells of resident bricks, summed over steps */
    uint64_t max_cells;      /**< largest number of needed cells seen at a count */
    uint64_t peak_bytes;     /**< largest memory held, with the list of cells while the grid changes */
    double mass_clipped;     /**< gained by setting negative cells to 0 */
    double mass_outflow;     /**< lost through faces with no neighbour */
    double mass_pruned;      /**< lost by pruning, an update's too */
    double mass_normalised;  /**< gained by normalising: in updates; in paper and legacy mode in steps, too */
    double time_step;        /**< of the last step, 0 before the first */
    double threshold;        /**< the present p* */
    double coupling;   /**< split schemes: the drift's Jacobian off the diagonal, in cells (doc/method.md); else 0 */
    unsigned warnings; /**< GBEES_WARNING_BUDGET_MEMORY and _BUDGET_FLOOR; a bit stays set */
    int threads;       /**< in use */
    int ranks;         /**< that share the grid; 0: the run is one process's. Then the rest is 0, too */
    double imbalance;  /**< bricks of the rank that has most over the mean of all, averaged over the steps */
    double bytes_exchanged; /**< sent between ranks, by all of them */
    double seconds_waited;  /**< in the communicator, by the rank that has waited longest */
} gbees_totals;

/** Statistics of the present density. Sums run over all resident cells; positions are cell centres in the grid's
 * axes. */
typedef struct gbees_statistics {
    uint64_t cells;       /**< needed: P >= p* and their downwind neighbours, among the resident ones */
    uint64_t cells_above; /**< P >= p* */
    uint64_t cells_raw;   /**< resident */
    double mass;          /**< sum of P before normalisation: 1 at the start; after an update 1 less what it pruned */
    double mean[GBEES_MAX_DIM];                       /**< of the states */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major */
    double entropy;                                   /**< -sum P log(P / volume of a cell), nats */
    double peak;                                      /**< the largest P, normalised */
    int32_t peak_index[GBEES_MAX_DIM];                /**< index of its cell */
} gbees_statistics;

/** What an update computes beside the density: its first two numbers by the backend, the others by the solver. */
typedef struct gbees_evidence {
    double log_evidence;       /**< log of the integral of likelihood times prior: log C of the paper's Eq. (4) */
    double log_likelihood_max; /**< the largest over the cells, relative to the likelihood's peak: 0 is a perfect
                                * match. A model's own log_likelihood() has no such reference: as it is */
    double total;              /**< of the log_evidence of all updates so far: the logarithm of the whole evidence */
    double sampled;       /**< log_evidence by the audit's samples; NAN: there are none, or too few have weight */
    double sampled_error; /**< its standard error; NAN: not known */
    double total_sampled; /**< `total` by the samples; NAN: as above */
    double total_error;   /**< its standard error; NAN: not known */
} gbees_evidence;

/** Marginals: sums of the normalised P of a record's cells over all axes but one or two; dense over the
 * range of the cells' indices. One block of malloc()ed memory holds all of it. */
typedef struct gbees_marginals {
    int32_t first[GBEES_MAX_DIM];                      /**< index of the first entry along each axis */
    uint64_t length[GBEES_MAX_DIM];                    /**< entries along each axis */
    const double *line[GBEES_MAX_DIM];                 /**< along axis j */
    const double *plane[GBEES_MAX_DIM][GBEES_MAX_DIM]; /**< [j][k], j < k, row-major; NULL: it was too large */
} gbees_marginals;

/** Samples of a model's equations, in the model's axes, and how they are integrated: by equal steps of Runge and
 * Kutta's classical method, between two half steps of Euler and Maruyama's where the model has noise. The doubt of a
 * step estimates its error: the step times the difference of the drifts at the two stages in its middle, over
 * `scale`, along the worst axis. A step with more doubt than `doubt_most` is taken in parts. */
typedef struct gbees_integration {
    uint64_t count;              /**< samples */
    const double *const *from;   /**< from[j][i]: state j of sample i before */
    double *const *to;           /**< to[j][i]: state j of sample i after; may be `from` */
    const uint64_t *number;      /**< the number of each sample, a counter of its random numbers; NULL: its place */
    uint64_t seed;               /**< of the random numbers */
    double time;                 /**< at the first step's start */
    double time_step;            /**< of each step */
    uint64_t steps;              /**< number of steps to be taken */
    uint64_t first;              /**< number of steps taken before, a counter of the random numbers, too */
    double scale[GBEES_MAX_DIM]; /**< the unit of doubt along each axis */
    double doubt_most;           /**< a step with more doubt is taken in parts */
} gbees_integration;

/** The frame of a grid that moves: its points are x = centre + axes y of the model, and the velocity of the grid
 * itself, along its axes, is velocity + gradient y (gbees/model_framed.h). Matrices are n x n, row-major. */
typedef struct gbees_grid_frame {
    double centre[GBEES_MAX_DIM];       /**< in the model's axes */
    double axes[GBEES_MAX_ENTRIES];     /**< its columns are the edges of a cell */
    double inverse[GBEES_MAX_ENTRIES];  /**< of it */
    double velocity[GBEES_MAX_DIM];     /**< of the grid itself, at y = 0 */
    double gradient[GBEES_MAX_ENTRIES]; /**< of the same */
    double negligible; /**< the grid does not grow where the drift relative to it is slower; in units of y */
    double time_step;  /**< the next step is not longer, > 0 */
} gbees_grid_frame;

/** Sums over points of P, P y, P y y^T, P f and P f y^T; f is the drift at y. */
typedef struct gbees_affine_sums {
    double mass;                  /**< of P */
    double y[GBEES_MAX_DIM];      /**< of P y */
    double yy[GBEES_MAX_ENTRIES]; /**< [n][n], of P y y^T */
    double f[GBEES_MAX_DIM];      /**< of P f */
    double fy[GBEES_MAX_ENTRIES]; /**< [n][n], of P f y^T: component of f, then of y */
} gbees_affine_sums;

/** Receives `count` cells: index[j][i] is the index of cell i along axis j, p[i] its normalised probability. Returns
 * 0 to go on, anything else to stop. */
typedef int gbees_cell_visitor(void *context, size_t count, const int32_t *const *index, const double *p);

/** Receives a part of a state: `count` items of `size` bytes (1, 2, 4 or 8), under a name of at most 31 letters.
 * Returns 0 to go on, anything else to stop. */
typedef int gbees_state_sink(void *context, const char *name, size_t size, uint64_t count, const void *data);

/** Returns such a part, which lives as long as the source; NULL: there is none of that name with items of that size.
 */
typedef const void *gbees_state_source(void *context, const char *name, size_t size, uint64_t *count);

/** Receives one line of text, without its line end. */
typedef void gbees_line_sink(void *context, const char *line);

/** The descriptor (card) of a backend. A function that returns int and takes a gbees_error returns a gbees_status. */
typedef struct gbees_backend {
    unsigned abi;      /**< GBEES_BACKEND_ABI: checked before any other field is read */
    unsigned size;     /**< sizeof(gbees_backend) */
    const char *name;  /**< as --backend takes it */
    const char *title; /**< one line */

    /** Returns 0 if the backend can be used on this machine. `text` then names the processor, or is empty; else it
     * gives the reason in one sentence. */
    int (*probe)(char *text, size_t size);

    /** Compiles what a run of the problem would compile at its start, for the architecture `arch` (NULL: that of this
     * machine's processor), and reports on it to `sink`, line by line. It needs no such processor. The pointer is
     * NULL if the backend compiles nothing at run time. */
    int (*compile)(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                   gbees_error *error);

    /** Returns an upper bound of the bytes of the initial density. */
    double (*estimate)(const gbees_problem *problem);

    /** Makes an engine with the problem's initial density. Its sum is 1, or that of the problem's `cells`. The
     * problem must outlive it. */
    int (*create)(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error);
    /** Frees the engine. */
    void (*destroy)(gbees_engine *engine);
    /** Makes an engine of a problem one of another problem that differs in its grid and its `cells` alone, as
     * destroy() and create() with the same options would, but keeps what takes long to open: memory, a GPU's kernels.
     * There are no captures then. The problem of before is of no more use; after an error, the engine is not either,
     * but to be destroyed. NULL if the backend would gain nothing by it. */
    int (*restart)(gbees_engine *engine, const gbees_problem *problem, gbees_error *error);
    /** On the ranks but 0 of a run with options->parallel: makes this rank's part of the grid, and does what rank 0's
     * engine is asked for until that is destroyed. All other functions are called on rank 0 alone. The pointer is
     * NULL if the backend's grids can't be shared. */
    int (*serve)(const gbees_problem *problem, const gbees_engine_options *options, gbees_error *error);

    /** Takes at most max_steps steps; the last one ends at the latest where clock->elapsed == clock->length. */
    int (*advance)(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error);

    /** Applies Bayes' rule with one measurement (paper, Eq. (4)), then prunes. GBEES_EUNSUPPORTED if no cell supports
     * the measurement: the density is unchanged. GBEES_EUSAGE if the engine is not made for updates, as its problem
     * has no measurement up to its end. */
    int (*update)(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);

    /** Computes the statistics of the present density. */
    int (*statistics)(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                      gbees_error *error);

    /** Visits the cells with P >= fraction * p*, in an order that depends only on the density. A record has fraction
     * 1; 0 visits all with P > 0. */
    int (*cells)(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                 gbees_error *error);

    /** Gives all that the engine's further steps depend on, in full precision, to a sink, between two calls of
     * advance(). GBEES_ENOMEM if the sink stops. Both pointers are NULL if the backend can't. */
    int (*save)(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error);
    /** Makes an engine of the same problem in the state that was saved: it goes on as if it had never stopped, bit
     * for bit, on any number of threads. GBEES_EINPUT: the state is not one of such an engine. */
    int (*load)(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error);

    /** Returns the totals so far. */
    void (*totals)(const gbees_engine *engine, gbees_totals *totals);

    /** Copies the cells that cells() would visit for a record, so that they can be visited while the engine advances.
     * *capture is NULL if there is no memory for the copy. All three pointers are NULL if the backend has no
     * captures. */
    int (*capture)(gbees_engine *engine, gbees_capture **capture, gbees_error *error);
    /** Visits the cells of a capture once, from any thread. */
    int (*capture_cells)(gbees_capture *capture, gbees_cell_visitor *visitor, void *context, gbees_error *error);
    /** Frees a capture, before the engine is destroyed. */
    void (*capture_free)(gbees_capture *capture);

    /** Computes the marginals of the cells that cells() would visit for a record, without planes of more than `most`
     * entries. *marginals is NULL if there is no memory for them; else the caller free()s it. The pointer is NULL if
     * the backend computes no marginals. */
    int (*marginals)(gbees_engine *engine, uint64_t most, gbees_marginals **marginals, gbees_error *error);

    /** Sets the frame of the problem's grid, which moves, from now on, and with `rate` all that steps need: the drift
     * relative to it at this time. *rate is then the largest of a cell, 1 / the step of Courant number 1. Without
     * (NULL) steps must not be taken before the next call. All three pointers are NULL if grids of the backend don't
     * move. */
    int (*frame_set)(gbees_engine *engine, const gbees_grid_frame *frame, double time, double *rate,
                     gbees_error *error);
    /** Computes the sums over all cells of the present density, with the drift relative to the frame at this time,
     * along its axes, as f. */
    int (*frame_fit)(gbees_engine *engine, double time, gbees_affine_sums *sums, gbees_error *error);
    /** Computes J = 4 sum (grad sqrt P)(grad sqrt P)^T, n x n, of the normalised density, by differences of cells. */
    int (*frame_information)(gbees_engine *engine, double *information, gbees_error *error);

    /** Keeps open what engines share and what takes long to open, as a GPU's context, until it is released: while one
     * run follows another. Both pointers are NULL if there is no such thing. */
    int (*hold)(gbees_hold **hold, gbees_error *error);
    /** Releases it. NULL is allowed. */
    void (*release)(gbees_hold *hold);

    /** Begins to prepare the integration of samples of the problem's model, and returns without waiting. The problem
     * must outlive the integrator; its bound and its grid's axes have no effect. All three pointers are NULL if the
     * backend does not integrate samples. */
    int (*integrator_create)(const gbees_problem *problem, gbees_integrator **integrator, gbees_error *error);
    /** Integrates samples; from any thread, one call at a time. Sets *done to 1, or to 0 with nothing done if the
     * integrator is not ready yet or has no memory for them. After an error it must only be destroyed. */
    int (*integrator_run)(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                          gbees_error *error);
    /** Frees it. NULL is allowed. */
    void (*integrator_destroy)(gbees_integrator *integrator);
} gbees_backend;

#if defined(__GNUC__)
#define GBEES_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define GBEES_BACKEND_EXPORT
#endif

#ifdef __cplusplus
}
#endif
#endif
