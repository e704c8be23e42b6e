/** @file gbees/problem.h
 * A problem: what to propagate and how, as plain data.
 *
 * gbees_problem_create() (gbees/scenario.h) makes it from a model and a scenario, and checks every member; after that
 * it is read only. n is the number of states. Matrices are n x n, row-major, without padding between rows. Units are
 * the model's. "The paper" is that of doc/method.md.
 */
#ifndef GBEES_PROBLEM_H
#define GBEES_PROBLEM_H

#include <gbees/error.h>
#include <gbees/model.h>
#include <math.h>
#include <stdint.h>

GBEES_BEGIN

/** The program whose results the run reproduces. */
typedef enum gbees_mode {
    GBEES_MODE_DEFAULT, /**< none: bricks, open boundaries, a ledger of the mass */
    GBEES_MODE_PAPER,   /**< the reference CPU code, cell for cell, on the backend 'paper' */
    GBEES_MODE_LEGACY /**< the paper's CPU-legacy: PAPER with a fixed time step, which grows all 3^n - 1 neighbours */
} gbees_mode;

/** The type in which P is stored and fluxes are computed; sums are always double. */
typedef enum gbees_precision {
    GBEES_MIXED, /**< float */
    GBEES_DOUBLE /**< double */
} gbees_precision;

/** The advection schemes (doc/method.md), one a row: GBEES_SCHEME_..., its name in a scenario; 1: it advects along
 * one axis after the other (split), 0: along all at once; its order in space, of a split one an odd number, as the
 * mass through a face depends on (order + 1) / 2 cells on each side of it; 1: with monotonicity-preserving bounds;
 * what it is. All else that depends on a scheme follows from its row, but its formula. */
#define GBEES_SCHEME_ROWS(ROW)                                                                                       \
    ROW(CTU, "ctu", 0, 2, 0, "corner transport upwind with the MC limiter (paper, Algorithm 1)")                     \
    ROW(SPLIT5, "split5", 1, 5, 0, "dimensionally split, fifth order, positive and conservative")                    \
    ROW(SPLIT5_MP, "split5-mp", 1, 5, 1, "split5 with monotonicity-preserving bounds")                               \
    ROW(SPLIT7, "split7", 1, 7, 0, "split5 of seventh order")                                                        \
    ROW(SPLIT7_MP, "split7-mp", 1, 7, 1, "split7 with monotonicity-preserving bounds")                               \
    ROW(UPWIND, "upwind", 1, 1, 0, "split, first order, positive and conservative: to compare with")

#define GBEES_SCHEME_ID(id, name, split, order, preserving, text) GBEES_SCHEME_##id,
/** A scheme; GBEES_SCHEME_COUNT is their number. */
typedef enum gbees_scheme { GBEES_SCHEME_ROWS(GBEES_SCHEME_ID) GBEES_SCHEME_COUNT } gbees_scheme;
#undef GBEES_SCHEME_ID

/** A row of GBEES_SCHEME_ROWS. */
typedef struct gbees_scheme_row {
    const char *name; /**< in a scenario */
    int split;        /**< 1: it advects along one axis after the other */
    int order;        /**< in space */
    int preserving;   /**< 1: with monotonicity-preserving bounds */
    const char *text; /**< one line */
} gbees_scheme_row;

/** The row of a scheme. */
static inline const gbees_scheme_row *gbees_scheme_get(gbees_scheme scheme)
{
#define GBEES_SCHEME_ROW(id, name, split, order, preserving, text) {name, split, order, preserving, text},
    static const gbees_scheme_row rows[] = {GBEES_SCHEME_ROWS(GBEES_SCHEME_ROW)};
#undef GBEES_SCHEME_ROW

    return &rows[scheme];
}

/** Whether a scheme advects along one axis after the other; the others advect along all axes at once. */
static inline int gbees_scheme_is_split(gbees_scheme scheme)
{
    return gbees_scheme_get(scheme)->split;
}

