/** @file gbees/model.h
 * The contract between a model and the engine: for authors of plugins.
 *
 * A plugin is one file of C, or of C++17, compiled to one shared object. The file has two parts:
 *
 *     #define GBEES_DIM 3                      the dimension, or GBEES_DIM_MIN and GBEES_DIM_MAX
 *     #include <gbees/model.h>
 *
 *     #ifdef GBEES_EQUATIONS                   part 1: the equations
 *     static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
 *     { ... }
 *     #else                                    part 2: the descriptor (card)
 *     GBEES_MODEL = { GBEES_MODEL_HEAD, .name = "mine", ... };
 *     #endif
 *
 * Part 1 is written once and compiled several times. This header includes the plugin's own file twice (real = float,
 * then real = double), makes from it the batched functions that the engine calls, and embeds the file's text, which a
 * GPU backend gives to the run-time compiler. So part 1 may use arithmetic, the functions of math.h by their generic
 * names (sqrt, sin, ...), loops, macros and helper functions, which are declared as `static inline real
 * GBEES_FN(helper)(real x)`. It must have no side effects.
 *
 * plugins/template.c is a complete example. The whole contract is in doc/plugins.md.
 */
#ifndef GBEES_MODEL_H
#define GBEES_MODEL_H

#define GBEES_DIAGONAL 1 /**< of GBEES_HAS_DIFFUSION: diffusion() writes the diagonal of Q, n numbers */
#define GBEES_FULL 2     /**< of GBEES_HAS_DIFFUSION: diffusion() writes Q, n x n, row-major */

enum {
    GBEES_MODEL_ABI = 7,                               /**< raised whenever the layout below changes */
    GBEES_MAX_DIM = 8,                                 /**< states */
    GBEES_MAX_PARAMETERS = 32,                         /**< parameters of a model */
    GBEES_MAX_TARGETS = 8,                             /**< targets of a model */
    GBEES_LANES = 16,                                  /**< points per plane: a multiple of this (gbees_planes_f) */
    GBEES_GROUP = 8,                                   /**< doubles of the widest vector */
    GBEES_MAX_ENTRIES = GBEES_MAX_DIM * GBEES_MAX_DIM, /**< entries of a frame's matrix, n x n, row-major */
    /* The parameters' array p[GBEES_PARAMETER_VALUES] holds the parameters, and after them the frame of the grid
     * (gbees/model_framed.h): a point y of the grid is x = c + A y, and the grid's own velocity there is u + G y. */
    GBEES_FRAME_CENTRE = GBEES_MAX_PARAMETERS,                      /**< index in p of c[n] */
    GBEES_FRAME_AXES = GBEES_FRAME_CENTRE + GBEES_MAX_DIM,          /**< index in p of A[n][n] */
    GBEES_FRAME_INVERSE = GBEES_FRAME_AXES + GBEES_MAX_ENTRIES,     /**< index in p of the inverse of A, [n][n] */
    GBEES_FRAME_VELOCITY = GBEES_FRAME_INVERSE + GBEES_MAX_ENTRIES, /**< index in p of u[n] */
    GBEES_FRAME_GRADIENT = GBEES_FRAME_VELOCITY + GBEES_MAX_DIM,    /**< index in p of G[n][n] */
    GBEES_TABLES_AT = GBEES_FRAME_GRADIENT + GBEES_MAX_ENTRIES,     /**< index in p of what tables need (8 bytes) */
    GBEES_PARAMETER_VALUES = GBEES_TABLES_AT + 2                    /**< length of p */
};

/* A run-time compiler for a GPU compiles the equations only. */
#ifndef GBEES_DEVICE

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A named number: a state, or a component of a measurement. */
typedef struct gbees_quantity {
    const char *name; /**< a word */
    const char *unit; /**< "-" or "" for a pure number */
    const char *text; /**< one line of documentation */
} gbees_quantity;

/** What is at an end of a state's range. */
typedef enum gbees_end {
    GBEES_END_OPEN,    /**< nothing: the grid goes on */
    GBEES_END_CIRCLE,  /**< the other end */
    GBEES_END_REFLECT, /**< a wall: nothing flows through it */
    GBEES_END_ABSORB   /**< a wall: what reaches it leaves the density */
} gbees_end;

/** The range of a state: all zeros, the whole line; { .period = 6.28 }, a circle; { .lower = 0, .at = {
 * GBEES_END_REFLECT, GBEES_END_OPEN } }, a half-line with a wall. */
typedef struct gbees_state_range {
    double period;   /**< > 0: of a circle, on which the equations have it, too; else 0 */
    double lower;    /**< place of the lower wall, if there is one */
    double upper;    /**< place of the upper wall, if there is one */
    gbees_end at[2]; /**< of no circle: what is at the lower and at the upper end */
} gbees_state_range;

