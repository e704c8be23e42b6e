/** @file gbees/backend.h
 * The contract between the solver and a backend: for authors of backends.
 *
 * A backend is a module that holds the grid and the density in the memory of a processor (CPU or GPU) and advances
 * them there. It exports one const struct, its descriptor (card), named gbees_backend_card. The solver calls its
 * functions from one thread at a time, except where a function says otherwise; the backend knows no files, legs or
 * records.
 *
 * P is a cell's probability, the density times the cell's volume. Between updates P is not normalised: its sum over
 * all cells starts at 1 and changes by clipping, outflow and pruning, each of which is an entry of the ledger
 * (gbees_totals). A cell is compared with p* times that sum. Statistics and cells are returned normalised to 1. In
 * paper and legacy mode P is normalised in each step.
 *
 * Units are the model's: time, states, and rates per unit of time. Entropies and evidences are in nats.
 */
#ifndef GBEES_BACKEND_H
#define GBEES_BACKEND_H

#include <gbees/error.h>
#include <gbees/parallel.h>
#include <gbees/problem.h>
#include <gbees/remap.h>
#include <stdint.h>

GBEES_BEGIN

enum { GBEES_BACKEND_ABI = 24 /**< raised whenever the layout below changes */ };

typedef struct gbees_engine gbees_engine;         /**< a run's grid and density on a backend */
typedef struct gbees_capture gbees_capture;       /**< a copy of the cells at one time */
typedef struct gbees_hold gbees_hold;             /**< keeps resources open that a backend's engines share */
typedef struct gbees_integrator gbees_integrator; /**< integrates samples of a model's equations */

struct gbees_certificate;
struct gbees_record;

/** Options of a run. */
typedef struct gbees_engine_options {
    int threads;         /**< of the CPU; 0: OMP_NUM_THREADS, or as many as the machine has */
    int deterministic;   /**< 1: all backends give the same bits up to the first update, if the model's equations use
                          * only + - * / and sqrt, whose rounding IEEE 754 defines */
    double memory_bytes; /**< the most memory that the grid may take. With a mass budget p* is raised once half of it
                          * is taken. 0: 0.8 of the machine's memory, or 0.9 of the GPU's */
    const gbees_parallel *parallel; /**< the ranks that share the grid; must outlive the engine. NULL: one process */
    int ranks_per_gpu;              /**< ranks of a machine that take one GPU; 0: one */
    const struct gbees_backend *lender; /**< of an engine that takes points along the flow: whose integrator it may
                                         * use; must outlive the engine. NULL: none */
    int (*cancelled)(void *context);    /**< asked within long calls: not 0 if the run is to end. NULL: it is not */
    void *cancelled_context;            /**< of `cancelled` */
} gbees_engine_options;

/** The time of the run; owned by the solver, advanced by the backend. An interval is the time between two records. */
typedef struct gbees_clock {
    double time;       /**< model time */
    double elapsed;    /**< model time since the start of the interval; at its end it equals `length` exactly */
    double length;     /**< model time of the interval */
    uint64_t leg_step; /**< steps taken in this leg; the grid is pruned after every prune_interval of them */
} gbees_clock;

/** The warnings, one a row: GBEES_WARNING_..., its bit, which is never given to another, and when it holds. A
 * backend sets BUDGET_MEMORY, BUDGET_FLOOR and BLOW_UP; gbees_warnings() (gbees.h) derives the others from the
 * problem and the ledger. Their texts: core/record/warnings.c. */