/** What P of a cell is (doc/method.md, "Points or averages"). */
typedef enum gbees_cell_values {
    GBEES_CELL_POINTS,  /**< the density at the cell's centre times its volume */
    GBEES_CELL_AVERAGES /**< the integral of the density over the cell: split schemes only */
} gbees_cell_values;

/** The quantity whose error an accuracy limits. */
typedef enum gbees_accuracy_of {
    GBEES_ACCURACY_MOMENTS,   /**< means, in standard deviations, and standard deviations, relative */
    GBEES_ACCURACY_MARGINALS, /**< Wasserstein's first distance of the marginals, in standard deviations */
    GBEES_ACCURACY_DENSITY    /**< one minus the correlation of the joint densities on bins */
} gbees_accuracy_of;

/** Numerical method and its options. */
typedef struct gbees_numerics {
    gbees_mode mode;               /**< the members below agree with it */
    gbees_scheme scheme;           /**< advection scheme */
    gbees_cell_values cell_values; /**< meaning of P */
    gbees_precision precision;     /**< of storage and fluxes */
    double courant;     /**< the time step is courant * min over cells of 1 / sum_j |v_j|/h_j, or, for split schemes,
                         * of 1 / max_j |v_j|/h_j; at most 1 */
    double time_step;   /**< > 0: a fixed time step in place of that one. In default mode a backend refuses it with
                         * GBEES_ENUMERIC if its Courant number exceeds 1 */
    int prune_interval; /**< steps between prunes, >= 1 */
} gbees_numerics;

/** The likelihoods of a residual r = y - h(x), one a row: GBEES_LIKELIHOOD_..., its name in a scenario, what it is.
 */
#define GBEES_LIKELIHOOD_ROWS(ROW)                                                                                   \
    ROW(GAUSSIAN, "gaussian", "r is Gaussian")                                                                       \
    ROW(STUDENT, "student-t", "Student's t, whose tails allow for outliers; the covariance is its scale matrix")     \
    ROW(MODEL, "model", "the model's own log_likelihood(), which needs neither h nor a covariance")

#define GBEES_LIKELIHOOD_ID(id, name, text) GBEES_LIKELIHOOD_##id,
/** A likelihood; GBEES_LIKELIHOOD_COUNT is their number. */
typedef enum gbees_likelihood { GBEES_LIKELIHOOD_ROWS(GBEES_LIKELIHOOD_ID) GBEES_LIKELIHOOD_COUNT } gbees_likelihood;
#undef GBEES_LIKELIHOOD_ID

/** A measurement y = h(x) + noise at a time. */
typedef struct gbees_measurement {
    double time;                                      /**< model time */
    int function;                                     /**< index of h in the model's list */
    int size;                                         /**< number of components of y */
    double value[GBEES_MAX_DIM];                      /**< y[size]; 0 in missing components */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< size x size, also of missing components */
    gbees_likelihood likelihood;                      /**< distribution of the residual */
    double degrees_of_freedom;                        /**< of Student's t, > 0 */
    unsigned missing;                                 /**< bit k: component k was not measured; at least one was */
    double period[GBEES_MAX_DIM];                     /**< > 0: period of a component such as an angle; else 0 */
} gbees_measurement;

/** What is done with probability that enters a target. */
typedef enum gbees_target_kind {
    GBEES_TARGET_COUNT, /**< nothing: at each record it is told how much is inside */
    GBEES_TARGET_ABSORB /**< it leaves the density, and is counted as entered from then on */
} gbees_target_kind;

/** A set of states: where the model's function g(x) is below 0. */
typedef struct gbees_target {
    int function;           /**< index in the model's list */
    gbees_target_kind kind; /**< what is done with what enters it */
} gbees_target;

enum { GBEES_JUMP_AFFINE = -1 /**< of gbees_instant.function: x <- matrix x + value */ };

/** A jump of the state at an instant: x <- matrix x + value, or x <- g(x, value) by a function of the model, and then
 * a Gaussian error. In the model's axes. */
