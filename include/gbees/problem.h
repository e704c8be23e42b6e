/** @file gbees/problem.h
 * A problem: what to propagate and how, as plain data.
 *
 * gbees_problem_create() (gbees.h) makes it of a model and a scenario. It is valid in every field and never changes:
 * the solver and the backends read it only. Matrices are row-major, n x n packed. "The paper" is that of
 * doc/method.md.
 */
#ifndef GBEES_PROBLEM_H
#define GBEES_PROBLEM_H

#include <gbees/model.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The reference that is followed. */
typedef enum gbees_mode {
    GBEES_MODE_DEFAULT, /**< bricks, both sides of the grid open, mass accounted for */
    GBEES_MODE_PAPER,   /**< the reference CPU code, cell for cell: double, bricks of one cell, its rule for missing
                           faces */
    GBEES_MODE_LEGACY   /**< the paper's CPU-legacy: PAPER with a fixed time step and growth to all neighbours */
} gbees_mode;

/** Of storage and fluxes; sums are always double. */
typedef enum gbees_precision {
    GBEES_MIXED, /**< float */
    GBEES_DOUBLE /**< double */
} gbees_precision;

/** What lies beyond a face with no neighbour. */
typedef enum gbees_faces {
    GBEES_FACES_OPEN,     /**< on both sides P = 0, which receives what flows out */
    GBEES_FACES_REFERENCE /**< the reference code's rule: a wall on the lower side, open on the upper one */
} gbees_faces;

/** The neighbours that are made around cells with P >= p*. */
typedef enum gbees_growth {
    GBEES_GROWTH_DOWNWIND, /**< those across downwind faces and edges */
    GBEES_GROWTH_ALL       /**< all 3^n - 1 */
} gbees_growth;

/** The advection scheme (doc/method.md). */
typedef enum gbees_scheme {
    GBEES_SCHEME_CTU,            /**< corner transport upwind with the MC limiter (paper, Algorithm 1) */
    GBEES_SCHEME_CTU_DIVERGENCE, /**< CTU of second order for drifts with a divergence, too */
    GBEES_SCHEME_CTU_POSITIVE,   /**< CTU_DIVERGENCE with limited fluxes: no cell becomes negative */
    GBEES_SCHEME_SPLIT5,         /**< dimensionally split, fifth order, positive and conservative */
    GBEES_SCHEME_SPLIT5_MP,      /**< SPLIT5 with monotonicity-preserving bounds */
    GBEES_SCHEME_SPLIT7,         /**< SPLIT5 of seventh order */
    GBEES_SCHEME_SPLIT7_MP,      /**< SPLIT7 with monotonicity-preserving bounds */
    GBEES_SCHEME_UPWIND          /**< split, first order, positive and conservative: to compare with */
} gbees_scheme;

/** Whether a step advects along one axis after the other; else along all at once. */
static inline int gbees_scheme_is_split(gbees_scheme scheme)
{
    return scheme >= GBEES_SCHEME_SPLIT5;
}

/** Whether a split scheme preserves monotonicity. */
static inline int gbees_scheme_is_preserving(gbees_scheme scheme)
{
    return scheme == GBEES_SCHEME_SPLIT5_MP || scheme == GBEES_SCHEME_SPLIT7_MP;
}

/** The order in space of a split scheme, an odd number: the mass through a face depends on (order + 1) / 2 cells on
 * each side of it. */
static inline int gbees_scheme_order(gbees_scheme scheme)
{
    return scheme == GBEES_SCHEME_UPWIND ? 1 : scheme >= GBEES_SCHEME_SPLIT7 ? 7 : 5;
}

/** What P of a cell is (doc/method.md, "Points or averages"). */
typedef enum gbees_cell_values {
    GBEES_CELL_POINTS,  /**< the density at the cell's centre times its volume */
    GBEES_CELL_AVERAGES /**< the integral of the density over the cell: split schemes only */
} gbees_cell_values;

/** What an accuracy is asked for of. */
typedef enum gbees_accuracy_of {
    GBEES_ACCURACY_MOMENTS,   /**< means, in standard deviations, and standard deviations, relative */
    GBEES_ACCURACY_MARGINALS, /**< Wasserstein's first distance of the marginals, in standard deviations */
    GBEES_ACCURACY_DENSITY    /**< one minus the correlation of the joint densities on bins */
} gbees_accuracy_of;