#define GBEES_WARNING_ROWS(ROW)                                                                                      \
    ROW(BOX, 0, "the initial box cuts off more than 1.5 % of its Gaussian")                                          \
    ROW(WIDTH, 1, "cells wider than 1.5 standard deviations")                                                        \
    ROW(MASS_LOST, 2, "more than a tenth of the mass has been lost since the start")                                 \
    ROW(BUDGET_MEMORY, 3, "by a backend: memory did not allow the p* of the mass budget")                            \
    ROW(BUDGET_FLOOR, 4, "by a backend: the budget is exceeded though p* was lowered")                               \
    ROW(BUDGET_SPENT, 5, "more than 1.6 times the whole run's budget has been lost")                                 \
    ROW(AUDIT, 6, "the audit's samples have another mean or another standard deviation")                             \
    ROW(NARROW, 7, "a marginal's standard deviation is below 1.5 cells at a record")                                 \
    ROW(ACCURACY, 8, "a record has no certificate within the accuracy that was asked for")                           \
    ROW(JUMP, 9, "the drift is not continuous in the initial density")                                               \
    ROW(TAIL, 10, "a measurement has selected a part of the density that is hardly resolved")                        \
    ROW(EVIDENCE, 11, "the audit's samples have another evidence")                                                   \
    ROW(FRAME_CELLS, 12, "`frame_cells` keeps the cells of a grid that moves too wide")                              \
    ROW(FRAME_COST, 13, "a grid at rest would have taken longer steps than one that moves")                          \
    ROW(AUDIT_LOST, 14, "the audit's samples have failed: certificates say no more than why")                        \
    ROW(BLOW_UP, 15, "by a backend: trajectories have left every bound in finite time")                              \
    ROW(SADDLE, 16, "more has been lost than a tenth of what is beyond a saddle of the drift")                       \
    ROW(ROUNDING, 17, "rounding has made or lost more than a millionth of the mass")                                 \
    ROW(PART, 18, "a measurement may have selected a part of the initial density that p* cuts off")

#define GBEES_WARNING_BIT(id, bit, condition) GBEES_WARNING_##id = 1 << bit,
/** A warning. */
typedef enum gbees_warning { GBEES_WARNING_ROWS(GBEES_WARNING_BIT) } gbees_warning;
#undef GBEES_WARNING_BIT
#define GBEES_WARNING_ONE(id, bit, condition) +1
enum { GBEES_WARNING_COUNT = 0 GBEES_WARNING_ROWS(GBEES_WARNING_ONE) /**< their number: bits 0 ... are in use */ };
#undef GBEES_WARNING_ONE

/** Running totals since gbees_backend.create(). The ledger holds at any time:
 *
 *     sum of P = 1 + mass_clipped + mass_normalised - mass_outflow - mass_pruned - the sum of mass_entered
 */
typedef struct gbees_totals {
    uint64_t steps;      /**< number of steps taken */
    double cell_updates; /**< number of needed cells (gbees_statistics.cells), summed over the steps; of points that
                          * go with the flow: evaluations of the drift */
    double raw_cell_updates; /**< number of cells of resident bricks, summed over the steps */
    uint64_t max_cells;      /**< largest number of needed cells at any step that counted them */
    uint64_t peak_bytes;     /**< largest memory held, including the list of cells while one grid replaces another */
    double mass_clipped;     /**< gained by setting negative cells to 0 */
    double mass_outflow;     /**< lost through faces with no neighbour */
    double mass_pruned;      /**< lost by pruning, in steps and in updates */
    double mass_normalised;  /**< gained by normalising: in updates, and in paper and legacy mode also in steps */
    double mass_entered[GBEES_MAX_TARGETS]; /**< that has entered each target of the problem that absorbs */
    double time_step;                       /**< model time of the last step, 0 before the first */
    double threshold;                       /**< the current p* */
    unsigned warnings;    /**< GBEES_WARNING_BUDGET_MEMORY and _BUDGET_FLOOR; a bit that was set stays set */
    uint64_t points;      /**< of points that go with the flow: their number now */
    uint64_t refinements; /**< and how often updates have made another lattice of them */
    double lost_since;    /**< and the time when the first of them left every bound; then mass_outflow is theirs */
    int threads;          /**< number of threads in use */
    int ranks;            /**< number of ranks that share the grid. 0: the run is not divided, and all below is 0 */
    double imbalance; /**< largest number of bricks of a rank over the mean of all ranks, averaged over the steps */
    double bytes_exchanged; /**< bytes sent between ranks, summed over the ranks */
    double seconds_waited;  /**< wall-clock time in the communicator, of the rank with the largest */
} gbees_totals;