/** A parameter of the equations: p[k] in the order of the array. */
typedef struct gbees_parameter {
    const char *name; /**< a word */
    const char *unit; /**< "-" or "" for a pure number */
    const char *text; /**< one line of documentation */
    double value;     /**< the default */
    double min;       /**< the smallest value; min == max == 0: any finite value */
    double max;       /**< the largest value */
} gbees_parameter;

/** A measurement function y = h(x): number k of the model's list is `which` = k in measure(). */
typedef struct gbees_measurement_function {
    const char *name;                 /**< a word */
    const char *text;                 /**< one line of documentation */
    int size;                         /**< components of y, 1 ... GBEES_MAX_DIM */
    const gbees_quantity *components; /**< `size` entries, or NULL */
    /** `size` entries, or NULL. > 0: the component is periodic, as an angle is with 2 pi; a Gaussian of its
     * residual is summed over all periods, Student's t taken within half a period. */
    const double *period;
} gbees_measurement_function;

/** A jump of the state at an instant, x <- g(x, value): number k of the model's list is `which` = k in jump(). */
typedef struct gbees_jump_function {
    const char *name;                 /**< a word; not "shift" or "linear", which every model has */
    const char *text;                 /**< one line of documentation */
    int size;                         /**< components of the value that a scenario gives it, 0 ... GBEES_MAX_DIM */
    const gbees_quantity *components; /**< `size` entries, or NULL */
} gbees_jump_function;

/** A ready-to-run problem. The first one of a model is the default. */
typedef struct gbees_model_scenario {
    const char *name; /**< as --scenario takes it */
    const char *text; /**< YAML (doc/scenario.md) */
} gbees_model_scenario;

/** @name Batched functions
 *
 * Each evaluates the equations at the points i = 0 ... count - 1, x_k = origin[k] + offset[k][i] for k = 0 ... n - 1,
 * at the time t, with the parameters p[GBEES_PARAMETER_VALUES]. Units are the model's. The caller owns all arrays.
 * The functions can't fail, but may write numbers that are not finite, which the caller checks. */
/** @{ */
/** One component of the drift: out[count]. */
typedef void gbees_component_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                               float *out);
/** One component of the drift: out[count]. */
typedef void gbees_component_d(size_t count, double t, const double *origin, const double *const *offset,
                               const double *p, double *out);
/** The whole drift: out[n][count]. */
typedef void gbees_vector_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                            float *const *out);
/** The whole drift, out[n][count], or the diffusion, out[n][count] or out[n * n][count]. */
typedef void gbees_vector_d(size_t count, double t, const double *origin, const double *const *offset,
                            const double *p, double *const *out);
/** The whole drift, out[n][count], of point i at the time t[i]. What is left behind whole groups of GBEES_GROUP
 * points may have other last bits. */
typedef void gbees_times_d(size_t count, const double *t, const double *origin, const double *const *offset,
                           const double *p, double *const *out);
/** Measurement function `which`: out[size][count], followed by a NULL unless size is GBEES_MAX_DIM. */
typedef void gbees_measure_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                             const double *p, double *const *out);
/** Jump `which`: out[n][count], in the model's axes. */
typedef void gbees_jump_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                          const double *p, const double *value, double *const *out);
/** The functional J(x) of the bound: out[count]. */
typedef void gbees_bound_d(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                           double *out);

/** The function g(x) of target `which`: out[count]. */
typedef void gbees_target_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                            const double *p, double *out);

/** Component j of the drift at the points of several planes perpendicular to axis j.
 *
 * Point l of plane q has x_j = along[q], and x_k = origin[k] + offset[k][l] for k != j; offset[j] is not read. The
 * points of all planes thus differ in x_j only, and terms that don't depend on x_j are computed once for all planes.
 * `lanes`, the number of points per plane, is a multiple of GBEES_LANES. The result of point l of plane q is
 * out[q * lanes + l], the same bits as by gbees_component_f. */
typedef void gbees_planes_f(size_t planes, size_t lanes, float t, const float *origin, const float *const *offset,
                            const float *along, const float *p, float *out);
/** Component j of the drift at the points of several planes, as gbees_planes_f, in double. */
typedef void gbees_planes_d(size_t planes, size_t lanes, double t, const double *origin, const double *const *offset,
                            const double *along, const double *p, double *out);

/** The log-likelihood of one measured y[size] by function `which`: out[count]. */
typedef void gbees_log_likelihood_d(int which, size_t count, double t, const double *origin,
                                    const double *const *offset, const double *p, const double *y, double *out);
/** @} */