/** How to compute. */
typedef struct gbees_numerics {
    gbees_mode mode;               /**< the fields below agree with it */
    gbees_scheme scheme;           /**< of advection */
    gbees_cell_values cell_values; /**< what P is */
    gbees_precision precision;     /**< of storage and fluxes */
    gbees_faces faces;             /**< beyond the grid's edge */
    gbees_growth growth;           /**< which neighbours are made */
    int cells_per_brick;           /**< 64, or 1: the paper's cell-level grid */
    double courant;     /**< ctu: time step = courant * min over cells of 1 / sum_j |v_j|/h_j; split5: 1 / max_j;
                         * up to 1, with split5 up to the shortest edge of a brick */
    double time_step;   /**< > 0: this fixed step in place of the CFL step; in default mode a backend refuses it
                         * with GBEES_ENUMERIC where its Courant number is above 1 and above `courant` */
    int prune_interval; /**< steps between prunes, >= 1 */
} gbees_numerics;

/** The likelihood of a residual r = y - h(x). */
typedef enum gbees_likelihood {
    GBEES_LIKELIHOOD_GAUSSIAN, /**< r is Gaussian */
    GBEES_LIKELIHOOD_STUDENT,  /**< Student's t, whose tails allow for outliers; the covariance is its scale matrix */
    GBEES_LIKELIHOOD_MODEL     /**< the model's own log_likelihood(), which needs neither h nor a covariance */
} gbees_likelihood;

/** y = h(x) + noise at a time: function number `function` of the model. */
typedef struct gbees_measurement {
    double time;                                      /**< model time */
    int function;                                     /**< index in the model's list */
    int size;                                         /**< components of the function */
    double value[GBEES_MAX_DIM];                      /**< 0 where there is none */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< size x size, of all components */
    gbees_likelihood likelihood;                      /**< of the residual */
    double degrees_of_freedom;                        /**< of Student's t, > 0 */
    unsigned missing;                                 /**< bit k: component k was not measured; at least one was */
    double period[GBEES_MAX_DIM];                     /**< > 0: the component is periodic; else 0 */
} gbees_measurement;

/** One Gaussian of an initial mixture. */
typedef struct gbees_gaussian {
    double weight;                                    /**< all add up to 1 */
    double mean[GBEES_MAX_DIM];                       /**< in the grid's axes */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< n x n */
    int lo[GBEES_MAX_DIM];                            /**< of its box lo_j <= i_j <= hi_j */
    int hi[GBEES_MAX_DIM];                            /**< of the same box */
} gbees_gaussian;

/** A density as cells, and where the run stood that it is taken from: a record of an earlier run, or the run's own
 * density on another grid. */
typedef struct gbees_initial_cells {
    size_t count;                  /**< > 0; 0 once an engine has been made of a density on another grid */
    int32_t *index[GBEES_MAX_DIM]; /**< index[j][i]: of cell i along axis j; in lexicographic order, each cell once */
    double *p;                     /**< > 0, up to a common factor */
    double mass;                   /**< the sum of P that the engine is to start with, > 0 */
    double time;                   /**< model time */
    uint64_t steps;                /**< taken before; the order of sweeps continues from it */
    double lost;                   /**< mass lost before, of this run: counts for a mass budget */
    double threshold;              /**< with a mass budget: the p* to start with; 0: by the cells' probabilities */
} gbees_initial_cells;

/** Another grid from a time on (doc/method.md, "Regridding"). */
typedef struct gbees_regrid {
    double time; /**< it holds from the first record at or after this time, with the measurements there */
    int level[GBEES_MAX_DIM]; /**< along axis j cells are 2^level times narrower than the problem's width */
} gbees_regrid;

