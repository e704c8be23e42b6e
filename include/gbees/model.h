/* gbees/model.h - the contract between a model and the engine: for authors of plugins.
 *
 * A plugin is one file of C, or of C++17, that is compiled to one shared object.  The file has two parts:
 *
 *     #define GBEES_DIM 3                      the dimension, or GBEES_DIM_MIN and GBEES_DIM_MAX
 *     #include <gbees/model.h>
 *
 *     #ifdef GBEES_EQUATIONS                   part 1: the equations
 *     static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
 *     { ... }
 *     #else                                    part 2: the card
 *     GBEES_MODEL = { GBEES_MODEL_HEAD, .name = "mine", ... };
 *     #endif
 *
 * Part 1 is written once and compiled several times: this header includes the plugin's own file twice
 * (real = float, then real = double), makes from it the batched functions that the engine calls, and embeds
 * the file's text, which is what a GPU backend hands to the run-time compiler.  So part 1 may use + - * /,
 * the functions of <math.h> by their generic names (sqrt, sin, ...), loops, macros and helper functions
 * (declare a helper as  static inline real GBEES_FN(helper)(real x)).  It must have no side effects.
 *
 * plugins/template.c is a complete example.  The whole contract is in doc/plugins.md.
 */
#ifndef GBEES_MODEL_H
#define GBEES_MODEL_H

/* Values of GBEES_HAS_DIFFUSION: diffusion() writes the diagonal of Q, n numbers, or all of it, n x n, row-major. */
#define GBEES_DIAGONAL 1
#define GBEES_FULL 2

enum {
    GBEES_MODEL_ABI = 4,       /* raised whenever the layout below changes */
    GBEES_MAX_DIM = 8,         /* states */
    GBEES_MAX_PARAMETERS = 32, /* parameters of a model */
    GBEES_LANES = 16,          /* a plane of points has this many, or a multiple */
    /* With a rotated grid its frame stands behind the parameters: the centre, then the rotation, n x n row-major. */
    GBEES_FRAME_ROTATION = GBEES_MAX_PARAMETERS + GBEES_MAX_DIM,
    GBEES_PARAMETER_VALUES = GBEES_FRAME_ROTATION + GBEES_MAX_DIM * GBEES_MAX_DIM
};

/* A run-time compiler for a GPU compiles the equations only. */
#ifndef GBEES_DEVICE

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A named number: a state, or a component of a measurement.  unit "" or "-" for a pure number. */
typedef struct gbees_quantity {
    const char *name;
    const char *unit;
    const char *text; /* one line of documentation */
} gbees_quantity;

/* A parameter of the equations: p[k] in the order of the array.  min == max == 0: any finite value. */
typedef struct gbees_parameter {
    const char *name;
    const char *unit;
    const char *text;
    double value; /* the default */
    double min, max;
} gbees_parameter;

/* A measurement function y = h(x): number k of the model's list is `which` in measure(). */
typedef struct gbees_measurement_function {
    const char *name;
    const char *text;
    int size;                         /* components of y, 1..GBEES_MAX_DIM */
    const gbees_quantity *components; /* size entries, or NULL */
    /* size entries, or NULL: > 0 for a component that comes back to itself, as an angle does after 2 pi. Its residual
     * is taken to within half a period. */
    const double *period;
} gbees_measurement_function;

/* A ready-to-run problem: YAML text of the format in doc/scenario.md.  The first one is the default. */
typedef struct gbees_model_scenario {
    const char *name;
    const char *text;
} gbees_model_scenario;

/* Batches.  Point i of `count` is x_k = origin[k] + offset[k][i], k = 0..n-1; p are the parameters.
 * One component of the drift at many points (fixed grids: the points of a brick's faces share `offset`);
 * the whole drift, a measurement or the bound at many points (Monte Carlo, moving frames, updates, checks).
 * A measurement's `out` has its size's columns and then a NULL, unless it has all GBEES_MAX_DIM; that of the
 * diffusion has n columns, or n * n. */
typedef void gbees_component_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                               float *out);
typedef void gbees_component_d(size_t count, double t, const double *origin, const double *const *offset,
                               const double *p, double *out);