/** What all targets that absorb have taken. */
static inline double gbees_totals_entered(const gbees_totals *totals)
{
    double sum = 0;

    for (int k = 0; k < GBEES_MAX_TARGETS; k++)
        sum += totals->mass_entered[k];
    return sum;
}

/** Mass that has been lost but for what walls that absorb may have taken: what a mass budget limits. */
static inline double gbees_totals_lost(const gbees_problem *problem, const gbees_totals *totals)
{
    return totals->mass_pruned + (gbees_problem_wall_absorbs(problem) ? 0 : totals->mass_outflow);
}

/** What one of the ranks that share a grid has done so far. */
typedef struct gbees_rank_totals {
    double bricks;         /**< that it owned, averaged over the steps */
    double bytes_sent;     /**< to other ranks */
    double seconds_waited; /**< in the communicator */
    uint64_t peak_bytes;   /**< the largest memory that it has held; of a GPU */
} gbees_rank_totals;

/** Statistics of the current density. Sums run over all resident cells; positions are cell centres in the grid's
 * axes. */
typedef struct gbees_statistics {
    uint64_t cells;       /**< number of needed cells: resident cells with P >= p*, and their downwind neighbours */
    uint64_t cells_above; /**< number of cells with P >= p* */
    uint64_t cells_raw;   /**< number of resident cells */
    double mass;          /**< sum of P before normalisation: 1 at the start; after an update 1 less what it pruned */
    double mean[GBEES_MAX_DIM];                       /**< of the states, in the model's units */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, row-major */
    /** Of states on a circle (`period` of the problem): angle of the mean E exp(i 2 pi x / period), as a state within
     * the range, of points that go with the flow within half a period of the initial mean; else 0. `mean` and
     * `covariance` are those of the cells of the range from the first to the last, or of such points. */
    double direction[GBEES_MAX_DIM];
    double resultant[GBEES_MAX_DIM];   /**< its absolute value: 1 at a point, 0 if all directions are alike; else 0 */
    double entropy;                    /**< -sum P log(P / volume of a cell), nats */
    double peak;                       /**< the largest P, normalised */
    int32_t peak_index[GBEES_MAX_DIM]; /**< index of its cell */
} gbees_statistics;

/** A target at one time. */
typedef struct gbees_target_state {
    /** Inside now; of a target that absorbs: entered so far, since the last update or the start. */
    double probability;
    double bound; /**< of its error; NAN: unknown */
    double rate;  /**< change per unit of time since the record before, which the solver sets; NAN: unknown */
} gbees_target_state;

/** What an update computes beside the density. The backend sets the first two members, and `sampled` to
 * `total_error` if it can tell its own errors; else they are the audit's. All are
 * natural logarithms. */
typedef struct gbees_evidence {
    double log_evidence;       /**< log of the integral of likelihood times prior: log C of the paper's Eq. (4) */
    double log_likelihood_max; /**< largest log-likelihood of a cell, relative to the likelihood's peak: 0 if a cell
                                * matches the measurement perfectly. Of a model's own log_likelihood(): its value */
    double total;         /**< sum of log_evidence over all updates so far: of the evidence of all measurements */
    double sampled;       /**< log_evidence by the audit's samples; NAN: no audit, or too few samples have weight */
    double sampled_error; /**< standard error of `sampled`; NAN: unknown */
    double total_sampled; /**< `total` by the audit's samples; NAN: as above */
    double total_error;   /**< standard error of `total_sampled`; NAN: unknown */
    int by_points;        /**< 1: the last four are by points on lattices, and errors are differences of these */
} gbees_evidence;

/** Marginals: sums of the normalised P of a record's cells over all axes but one or two; dense over the
 * range of the cells' indices. The struct and its arrays are one block of malloc()ed memory. */