typedef struct gbees_instant {
    double time;                                      /**< model time */
    int function;                                     /**< index of g in the model's list, or GBEES_JUMP_AFFINE */
    int size;                                         /**< components of `value` */
    int has_error;                                    /**< 1: there is an error, of this covariance */
    double value[GBEES_MAX_DIM];                      /**< value[size] */
    double matrix[GBEES_MAX_DIM * GBEES_MAX_DIM];     /**< n x n; of an affine jump */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n, positive semidefinite */
} gbees_instant;

/** One Gaussian of an initial mixture. */
typedef struct gbees_gaussian {
    double weight;                                    /**< the weights of a mixture add up to 1; on a circle those of
                                                       * images, which all have their Gaussian's, to more */
    double mean[GBEES_MAX_DIM];                       /**< in the grid's axes */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n */
    int lo[GBEES_MAX_DIM];                            /**< its cells are in the box lo_j <= i_j <= hi_j */
    int hi[GBEES_MAX_DIM];                            /**< its cells are in the box lo_j <= i_j <= hi_j */
} gbees_gaussian;

/** An initial density as cells, and the state of the run that it is taken from: of an earlier run at a record, or of
 * the same run before a regrid. */
typedef struct gbees_initial_cells {
    size_t count; /**< > 0. A regrid sets it to 0, and frees the arrays, once the engine has copied the cells */
    int32_t *index[GBEES_MAX_DIM]; /**< index[j][i]: index of cell i along axis j. Cells are distinct, and sorted
                                    * lexicographically */
    double *p;                     /**< p[i] > 0: probability of cell i, up to a common factor */
    double mass;                   /**< the sum of P that the engine is to start with, > 0 */
    double time;                   /**< model time */
    uint64_t steps;                /**< steps taken before, from which the order of sweeps continues */
    double lost;                   /**< mass that this run has lost before; it counts for a mass budget */
    double dropped;                /**< of it, by the move of the grid that has made these cells; else 0 */
    double threshold; /**< with a mass budget: p* to start with; 0: p* follows from the cells' probabilities */
    double error;     /**< of means and deviations, by the certificate of the record that they are of; 0: unknown */
} gbees_initial_cells;

/** Frees the arrays of a list, and sets its count to 0. */
void gbees_initial_cells_clear(gbees_initial_cells *cells);

/** A change of the cells' widths at a given time (doc/method.md, "Regridding"). */
typedef struct gbees_regrid {
    double time; /**< the change follows the first record at or after this time, and the measurements of that time */
    int level[GBEES_MAX_DIM]; /**< cells then are 2^level[j] times narrower along axis j than the problem's */
} gbees_regrid;

/** The cells of a grid's axis, and what is at its ends. */
typedef struct gbees_axis_range {
    gbees_end end[2]; /**< at the lower and at the upper end; on a circle both are GBEES_END_CIRCLE */
    int32_t first;    /**< index of the lowest cell, unless the lower end is open */
    int32_t last;     /**< index of the highest cell, unless the upper end is open */
} gbees_axis_range;

enum { GBEES_MAX_TABLES = 16, GBEES_MAX_TABLE_ROWS = 100000 };

/** How a table is interpolated between its rows. */
typedef enum gbees_interpolation {
    GBEES_INTERPOLATION_LINEAR,
    GBEES_INTERPOLATION_CUBIC /**< by cubics that have no extremum between rows (Fritsch and Butland 1984) */
} gbees_interpolation;

/** A parameter that follows data: its values at given times. */
typedef struct gbees_parameter_table {
    int parameter;                     /**< index among the model's parameters */
    gbees_interpolation interpolation; /**< between its rows */
    size_t rows;                       /**< at least 2 */
    const double *time;                /**< [rows], increasing; of the model */
    const double *value;               /**< [rows] */
    const double *slope;               /**< [rows]: of cubics; else NULL */
} gbees_parameter_table;