/** A problem. */
typedef struct gbees_problem {
    const gbees_model *model;                  /**< must outlive the problem */
    const gbees_functions *functions;          /**< of the model, for this dimension */
    int dimension;                             /**< n, the number of states */
    double parameters[GBEES_PARAMETER_VALUES]; /**< of the model; on a rotated grid the frame stands behind them */

    /** 1: a rotated grid (`rotate`), whose coordinates y have x = centre + rotation y. `functions` are then the
     * model's framed ones, and mean (which is 0), covariance (which is diagonal), width and extent are those of y. */
    int rotated;
    double centre[GBEES_MAX_DIM];                   /**< of a rotated grid, in the model's axes */
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< its columns are the grid's axes */

    /** 1: the grid's frame moves with the density (`frame: moving`; doc/method.md, "Moving frame"). It begins as a
     * rotated one, whose cells have width 1: `rotation` has their edges as columns, of any lengths and angles, and
     * mass that leaves them is drift relative to the frame. */
    int moving;
    double frame_least; /**< of a grid that moves: cells a standard deviation where it is like a Gaussian */
    double frame_cells; /**< of a grid that moves: the most cells a standard deviation along any direction */

    double start; /**< model time */
    double end;   /**< model time */
    int records;  /**< records of a leg beside its initial one, >= 1; legs end at measurement times and at `end` */

    double mean[GBEES_MAX_DIM]; /**< of the initial density, and the centre of cell 0; with `cells` the latter only */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /**< of the initial density */
    double width[GBEES_MAX_DIM];                      /**< h, of a cell, > 0 */
    int extent[GBEES_MAX_DIM];                        /**< the initial cells are in the box |i_j| <= extent_j */
    /** > 0: the initial density is the sum of so many Gaussians, in the union of their boxes. 0: it is the Gaussian
     * of `mean` and `covariance` in the whole box, or `cells`. */
    int gaussian_count;
    const gbees_gaussian *gaussians;  /**< gaussian_count entries */
    const gbees_initial_cells *cells; /**< the initial density as cells; else NULL */
    uint64_t steps_before;            /**< steps of the earlier run whose record the initial density is; else 0 */
    double threshold;                 /**< p*, the probability of a cell; 0 with a mass budget, which controls p* */
    double mass_budget; /**< > 0: mass that may be lost per unit of time, to which p* is adapted; else 0 */

    double accuracy;               /**< > 0: the largest error that a record's certificate may tell; 0: any */
    gbees_accuracy_of accuracy_of; /**< what it is the error of */

    const struct gbees_problem *first; /**< of a run that has changed its grid: the problem that it began with; else
                                        * NULL */
    int regrid_count;                  /**< entries of `regrids` */
    int regrid_auto;                   /**< 1: a grid is made finer before an update that it would not resolve */
    const gbees_regrid *regrids;       /**< in order of time */

    int bounded;       /**< 1: cells whose centre has J(x) outside [bound_low, bound_high] are never made */
    double bound_low;  /**< of the model's J(x) */
    double bound_high; /**< of the model's J(x) */

    int measurement_count;                 /**< entries of `measurements` */
    const gbees_measurement *measurements; /**< in order of time */
    gbees_numerics numerics;               /**< how to compute */
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

/** The matrix of a rotated grid or of one that moves that takes x - centre to y, n x n. */
static inline const double *gbees_problem_inverse(const gbees_problem *problem)
{
    return problem->parameters + GBEES_FRAME_INVERSE;
}

/** Steps that were taken before an engine with the problem's initial density begins. */
static inline uint64_t gbees_problem_steps_before(const gbees_problem *problem)
{
    return problem->cells ? problem->cells->steps : 0;
}

/** The time of the problem's initial density. */
static inline double gbees_problem_initial_time(const gbees_problem *problem)
{
    return problem->cells ? problem->cells->time : problem->start;
}

/** What functions->diffusion_d writes: GBEES_DIAGONAL, GBEES_FULL (always on a rotated grid), or 0: the model has
 * none. */
static inline int gbees_problem_noise(const gbees_problem *problem)
{
    return problem->model->diffusion && problem->rotated ? GBEES_FULL : problem->model->diffusion;
}

/** The same of the noise that an engine applies in its steps: none where the grid moves, as the noise is then
 * gathered and applied when cells are replaced. */
static inline int gbees_problem_engine_noise(const gbees_problem *problem)
{
    return problem->moving ? 0 : gbees_problem_noise(problem);
}

#ifdef __cplusplus
}
#endif
#endif