typedef struct gbees_marginals {
    int32_t first[GBEES_MAX_DIM];                      /**< index of the first entry along each axis */
    uint64_t length[GBEES_MAX_DIM];                    /**< entries along each axis */
    const double *line[GBEES_MAX_DIM];                 /**< along axis j */
    const double *plane[GBEES_MAX_DIM][GBEES_MAX_DIM]; /**< [j][k], j < k, row-major; NULL: it was too large */
} gbees_marginals;

/** A time at which the places of samples are wanted. */
typedef struct gbees_integration_stop {
    double time;
    double time_step;            /**< the first step to be tried on the way there */
    uint64_t steps;              /**< on it, after which a sample is given up */
    double scale[GBEES_MAX_DIM]; /**< the unit of errors along each axis */
} gbees_integration_stop;

/** Samples of a model's equations, in the model's axes, and how to integrate them: by equal steps of the classical
 * Runge-Kutta method of fourth order. If the model has noise, that of half a step by Euler and Maruyama is added
 * before and after each, at once for two. Where the equations depend on the time, a block of 256 samples has one step
 * more: its first is a random part of the others, its last the rest (core/numerics/sample_steps.h). The doubt of a
 * step is an estimate of its error: max over j of time_step * |k3_j - k2_j| / scale_j, where k2 and k3 are the drifts
 * at the two stages in the middle of the step. A step whose doubt exceeds `doubt_most` is divided.
 *
 * With a `tolerance` above 0 each sample is integrated without noise from `time` to one stop after the other, by
 * steps of its own of Dormand and Prince's pair of order 8, whose error along axis j is at most tolerance times the
 * stop's scale_j. A sample that is given up, or whose trajectory ends before, is NAN at that stop and those after it;
 * one that is not finite at first is left as it is.
 */
typedef struct gbees_integration {
    uint64_t count;              /**< samples */
    const double *const *from;   /**< from[j][i]: state j of sample i before */
    double *const *to;           /**< without a tolerance: to[j][i]: state j of sample i after; may be `from` */
    const uint64_t *number;      /**< of each sample: with `seed` it determines its noise; NULL: its index */
    uint64_t seed;               /**< of the random numbers */
    double time;                 /**< at the first step's start */
    double time_step;            /**< of each step */
    uint64_t steps;              /**< number of steps to be taken */
    uint64_t first;              /**< number of steps taken before, a counter of the random numbers, too */
    double scale[GBEES_MAX_DIM]; /**< the unit of doubt along each axis */
    double doubt_most;           /**< a step with more doubt is taken in parts */

    double tolerance; /**< above 0: as described above, and of the members before only count, from and time count;
                         else 0 */
    uint64_t stop_count;
    const gbees_integration_stop *stop; /**< [stop_count]: all before or all after `time`, one beyond the other */
    /** Receives places[(j * stop_count + k) * count + i]: state j of sample i at stop k; the integrator's own memory,
     * which stays as it is until the next call. */
    const double **places;
    double *evaluations; /**< the number of times that the drift is evaluated is added to it */
} gbees_integration;

/** The frame of a moving grid at one time: a point y of the grid is x = centre + axes y of the model, and the grid's
 * own velocity there, along its axes, is velocity + gradient y (gbees/model_framed.h). y is in cells; matrices are
 * n x n, row-major. */
typedef struct gbees_grid_frame {
    double centre[GBEES_MAX_DIM];       /**< x of y = 0 */
    double axes[GBEES_MAX_ENTRIES];     /**< its columns are the edges of a cell in the model's axes */
    double inverse[GBEES_MAX_ENTRIES];  /**< the inverse of `axes` */
    double velocity[GBEES_MAX_DIM];     /**< of the grid at y = 0, in cells per unit of time */
    double gradient[GBEES_MAX_ENTRIES]; /**< of the grid's velocity, per unit of time */
    double negligible; /**< the grid does not grow in a direction along which the drift relative to it is slower than
                        * this, in cells per unit of time */
    double time_step;  /**< upper bound of the next step, > 0 */
} gbees_grid_frame;