/** The batched functions for one dimension n. Those that the model lacks are NULL. */
typedef struct gbees_functions {
    int n;                             /**< the dimension */
    gbees_component_f *component_f[8]; /**< entry j: dx_j/dt */
    gbees_component_d *component_d[8]; /**< entry j: dx_j/dt */
    gbees_planes_f
        *planes_f[8]; /**< entry j: dx_j/dt. NULL for n = 1 and 2, as planes are short then, and if framed */
    gbees_planes_d *planes_d[8];              /**< entry j: dx_j/dt; NULL if planes_f is */
    gbees_vector_f *drift_f;                  /**< the drift */
    gbees_vector_d *drift_d;                  /**< the drift */
    gbees_measure_d *measure_d;               /**< the measurement functions */
    gbees_bound_d *bound_d;                   /**< the bound */
    gbees_log_likelihood_d *log_likelihood_d; /**< the model's own likelihood */
    gbees_vector_d *diffusion_d;              /**< Q: its diagonal or n x n, as gbees_model.diffusion has it */
    gbees_jump_d *jump_d;                     /**< the jumps; NULL in the framed functions */
    /** The members above for points y of a framed grid, x = c + A y: the drift is A^-1 f(x) - u - G y, the diffusion
     * A^-1 Q A^-T, n x n. They read the frame from p[GBEES_FRAME_CENTRE ...]. NULL in the framed functions. */
    const struct gbees_functions *framed;
    gbees_target_d *target_d;     /**< the targets' functions, at points x; NULL in the framed functions */
    gbees_times_d *drift_times_d; /**< the drift, with a time for each point; NULL in the framed functions */
} gbees_functions;

enum {
    GBEES_TIME_DEPENDENT = 1u /**< of gbees_model.flags: the drift, or the diffusion, depends on t */
};

/** The descriptor (card) of a model: a plugin exports it under the name gbees_model_card, which GBEES_MODEL declares.
 * GBEES_MODEL_HEAD fills the fields up to `diffusion`; the author fills the others, in this order. */
typedef struct gbees_model {
    unsigned abi;                     /**< GBEES_MODEL_ABI: checked before any other field is read */
    unsigned size;                    /**< sizeof(gbees_model) */
    int dim_min;                      /**< the smallest dimension */
    int dim_max;                      /**< the largest dimension */
    const gbees_functions *functions; /**< function_count entries, one for each dimension */
    int function_count;               /**< dim_max - dim_min + 1 */
    const char *source;               /**< the text of the plugin's file */
    const char *source_end;           /**< the end of that text */
    const char *source_file;          /**< the name of the plugin's file when it was compiled */
    int diffusion;                    /**< GBEES_DIAGONAL, GBEES_FULL, or 0: the model has none */

    const char *name;                               /**< a word, the name of the file without ".so" */
    const char *title;                              /**< one line */
    const char *text;                               /**< a paragraph: what is modelled; or NULL */
    const char *reference;                          /**< where the equations are from; or NULL */
    unsigned flags;                                 /**< GBEES_TIME_DEPENDENT, or 0 */
    int dim_default;                                /**< the dimension if a scenario gives none */
    const gbees_quantity *states;                   /**< dim_max entries */
    const gbees_state_range *ranges;                /**< dim_max entries, or NULL: all states are lines */
    int parameter_count;                            /**< at most GBEES_MAX_PARAMETERS */
    const gbees_parameter *parameters;              /**< parameter_count entries */
    int measurement_count;                          /**< entries of `measurements` */
    const gbees_measurement_function *measurements; /**< the measurement functions */
    int jump_count;                                 /**< entries of `jumps` */
    const gbees_jump_function *jumps;               /**< the jumps that the model names */
    /** A functional J(x) that the dynamics conserve: cells outside the range that it has on the initial density are
     * never made; or NULL. */
    const gbees_quantity *bound;
    int scenario_count;                    /**< at least 1 */
    const gbees_model_scenario *scenarios; /**< the first one is the default */
    int target_count;                      /**< at most GBEES_MAX_TARGETS */
    /** Sets of states, which scenarios name in `targets`: number k of the list is where target() with `which` = k is
     * below 0. */
    const gbees_quantity *targets;
} gbees_model;

/** A model's equations. */
typedef enum gbees_equation {
    GBEES_EQUATION_DRIFT,
    GBEES_EQUATION_MEASURE,
    GBEES_EQUATION_BOUND,
    GBEES_EQUATION_LOG_LIKELIHOOD,
    GBEES_EQUATION_DIFFUSION,
    GBEES_EQUATION_TARGET,
    GBEES_EQUATION_JUMP
} gbees_equation;

#ifdef __cplusplus
}
#endif

/* The engine reads the structs above; what follows is for a plugin's own file only. */
#if defined(GBEES_DIM) || defined(GBEES_DIM_MIN)
#include <gbees/model_build.h>
#endif

#endif /* GBEES_DEVICE */
#endif
