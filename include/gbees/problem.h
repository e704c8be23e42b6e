/* gbees/problem.h - a problem: what to propagate and how, as plain data.
 *
 * A problem is made by gbees_problem_create() from a model and a scenario (gbees.h), is valid in every field from
 * then on, and never changes: the solver and the backends only read it.  Matrices are row-major, n x n packed.
 */
#ifndef GBEES_PROBLEM_H
#define GBEES_PROBLEM_H

#include <gbees/model.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gbees_mode {
    GBEES_MODE_DEFAULT, /* bricks, both sides of the grid open, mass accounted for */
    GBEES_MODE_PAPER,   /* the existing CPU code, cell for cell: double, bricks of one cell, its missing-face rule */
    GBEES_MODE_LEGACY   /* the paper's CPU-legacy: as above with a fixed time step and growth to all neighbours */
} gbees_mode;

typedef enum gbees_precision { GBEES_MIXED, GBEES_DOUBLE } gbees_precision;

typedef enum gbees_faces {
    GBEES_FACES_OPEN,     /* an absent neighbour reads as P = 0 and takes what flows out, on either side */
    GBEES_FACES_REFERENCE /* the reference's rule: an absent lower neighbour is a wall, an absent upper one is open */
} gbees_faces;

typedef enum gbees_growth {
    GBEES_GROWTH_DOWNWIND, /* downwind faces and edges of cells with P >= p* */
    GBEES_GROWTH_ALL       /* all 3^n - 1 neighbours of such cells */
} gbees_growth;

typedef enum gbees_scheme {
    GBEES_SCHEME_CTU,            /* corner transport upwind with the MC limiter (paper, Algorithm 1) */
    GBEES_SCHEME_CTU_DIVERGENCE, /* the same, of second order where the drift diverges, too (doc/method.md) */
    GBEES_SCHEME_CTU_POSITIVE,   /* ... and no cell gives more than it holds */
    GBEES_SCHEME_SPLIT5,         /* dimension-split, fifth order, positive and conservative (doc/method.md) */
    GBEES_SCHEME_SPLIT5_MP,      /* the same with monotonicity-preserving bounds */
    GBEES_SCHEME_SPLIT7,         /* as split5, of seventh order */
    GBEES_SCHEME_SPLIT7_MP       /* ... with monotonicity-preserving bounds */
} gbees_scheme;

/* One axis at a time, in place; the others take all axes at once. */
static inline int gbees_scheme_is_split(gbees_scheme scheme)
{
    return scheme >= GBEES_SCHEME_SPLIT5;
}

static inline int gbees_scheme_is_preserving(gbees_scheme scheme)
{
    return scheme == GBEES_SCHEME_SPLIT5_MP || scheme == GBEES_SCHEME_SPLIT7_MP;
}

/* Of a split scheme: the order in space, and the number of cells that a face's mass depends on. */
static inline int gbees_scheme_order(gbees_scheme scheme)
{
    return scheme >= GBEES_SCHEME_SPLIT7 ? 7 : 5;
}

typedef enum gbees_cell_values {
    GBEES_CELL_POINTS,  /* P_i is the density at the cell's centre times its volume */
    GBEES_CELL_AVERAGES /* ... its average over the cell: split schemes only (doc/method.md, "Points or averages") */
} gbees_cell_values;

/* How to compute: what the mode stands for, part by part. */
typedef struct gbees_numerics {
    gbees_mode mode;
    gbees_scheme scheme;
    gbees_cell_values cell_values;
    gbees_precision precision; /* of storage and fluxes; sums are always double */
    gbees_faces faces;
    gbees_growth growth;
    int cells_per_brick; /* 64, or 1: the paper's cell-level grid */
    double courant;      /* ctu: time step = courant * min over cells of 1 / sum_j |v_j|/h_j; split5: 1 / max_j;
                          * up to 1, with split5 up to the shortest edge of a brick */
    double time_step;    /* > 0: this fixed step in place of the CFL step */
    int prune_interval;  /* steps between prunes, >= 1 */
} gbees_numerics;