/** Sums over all cells of P, P y, P y y^T, P f and P f y^T, where f is the drift at the cell's centre y. */
typedef struct gbees_affine_sums {
    double mass;                  /**< sum of P */
    double y[GBEES_MAX_DIM];      /**< sum of P y */
    double yy[GBEES_MAX_ENTRIES]; /**< [n][n], sum of P y y^T */
    double f[GBEES_MAX_DIM];      /**< sum of P f */
    double fy[GBEES_MAX_ENTRIES]; /**< [n][n], sum of P f y^T: row j for f_j, column k for y_k */
} gbees_affine_sums;

/** Receives `count` cells: index[j][i] is the index of cell i along axis j, p[i] its normalised probability. Returns
 * 0 to go on, anything else to stop. */
typedef int gbees_cell_visitor(void *context, size_t count, const int32_t *const *index, const double *p);

/** Receives a part of an engine's state: an array of `count` items of `size` bytes (1, 2, 4 or 8), under a name of at
 * most 31 letters. The sink copies the data. Returns 0 to go on, anything else to stop. */
typedef int gbees_state_sink(void *context, const char *name, size_t size, uint64_t count, const void *data);

/** Returns the part of that name with items of that size, and sets *count; NULL: there is none. The array lives as
 * long as the source. */
typedef const void *gbees_state_source(void *context, const char *name, size_t size, uint64_t *count);

/** Receives one line of text, without its line end. */
typedef void gbees_line_sink(void *context, const char *line);