typedef void gbees_vector_f(size_t count, float t, const float *origin, const float *const *offset, const float *p,
                            float *const *out);
typedef void gbees_vector_d(size_t count, double t, const double *origin, const double *const *offset,
                            const double *p, double *const *out);
typedef void gbees_measure_d(int which, size_t count, double t, const double *origin, const double *const *offset,
                             const double *p, double *const *out);
typedef void gbees_bound_d(size_t count, double t, const double *origin, const double *const *offset, const double *p,
                           double *out);

/* One component of the drift, j, at the points of planes across axis j, which lie one behind the other: coordinate j
 * of all points of plane q is along[q], the others are origin[k] + offset[k][l] for lane l of every plane; offset[j]
 * is not read.  So what does not depend on x_j is computed once, not once a plane.  lanes is a multiple of
 * GBEES_LANES; lane l of plane q goes to out[q * lanes + l].  The bits are those of the component. */
typedef void gbees_planes_f(size_t planes, size_t lanes, float t, const float *origin, const float *const *offset,
                            const float *along, const float *p, float *out);
typedef void gbees_planes_d(size_t planes, size_t lanes, double t, const double *origin, const double *const *offset,
                            const double *along, const double *p, double *out);

/* The log-likelihood of a measured y (the same for all points) at many points. */
typedef void gbees_log_likelihood_d(int which, size_t count, double t, const double *origin,
                                    const double *const *offset, const double *p, const double *y, double *out);

/* What this header makes from part 1, for one dimension n. Entries that the model lacks are NULL. */
typedef struct gbees_functions {
    int n;
    gbees_component_f *component_f[8]; /* [j]: dx_j/dt */
    gbees_component_d *component_d[8];
    /* The same by planes, or NULL: in one and two dimensions, where planes are short, and on a turned grid. */
    gbees_planes_f *planes_f[8];
    gbees_planes_d *planes_d[8];
    gbees_vector_f *drift_f;
    gbees_vector_d *drift_d;
    gbees_measure_d *measure_d;
    gbees_bound_d *bound_d;
    gbees_log_likelihood_d *log_likelihood_d;
    gbees_vector_d *diffusion_d;
    /* The same for points y of a turned grid, x = c + R y: drifts are R^T f(x), and a diffusion R^T Q R, full. p has
     * the frame behind the parameters. */
    const struct gbees_functions *framed;
} gbees_functions;

enum {
    GBEES_TIME_DEPENDENT = 1u /* flags: the drift, or the diffusion, depends on t */
};

/* The card: what a plugin exports, under the name gbees_model_card (GBEES_MODEL declares it). */
typedef struct gbees_model {
    unsigned abi;  /* GBEES_MODEL_ABI: checked before any other field is read */
    unsigned size; /* sizeof(gbees_model) */
    /* These, too, are filled by GBEES_MODEL_HEAD: */
    int dim_min, dim_max;
    const gbees_functions *functions; /* function_count entries */
    int function_count;
    const char *source;      /* the text of the plugin's file ... */
    const char *source_end;  /* ... and the end of it */
    const char *source_file; /* its name when it was compiled */
    int diffusion;           /* GBEES_DIAGONAL, GBEES_FULL, or 0: there is none */
    /* By the author, in this order (C++ insists on it): */
    const char *name;
    const char *title;     /* one line */
    const char *text;      /* a paragraph: what is modelled; NULL for none */
    const char *reference; /* where the equations are from; NULL for none */
    unsigned flags;
    int dim_default;
    const gbees_quantity *states; /* dim_max entries */
    int parameter_count;
    const gbees_parameter *parameters;
    int measurement_count;
    const gbees_measurement_function *measurements;
    const gbees_quantity *bound; /* a functional J(x) that the dynamics keep: cells outside of the range that it has
                                  * on the initial density are never made; or NULL */
    int scenario_count;
    const gbees_model_scenario *scenarios;
} gbees_model;

#ifdef __cplusplus
}
#endif

/* The engine reads the structs above; what follows is for a plugin's own file only. */
#if defined(GBEES_DIM) || defined(GBEES_DIM_MIN)
#include <gbees/model_build.h>
#endif

#endif /* GBEES_DEVICE */
#endif