/** A problem. */
typedef struct gbees_problem {
    const gbees_model *model;                  /**< must outlive the problem */
    const gbees_functions *functions;          /**< the model's functions for n, framed ones if `rotated` is set */
    int dimension;                             /**< n, the number of states */
    double parameters[GBEES_PARAMETER_VALUES]; /**< parameters, and a rotated grid's frame (gbees/model.h) */
    int table_count;                           /**< entries of `tables`, at most GBEES_MAX_TABLES */
    /** Parameters that follow tables; `model` is then a card of the problem's own, whose functions read them. */
    const gbees_parameter_table *tables;

    /** 1: the grid is rotated (`rotate`): a point y of it is x = centre + rotation y. Then mean (which is 0),
     * covariance (which is diagonal), width and extent are in the grid's axes. */
    int rotated;
    double centre[GBEES_MAX_DIM];                   /**< of a rotated grid: x of y = 0 */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< of a rotated grid: its columns are the grid's axes */

    /** 1: the grid's frame moves with the density (`frame: moving`; doc/moving.md); `rotated` is then
     * set, too. The columns of `rotation` are the initial edges of a cell, of any lengths and angles; width is 1. */
    int moving;
    /** The library's backend of points that go with the flow (`frame: lagrangian`; doc/lagrangian.md): the
     * grid is that of the cells of records. NULL: any backend will do. */
    const struct gbees_backend *own_backend;
    double frame_least; /**< of a moving grid: cells per standard deviation where the density is close to Gaussian;
                         * of a Lagrangian one: points */
    double frame_cells; /**< of both: the most of them per standard deviation along any direction */
    double tail;        /**< of a Lagrangian one: points down to exp(-tail) of the largest weight are kept */
    double tolerance;   /**< of its trajectories' steps, relative to the standard deviations */
    int smooth;         /**< 1: records are made once more at the end, given all measurements */

    double start; /**< model time */
    double end;   /**< model time */
    int records;  /**< records per leg after its initial one, >= 1. Legs end at measurement times and at `end` */

    double mean[GBEES_MAX_DIM]; /**< centre of cell 0, and, unless `cells` is set, mean of the initial density */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< of the initial density */
    double width[GBEES_MAX_DIM];                      /**< h_j > 0, the width of a cell along axis j */
    int extent[GBEES_MAX_DIM];                        /**< the initial cells are in the box |i_j| <= extent[j] */
    gbees_axis_range range[GBEES_MAX_DIM];            /**< circles and walls; of the grid's axes */
    /** Of a state on a circle, whether the grid's axis is that circle or, of points that go with the flow, a line
     * along which it goes on: records then have its direction and resultant. Else 0. */
    double period[GBEES_MAX_DIM];
    /** Number of Gaussians whose sum, in the union of their boxes, is the initial density. 0: it is `cells`, or else
     * the Gaussian of `mean` and `covariance` in the whole box. */
    int gaussian_count;
    const gbees_gaussian *gaussians;  /**< gaussian_count entries */
    const gbees_initial_cells *cells; /**< the initial density as cells, or NULL */
    uint64_t steps_before; /**< steps of an earlier run, if the initial density is one of its records; else 0 */
    double threshold;      /**< p*, as a probability of a cell; 0 with a mass budget, which controls p* */
    double mass_budget;    /**< > 0: mass that may be lost per unit of time; p* is adapted to it. Else 0 */
    int raise_threshold;   /**< 1: p* is raised where memory does not allow the grid; 0: only with a mass budget */

    double accuracy;               /**< > 0: upper bound of the error that a record's certificate states; 0: none */
    gbees_accuracy_of accuracy_of; /**< the quantity whose error it is */

    const struct gbees_problem *first; /**< after a regrid: the problem that the run began with; else NULL */
    int regrid_count;                  /**< number of entries of `regrids` */
    int regrid_auto;                   /**< 1: updates decide how narrow cells are: see doc/method.md */
    const gbees_regrid *regrids;       /**< sorted by time */

    int bounded;       /**< 1: cells whose centre has J(x) outside [bound_low, bound_high] are never made */
    double bound_low;  /**< of the model's J(x) */
    double bound_high; /**< of the model's J(x) */

    int target_count;                        /**< entries of `targets` */
    gbees_target targets[GBEES_MAX_TARGETS]; /**< in the order of the model's list */

    int measurement_count;                 /**< entries of `measurements` */
    const gbees_measurement *measurements; /**< in order of time */
    int instant_count;                     /**< entries of `instants` */
    const gbees_instant *instants; /**< in order of time, then as given; those of a time precede its measurements */
    int arriving;            /**< 1: measurements are added while it runs, any that the model has (gbees/stream.h) */
    gbees_numerics numerics; /**< how to compute */
} gbees_problem;