/** The descriptor (card) of a backend. A function that returns int and takes a gbees_error returns a gbees_status. */
typedef struct gbees_backend {
    unsigned abi;      /**< GBEES_BACKEND_ABI: checked before any other field is read */
    unsigned size;     /**< sizeof(gbees_backend) */
    const char *name;  /**< as --backend takes it */
    const char *title; /**< one line */

    /** 1: the density is exact but for what certify() tells. It has no cells but those that are made for records;
     * what leaves every bound is left out, and noted in the totals; a call that is cancelled leaves it half way. */
    int exact;
    /** 1: targets of the problem may absorb; gbees_totals.mass_entered has what they take. */
    int absorbs;

    /** Returns 0 if the backend can be used on this machine. `text` then names the processor, or is empty; else it
     * gives the reason in one sentence. */
    int (*probe)(char *text, size_t size);

    /** Compiles what a run of the problem would compile at its start, for the architecture `arch` (NULL: that of this
     * machine's processor), and reports on it to `sink`, line by line. It needs no such processor. The pointer is
     * NULL if the backend compiles nothing at run time. */
    int (*compile)(const gbees_problem *problem, const char *arch, gbees_line_sink *sink, void *context,
                   gbees_error *error);

    /** Returns an estimate of the bytes of a grid with so many bricks, with the memory that it has for more. bricks
     * 0: of the initial density with what the first growth may insert, and of making it; no density is computed. */
    double (*estimate)(const gbees_problem *problem, double bricks);

    /** Creates an engine with the problem's initial density. The sum of P is 1, or `mass` of the problem's `cells`.
     * The problem must outlive the engine. */
    int (*create)(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error);
    /** Frees the engine. */
    void (*destroy)(gbees_engine *engine);
    /** Has the same effect as destroy() and create() with the same options, for a problem that differs from the
     * engine's only in its grid and its `cells`; but keeps memory, a GPU's kernels and what else takes long to open.
     * No capture may exist. Afterwards the old problem may be destroyed; after an error the engine may only be
     * destroyed. The pointer is NULL if the backend would save nothing by it. */
    int (*restart)(gbees_engine *engine, const gbees_problem *problem, gbees_error *error);
    /** Called on all ranks but 0 of a run with options->parallel: creates this rank's part of the grid, and takes
     * part in each call to rank 0's engine until that one is destroyed. All other functions are called on rank 0
     * alone. The pointer is NULL if the backend's grids can't be divided among ranks. */
    int (*serve)(const gbees_problem *problem, const gbees_engine_options *options, gbees_error *error);

    /** Takes one to max_steps time steps and advances the clock, no further than to clock->elapsed == clock->length.
     * GBEES_ENUMERIC: the drift or the density is not finite, or no cell is left. */
    int (*advance)(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error);

    /** Applies Bayes' rule with one measurement (paper, Eq. (4)), then prunes. GBEES_EUNSUPPORTED: the likelihood
     * vanishes in all cells; the density is unchanged. GBEES_EUSAGE: the engine was created without what updates
     * need, as its problem has no measurement up to its end. */
    int (*update)(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error);

    /** Applies the jump of an instant of the problem, in their order. The pointer is NULL if the solver is to take
     * the cells through it, and make another grid of them. */
    int (*jump)(gbees_engine *engine, const gbees_clock *clock, const gbees_instant *instant, gbees_error *error);

    /** Computes the statistics of the present density. */
    int (*statistics)(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                      gbees_error *error);

    /** Visits the cells with P >= fraction * p*, in an order that depends only on the density. A record has fraction
     * 1; 0 visits all with P > 0. */
    int (*cells)(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                 gbees_error *error);

    /** Passes the engine's whole state, in full precision, to a sink. GBEES_ENOMEM if the sink stops. save and load
     * are NULL if the backend's engines can't be saved. */
    int (*save)(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error);
    /** Creates an engine of the same problem in a saved state: its further results are those of the saved engine, bit
     * for bit, on any number of threads. The backends cpu and cuda load each other's states, too, with
     * options->deterministic: the density then goes on with the same bits as far as both compute the same drift.
     * GBEES_EINPUT: the source has no state of such an engine. */
    int (*load)(const gbees_problem *problem, const gbees_engine_options *options, gbees_state_source *source,
                void *context, gbees_engine **engine, gbees_error *error);

    /** Sets *totals to the totals so far. */
    void (*totals)(const gbees_engine *engine, gbees_totals *totals);

    /** Copies the cells that cells() visits for a record, so that another thread can visit them while the engine
     * advances. *capture is NULL if there is not enough memory for the copy: the caller then uses cells(). All three
     * pointers are NULL if the backend has no captures. */
    int (*capture)(gbees_engine *engine, gbees_capture **capture, gbees_error *error);
    /** Visits the cells of a capture. It may be called once, from any thread. */
    int (*capture_cells)(gbees_capture *capture, gbees_cell_visitor *visitor, void *context, gbees_error *error);
    /** Frees a capture, before the engine is destroyed. */
    void (*capture_free)(gbees_capture *capture);

    /** Computes the marginals of the cells that cells() visits for a record; planes of more than `most` entries are
     * left out. *marginals is NULL if there is not enough memory; else the caller free()s it. The pointer is NULL if
     * the backend computes no marginals. */
    int (*marginals)(gbees_engine *engine, uint64_t most, gbees_marginals **marginals, gbees_error *error);

    /** Sets the frame of the problem's moving grid. If `rate` is not NULL it also computes the drift relative to the
     * frame at this time, which the next step needs, and sets *rate to the largest rate of a cell, 1 / the step of
     * Courant number 1. If it is NULL no step may be taken before the next call. All three pointers are NULL if the
     * backend has no moving grids. */
    int (*frame_set)(gbees_engine *engine, const gbees_grid_frame *frame, double time, double *rate,
                     gbees_error *error);
    /** Computes the sums over all cells of the current density; f is the drift relative to the frame at this time,
     * along the frame's axes. */
    int (*frame_fit)(gbees_engine *engine, double time, gbees_affine_sums *sums, gbees_error *error);
    /** Computes the density's Fisher information in y, 4 sum (grad sqrt P)(grad sqrt P)^T with normalised P, by
     * differences of neighbouring cells.
     * @param information receives information[n][n] */
    int (*frame_information)(gbees_engine *engine, double *information, gbees_error *error);

    /** Opens the resources that engines share and that take long to open, such as a GPU's context, until release():
     * for runs one after another. Both pointers are NULL if the backend has no such resources. */
    int (*hold)(gbees_hold **hold, gbees_error *error);
    /** Closes them once no engine uses them; NULL is allowed. */
    void (*release)(gbees_hold *hold);

    /** Begins to compile and load what integrates samples of the problem's model, in the background, and returns at
     * once. The problem must outlive the integrator; its bound and its grid's axes have no effect. All three pointers
     * are NULL if the backend does not integrate samples.
     * @param with_tolerance 1: all its integrations have a tolerance; 0: none has */
    int (*integrator_create)(const gbees_problem *problem, int with_tolerance, gbees_integrator **integrator,
                             gbees_error *error);
    /** Integrates samples. It may be called from any thread, one call at a time. Sets *done to 1; or to 0, with the
     * samples unchanged, if the integrator is not ready yet or has not enough memory for them. After an error the
     * integrator may only be destroyed. */
    int (*integrator_run)(gbees_integrator *integrator, const gbees_integration *integration, int *done,
                          gbees_error *error);
    /** Frees the integrator; NULL is allowed. */
    void (*integrator_destroy)(gbees_integrator *integrator);

    /** Sets all[0 .. most - 1], or as many as there are ranks, to the totals of each rank since the engine was made,
     * at its last step; called on rank 0. The pointer is NULL if ranks can't share the backend's grids. */
    void (*rank_totals)(const gbees_engine *engine, int most, gbees_rank_totals *all);

    /** Makes a list of the cells that cells() visits, and takes it to the cells of another frame by a plan whose old
     * frame is the grid's, with the same bits as the solver does. The density stays.
     * @param cells all zero; receives arrays that the caller frees, also after an error
     * @param done receives 1, or 0 with `cells` still zero if the solver has to do it: there is not enough memory on
     * a GPU, or what it needs is not compiled yet, or the cells can't be taken to that frame The pointer is NULL if
     * the backend leaves all of it to the solver. */
    int (*remap)(gbees_engine *engine, const gbees_remap_plan *plan, double fraction, gbees_initial_cells *cells,
                 int *done, gbees_error *error);

    /** Sets *certificate to bounds of the errors of the present density, of what the backend can tell by itself,
     * without an audit. The pointer is NULL if it can't. */
    int (*certify)(gbees_engine *engine, struct gbees_certificate *certificate, gbees_error *error);
    /** Takes the density back to its start, given all measurements up to now: advance() then gives that of each later
     * time given all of them, the smoothed one. There are no more updates. The pointer is NULL if the backend can't.
     */
    int (*rewind)(gbees_engine *engine, gbees_error *error);
    /** Compares a record of another engine, of the same equations at the same time, with the present density: sets
     * the members of *certificate, which says nothing yet, that the backend can tell. Of a record without marginals
     * or cells only the moments are compared. The pointer is NULL if the backend can't.
     * @param work the joint density is compared if that takes at most about as long as so many cell updates on one
     * processor, which are then subtracted */
    int (*compare)(gbees_engine *engine, const struct gbees_record *record, double *work,
                   struct gbees_certificate *certificate, gbees_error *error);
    /** Sets state[k] to that of target k of the problem, for the present density. The pointer is NULL if the solver
     * has to find what is inside of targets from the cells, and what has entered from the totals. */
    int (*targets)(gbees_engine *engine, const gbees_clock *clock, gbees_target_state *state, gbees_error *error);
} gbees_backend;

/** Before a backend's descriptor: the module exports it. */
#if defined(__GNUC__)
#define GBEES_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define GBEES_BACKEND_EXPORT
#endif

GBEES_END
#endif
