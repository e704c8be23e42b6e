/* template - a model to copy: a damped pendulum.
 *
 * For a model of your own copy this file to mymodel.c and edit the three lines marked (1), (2) and (3): the name, the
 * equations, the scenario.  Then compile it and put it where gbees finds it:
 *
 *     cc -shared $(pkg-config --cflags gbees) mymodel.c -o mymodel.so
 *     mkdir -p ~/.local/lib/gbees/plugins && mv mymodel.so ~/.local/lib/gbees/plugins
 *     gbees-run --plugin mymodel
 *
 * With another number of states change GBEES_DIM, the list of states, and the measurement, too.
 * The whole contract is in doc/plugins.md.
 */
#define GBEES_DIM 2         /* states */
#define GBEES_HAS_MEASURE 1 /* there is a function measure() below; leave this out if there is none */
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS /* ---- part 1: the equations, compiled for float, for double, and for a GPU ---- */

/* dx/dt = f(x).  x: the n states; p: the parameters in the order of the list below; t: the time.
 * `real` is float or double.  sin, sqrt, ... are those of the right type; write constants as (real)0.5. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t; /* not used here; says so to the compiler */
    dxdt[0] = x[1];
    dxdt[1] = -p[0] * x[1] - p[1] * sin(x[0]); /* (2) */
}

/* y = h(x): what a measurement sees without its noise.  `which`: the number of the function in the list below. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0];
}

#else /* ---- part 2: the card, which says what the model is ---- */

static const gbees_quantity states[] = {
    /* name, unit ("-" for a pure number), what it is */
    {"angle", "rad", "from the lower rest position"},
    {"rate", "rad/s", "of change of the angle"},
};

static const gbees_parameter parameters[] = {
    /* name, unit, what it is, default, smallest and largest value (0, 0: any) */
    {"damping", "1/s", "friction over moment of inertia", 0.2, 0, 10},
    {"stiffness", "1/s^2", "gravity over length", 1.0, 0, 0},
};

static const gbees_measurement_function measurements[] = {
    /* name, what it is, number of components, the components (or NULL), their periods (NULL: none
     * is an angle) */
    {"angle", "the angle alone", 1, &states[0], NULL},
};

/* What `gbees-run --plugin NAME` computes: doc/scenario.md lists the keys. */
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [1.5, 0.0]\n" /* (3) the initial Gaussian */
                "covariance: [0.04, 0.04]\n"
                "mass_budget: 0.01\n" /* of the mass may be lost in a unit of time */
                "end: 4.0\n"
                "records: 4\n"
                "measurements:\n"
                "  - {time: 2.0, function: angle, value: [-0.6], covariance: [0.04]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "template", /* (1) as the file's name */
    .title = "a damped pendulum: the model to copy for your own",
    .text = NULL,      /* a paragraph more, if you like */
    .reference = NULL, /* where the equations are from */
    .flags = 0,        /* GBEES_TIME_DEPENDENT if drift() (or diffusion(): doc/plugins.md) uses t */
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
