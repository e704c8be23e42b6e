/* template - a model for gbees: say here in one line what it is.
 *
 *     gbees-plugin build template.c     compiles it, and installs it where gbees-run finds it
 *     gbees-plugin check template       looks for mistakes
 *     gbees-run --plugin template       computes the scenario at the end of this file
 *     gbees-plot results/template       draws it
 *
 * It runs as it is. Change what is marked (1) to (5). The manual's page plugins.md has the whole contract.
 */
#define GBEES_DIM 2         /* states */
#define GBEES_HAS_MEASURE 1 /* there is a function measure() below: take this out if there is none */
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS /* ---- part 1: the equations, compiled for float, for double, and for a GPU ---- */

/* (1) dx/dt = f(x). x: the states, p: the parameters, each in the order of its list below; t: the time.
 * `real` is float or double. sin, sqrt, pow ... are those of the right type; write constants as (real)0.5.
 * Write all components at each call; print and store nothing. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    const real damping = p[0], force = p[1];

    (void)n, (void)t; /* not used here */
    dxdt[0] = force * sin(x[1]) - damping * x[0];
    dxdt[1] = force * sin(x[0]) - damping * x[1];
}

/* Noise on the states, if there is any: what it adds to their variances in a unit of time. Put
 * #define GBEES_HAS_DIFFUSION GBEES_DIAGONAL above the #include; plugins.md says more.
 *
 * static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
 * {
 *     (void)n, (void)t, (void)x, (void)p;
 *     Q[0] = (real)0.01;
 * }
 */

/* (2) y = h(x): what a measurement sees, without its noise. `which` is the function's number in the list
 * below, counted from 0; a function of several components writes y[0], y[1], ... */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)n, (void)t, (void)p;
    if (which == 0)
        y[0] = x[0];
    else
        y[0] = fabs(x[0]);
}

#else /* ---- part 2: the descriptor (card) of the model ---- */

/* (3) States, parameters, measurement functions: each list in the order that the equations number them in. */
static const gbees_quantity states[] = {
    /* name, unit ("-" for a pure number), what it is */
    {"x1", "-", "state number 1"},
    {"x2", "-", "state number 2"},
};

static const gbees_parameter parameters[] = {
    /* name, unit, what it is, default, smallest and largest value (0, 0: any) */
    {"damping", "1/s", "rate at which each state dies away", 0.2, 0, 10},
    {"force", "1/s", "of each state on the one before it, at most", 1.0, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    /* name, what it is, number of components, the components (or NULL), their periods (or
     * NULL: none is an angle) */
    {"first", "the first state", 1, &states[0], NULL},
    {"size", "the first state without its sign", 1, NULL, NULL},
};

/* (4) What `gbees-run --plugin template` computes. YAML, each line ends in \n; the manual's page scenario.md
 * lists the keys. `gbees-run --set end=5` changes a key for one run. */
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0, ...]\n"          /* of the initial Gaussian; ... repeats the last number */
                "covariance: [0.09, ...]\n" /* variances, or a whole matrix */
                "factor: 4\n"               /* a standard deviation is this many cells, times two, in the first run */
                "accuracy: 0.05\n"          /* finer runs follow, until no mean or deviation is off by more */
                "end: 4.0\n"                /* the run goes from time 0 to this */
                "records: 4\n"              /* densities written from one measurement to the next */
                "measurements:\n"
                "  - {time: 2.0, function: first, value: [1.0], covariance: [0.25]}\n"},
};

/* (5) The fields in this order. */
GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "template", /* as the file's name */
    .title = "states that push each other around a ring",
    .text = NULL,      /* a paragraph more, if you like */
    .reference = NULL, /* where the equations are from */
    .flags = 0,        /* GBEES_TIME_DEPENDENT if drift() or diffusion() uses t */
    .dim_default = GBEES_DIM,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .bound = NULL, /* a constant of the motion: see plugins.md */
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