/* How a residual r = y - h(x) is judged. */
typedef enum gbees_likelihood {
    GBEES_LIKELIHOOD_GAUSSIAN, /* r is Gaussian */
    GBEES_LIKELIHOOD_STUDENT,  /* Student's t, whose tails allow for outliers; the covariance is its scale matrix */
    GBEES_LIKELIHOOD_MODEL     /* by the model's own log_likelihood(): neither h nor a covariance */
} gbees_likelihood;

/* y = h(x) + noise at a time: function number `function` of the model. */
typedef struct gbees_measurement {
    double time;
    int function;
    int size;                                         /* components of the function */
    double value[GBEES_MAX_DIM];                      /* 0 where there is none */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* size x size, of all components */
    gbees_likelihood likelihood;
    double degrees_of_freedom;    /* of Student's t, > 0 */
    unsigned missing;             /* bit k: component k was not measured; at least one was */
    double period[GBEES_MAX_DIM]; /* > 0: the component comes back to itself; else 0 */
} gbees_measurement;

/* One Gaussian of an initial mixture. */
typedef struct gbees_gaussian {
    double weight; /* all add up to 1 */
    double mean[GBEES_MAX_DIM];
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM];
    int lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM]; /* its box: lo_j <= i_j <= hi_j */
} gbees_gaussian;

/* The cells of an earlier run's record, in lexicographic order of their indices, each once. */
typedef struct gbees_initial_cells {
    size_t count;                  /* > 0 */
    int32_t *index[GBEES_MAX_DIM]; /* index[j][i]: of cell i along axis j */
    double *p;                     /* > 0 */
} gbees_initial_cells;

typedef struct gbees_problem {
    const gbees_model *model;
    const gbees_functions *functions; /* of the model, for this dimension */
    int dimension;
    double parameters[GBEES_PARAMETER_VALUES]; /* with a turned grid, the frame behind them */

    /* A turned grid (`rotate`): x = centre + rotation y.  Then `functions` are the model's framed ones, and what has
     * axes below (mean, which is 0, covariance, which is diagonal, width, extent) is in y. */
    int rotated;
    double centre[GBEES_MAX_DIM];
    double rotation[GBEES_MAX_DIM * GBEES_MAX_DIM]; /* its columns are the grid's axes */

    double start, end; /* model time */
    int records;       /* records a leg beside the initial one, >= 1; legs end at measurement times and at `end` */

    double mean[GBEES_MAX_DIM]; /* of the initial density; also the centre of cell 0 (of a record only that) */
    double covariance[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double width[GBEES_MAX_DIM]; /* h: of a cell, > 0 */
    int extent[GBEES_MAX_DIM];   /* the initial set is in the box |i_j| <= extent_j */
    /* The initial density is the Gaussian of that mean and covariance in all of the box, unless there are: */
    int gaussian_count; /* Gaussians whose sum it is, in the union of their boxes; else 0 */
    const gbees_gaussian *gaussians;
    const gbees_initial_cells *cells; /* cells that hold it; else NULL */
    uint64_t steps_before; /* with cells: of the runs that they come from: the order of sweeps goes on with it */
    double threshold;      /* p*, a probability mass a cell; 0 with a mass budget, which sets it */
    double mass_budget;    /* > 0: the mass that may be lost in a unit of time, p* is steered to it; else 0 */

    int bounded; /* cells whose centre has the model's J(x) outside of [bound_low, bound_high] are never made */
    double bound_low, bound_high;

    int measurement_count;
    const gbees_measurement *measurements; /* in order of time */
    gbees_numerics numerics;
} gbees_problem;

/* A point of the grid's coordinates in those of the model; the same unless the grid is turned. */
static inline void gbees_problem_point(const gbees_problem *problem, const double *y, double *x)
{
    const int n = problem->dimension;

    for (int j = 0; j < n; j++) {
        x[j] = problem->rotated ? problem->centre[j] : y[j];
        for (int k = 0; k < n && problem->rotated; k++)
            x[j] += problem->rotation[j * n + k] * y[k];
    }
}

/* What the problem's diffusion writes, as the model's `diffusion`: a full matrix on a turned grid; 0: there is none.
 */
static inline int gbees_problem_noise(const gbees_problem *problem)
{
    return problem->model->diffusion && problem->rotated ? GBEES_FULL : problem->model->diffusion;
}

#ifdef __cplusplus
}
#endif
#endif