/** Transforms a point y[n] of the grid's axes to the model's axes, x[n]. They are the same unless the grid is
 * rotated. */
static inline void gbees_problem_point(const gbees_problem *problem, const double *y, double *x)
{
    const int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        x[j] = problem->rotated ? problem->centre[j] : y[j];
        for (int k = 0; k < n && problem->rotated; k++)
            x[j] += problem->rotation[j * n + k] * y[k];
    }
}

/** Returns the inverse of `rotation` of a rotated or moving grid, n x n: y = inverse (x - centre). */
static inline const double *gbees_problem_inverse(const gbees_problem *problem)
{
    return problem->parameters + GBEES_FRAME_INVERSE;
}

/** Transforms a point x[n] of the model's axes to the grid's, y[n]: the inverse of gbees_problem_point(). */
static inline void gbees_problem_place(const gbees_problem *problem, const double *x, double *y)
{
    const double *inverse = gbees_problem_inverse(problem);
    const int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        y[j] = problem->rotated ? 0 : x[j];
        for (int k = 0; k < n && problem->rotated; k++)
            y[j] += inverse[j * n + k] * (x[k] - problem->centre[k]);
    }
}

/** The extents of a cell's edges along state j of the model, edge[n]: positive, or negative where state j decreases
 * along the grid's axis. Returns the extent of the cell, the sum of their absolute values. */
static inline double gbees_problem_edges(const gbees_problem *problem, int j, double *edge)
{
    const int n = problem->dimension;
    double extent = 0;

    for (int k = 0; k < n; k++) {
        const double along = problem->rotated ? problem->rotation[j * n + k] : j == k;

        edge[k] = along * problem->width[k];
        extent += edge[k] < 0 ? -edge[k] : edge[k];
    }
    return extent;
}

/** Whether what enters some target leaves the density. */
static inline int gbees_problem_absorbs(const gbees_problem *problem)
{
    int absorbs = 0;

    for (int k = 0; k < problem->target_count; k++)
        absorbs |= problem->targets[k].kind == GBEES_TARGET_ABSORB;
    return absorbs;
}

/** The name of target k of a problem, as a scenario has it. */
static inline const char *gbees_problem_target_name(const gbees_problem *problem, int k)
{
    return problem->model->targets[problem->targets[k].function].name;
}

/** What is done with what enters target k of a problem, as a scenario has it. */
static inline const char *gbees_problem_target_word(const gbees_problem *problem, int k)
{
    return problem->targets[k].kind == GBEES_TARGET_ABSORB ? "absorb" : "count";
}

/** Whether the problem's density is that of points that go with the flow. */
static inline int gbees_problem_is_exact(const gbees_problem *problem)
{
    return problem->own_backend != NULL;
}

/** Whether the axis of the problem's state j is a circle. */
static inline int gbees_problem_is_circle(const gbees_problem *problem, int j)
{
    return problem->range[j].end[0] == GBEES_END_CIRCLE;
}

/** The number of axes that are circles. */
static inline int gbees_problem_circles(const gbees_problem *problem)
{
    int count = 0;

    for (int j = 0; j < problem->dimension; j++)
        count += gbees_problem_is_circle(problem, j);
    return count;
}

/** Whether a wall absorbs: then mass leaves through the grid's faces on purpose. */
static inline int gbees_problem_wall_absorbs(const gbees_problem *problem)
{
    int absorbs = 0;

    for (int j = 0; j < problem->dimension; j++)
        absorbs |= problem->range[j].end[0] == GBEES_END_ABSORB || problem->range[j].end[1] == GBEES_END_ABSORB;
    return absorbs;
}

/** The number of walls. */
static inline int gbees_problem_walls(const gbees_problem *problem)
{
    int count = 0;

    for (int j = 0; j < problem->dimension; j++)
        for (int up = 0; up < 2; up++)
            count += problem->range[j].end[up] >= GBEES_END_REFLECT;
    return count;
}

