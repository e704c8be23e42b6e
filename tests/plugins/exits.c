/* exits - noise and a drift that is a cubic of each state, and sets that it may leave to: half lines, the outside of
 * a disc in the first two states, and an arc of a circle, which the first one may be on. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 4
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#define GBEES_HAS_TARGET 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)t;
    for (int j = 0; j < n; j++)
        dxdt[j] = (j < 2 ? p[j] : 0) + x[j] * (p[2] + p[3] * x[j] * x[j]);
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)t;
    for (int j = 0; j < n; j++)
        Q[j] = p[4] + p[5] * x[j] * x[j];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0];
}

static inline real target(int which, int n, real t, const real x[], const real p[])
{
    switch (which) {
    case 0:
        return p[6] + p[9] * t - x[0] - (n > 1 ? p[8] * x[1] : 0);
    case 1:
        return x[0] - p[7];
    case 2:
        return p[6] - sqrt(x[0] * x[0] + (n > 1 ? x[1] * x[1] : 0));
    case 3:
        return sqrt(p[6] - x[0]);
    case 5:
        return cos(p[7]) - cos(x[0] - p[6]);
    default:
        return sqrt(x[0] * x[0] + (n > 1 ? x[1] * x[1] : 0)) - p[6];
    }
}

#else

static const gbees_quantity states[] = {
    {"x", "-", "first"}, {"y", "-", "second"}, {"z", "-", "third"}, {"w", "-", "fourth"}};
static const gbees_parameter parameters[] = {
    {"fx", "-", "constant drift of x", 0, 0, 0},
    {"fy", "-", "constant drift of y", 0, 0, 0},
    {"linear", "-", "drift, times x", 0, 0, 0},
    {"cubic", "-", "drift, times x^3", 0, 0, 0},
    {"Q", "-", "noise", 1, 0, 0},
    {"square", "-", "noise, times x^2", 0, 0, 0},
    {"high", "-", "the upper bound", 1, 0, 0},
    {"low", "-", "the lower bound", -1, 0, 0},
    {"slope", "-", "of the upper bound", 0, 0, 0},
    {"rise", "-", "of the upper bound, a unit of time", 0, 0, 0},
};
static const gbees_measurement_function measurements[] = {{"x", "the first state", 1, states, NULL}};
static const gbees_quantity targets[] = {
    {"above", "-", "x above the upper bound"},
    {"below", "-", "x below the lower bound"},
    {"out", "-", "farther from 0 than the upper bound"},
    {"rock", "-", "not a number above the upper bound"},
    {"spot", "-", "nearer to 0 than the upper bound"},
    {"arc", "-", "nearer to the upper bound than the lower one is to 0"},
};
static const gbees_model_scenario scenarios[] = {
    {"default", "mean: [0, ...]\ncovariance: [0.01, ...]\nend: 1\nrecords: 1\n"
                "targets: {above: absorb, below: absorb}\n"
                "output: {densities: none}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "exits",
    .title = "noise between bounds",
    .dim_default = 1,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
    .target_count = GBEES_COUNT(targets),
    .targets = targets,
};

#endif