/** Whether a state is on a circle, or has a wall. */
static inline int gbees_problem_is_closed(const gbees_problem *problem)
{
    return gbees_problem_circles(problem) + gbees_problem_walls(problem) > 0;
}

/** The number of states whose records have direction and resultant (`period`). */
static inline int gbees_problem_directions(const gbees_problem *problem)
{
    int count = 0;

    for (int j = 0; j < problem->dimension; j++)
        count += problem->period[j] > 0;
    return count;
}

/** The period of a state whose axis is a circle. */
static inline double gbees_problem_period(const gbees_problem *problem, int j)
{
    return problem->width[j] * (1.0 + problem->range[j].last - problem->range[j].first);
}

/** A value of state j within the circle that it is on, from the lowest cell's lower face on; of other states as it
 * is. */
static inline double gbees_problem_around(const gbees_problem *problem, int j, double x)
{
    if (!gbees_problem_is_circle(problem, j))
        return x;
    const double period = gbees_problem_period(problem, j);
    const double lowest = problem->mean[j] + (problem->range[j].first - 0.5) * problem->width[j];

    x -= period * floor((x - lowest) / period);
    return x < lowest + period ? x : lowest;
}

/** The cells of the initial box, or those that the problem begins with. */
static inline double gbees_problem_initial_cells(const gbees_problem *problem)
{
    double cells = 1;

    for (int j = 0; j < problem->dimension; j++)
        cells *= 2.0 * problem->extent[j] + 1;
    return problem->cells ? (double)problem->cells->count : cells;
}

/** Whether a processor computes the run in less time than a GPU takes to start, a third of a second: by the initial
 * cells alone. The shipped scenarios with fewer than 4096 take two threads 0.2 s at most, nearly all others 0.3 s to
 * a minute. */
static inline int gbees_problem_is_small(const gbees_problem *problem)
{
    return !gbees_problem_is_exact(problem) && gbees_problem_initial_cells(problem) < 4096;
}

/** Number of steps that were taken before the problem's initial density; the order of sweeps continues from it. */
static inline uint64_t gbees_problem_steps_before(const gbees_problem *problem)
{
    return problem->cells ? problem->cells->steps : 0;
}

/** The model time of the problem's initial density. */
static inline double gbees_problem_initial_time(const gbees_problem *problem)
{
    return problem->cells ? problem->cells->time : problem->start;
}

/** What functions->diffusion_d of the problem writes: GBEES_DIAGONAL or GBEES_FULL, which it always is on a rotated
 * grid; 0: the model has no diffusion. */
static inline int gbees_problem_noise(const gbees_problem *problem)
{
    return problem->model->diffusion && problem->rotated ? GBEES_FULL : problem->model->diffusion;
}

/** gbees_problem_noise() of what an engine applies in each step; 0 on a moving grid, where the solver sums the noise
 * of many steps and applies it by a regrid. */
static inline int gbees_problem_engine_noise(const gbees_problem *problem)
{
    return problem->moving ? 0 : gbees_problem_noise(problem);
}

/** Whether the sweeps of a step add the process noise: they do where Q is diagonal
 * (core/numerics/split_noise.h). */
static inline int gbees_problem_noise_in_sweeps(const gbees_problem *problem)
{
    const gbees_scheme_row *scheme = gbees_scheme_get(problem->numerics.scheme);

    return gbees_problem_engine_noise(problem) == GBEES_DIAGONAL && scheme->split && !scheme->preserving &&
           scheme->order >= 5;
}

/** The model's functions in its own axes, which take points of x; `functions` may be those of a frame. Without a
 * model that has some for so many dimensions: `functions`. */
static inline const gbees_functions *gbees_problem_own_functions(const gbees_problem *problem)
{
    const gbees_model *model = problem->model;

    for (int i = 0; model && i < model->function_count; i++)
        if (model->functions[i].n == problem->dimension)
            return &model->functions[i];
    return problem->functions;
}

GBEES_END
#endif
